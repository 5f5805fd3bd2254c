// The gated recurrent unit over packed rows, forward and backward: see recurrent_mt/kernels/gru.py.
#include <torch/library.h>

#include <tuple>

#include "gru_step.h"
#include "weight.h"

namespace recurrent_mt {
namespace {

using at::Tensor;
using std::optional;

/// The arguments of both directions, checked.
struct Arguments {
  int64_t size;
  std::vector<Position> steps;
  Tensor initial;  // (B, H)
  Weight gate, candidate;

  Arguments(const Tensor& first_states, Weight gate_weight, Weight candidate_weight, at::IntArrayRef counts)
      : size(width_of(first_states)), steps(positions(counts)), initial(first_states.contiguous()),
        gate(std::move(gate_weight)), candidate(std::move(candidate_weight)) {
    const auto number = first_states.scalar_type();
    check_counts(counts, first_states.size(0));
    gate.check("gate_weight", 2 * size, size, number);
    candidate.check("candidate_weight", size, size, number);
  }

  int64_t rows() const { return steps.back().first + steps.back().count; }
};

template <typename T>
std::tuple<Tensor, Tensor, Tensor> run(const Arguments& given, const Tensor& inputs) {
  const int64_t size = given.size, rows = given.rows(), widest = given.steps.front().count;
  const auto number = number_of<T>();
  Tensor states = uninitialized({rows, size}, number), gates = uninitialized({rows, 2 * size}, number),
         candidates = uninitialized({rows, size}, number), reset_previous = uninitialized({widest, size}, number);
  const Factors gate = given.gate.forward(), candidate = given.candidate.forward();
  const States<const T> in_time{rows_of<T>(given.initial), rows_of<T>(states), &given.steps};
  for (const Position& step : given.steps) {
    const auto part = [&](const Tensor& tensor) { return rows_of<T>(tensor).part(step.first, step.count); };
    const auto previous = in_time.entering(step);
    const auto reset = rows_of<T>(reset_previous).part(0, step.count);
    gate.multiply<T>(previous, part(gates));
    open_gates<T>(part(inputs), {}, previous, part(gates), reset, part(candidates), size);
    candidate.multiply<T>(reset, part(candidates), Into::add);
    update<T>(part(gates), previous, part(candidates), part(states), size);
  }
  return {states, gates, candidates};
}

using Gradients = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

template <typename T>
Gradients run_backward(const Arguments& given, const Tensor& grad_states, const Tensor& states, const Tensor& gates,
                       const Tensor& candidates) {
  const int64_t size = given.size, rows = given.rows();
  const auto number = number_of<T>();
  const States<const T> in_time{rows_of<T>(given.initial), rows_of<T>(states), &given.steps};
  const Tensor entered = all_entering<T>(in_time);
  Tensor grad_inputs = uninitialized({rows, 3 * size}, number), reset_previous = uninitialized({rows, size}, number),
         grad_reset_previous = uninitialized({given.steps.front().count, size}, number);
  const Factors gate = given.gate.backward(), candidate = given.candidate.backward();
  StateGradients<T> grads(grad_states, in_time);
  for (auto step = given.steps.rbegin(); step != given.steps.rend(); ++step) {
    const auto part = [&](const Tensor& tensor) { return rows_of<T>(tensor).part(step->first, step->count); };
    const auto grad = grads.state(*step);
    const auto grad_previous = grads.entering(*step);
    const auto grad_reset = rows_of<T>(grad_reset_previous).part(0, step->count);
    update_backward<T>(grad, part(gates), part(entered), part(candidates), part(grad_inputs), size);
    candidate.multiply<T>(part(grad_inputs).from(2 * size), grad_reset);
    reset_backward<T>(grad, grad_reset, part(gates), part(entered), part(grad_inputs), part(reset_previous),
                      grad_previous, size);
    gate.multiply<T>(part(grad_inputs), grad_previous, Into::add);
  }
  grads.finish();
  const auto grad_rows = rows_of<T>(grad_inputs);
  auto [grad_gate, grad_gate_right] = given.gate.gradients<T>(grad_rows, rows_of<T>(entered));
  auto [grad_candidate, grad_candidate_right] =
      given.candidate.gradients<T>(grad_rows.from(2 * size), rows_of<T>(reset_previous));
  return {grad_inputs, grads.initial(), grad_gate, grad_gate_right, grad_candidate, grad_candidate_right};
}

std::tuple<Tensor, Tensor, Tensor> gru(const Tensor& inputs, const Tensor& initial, const Tensor& gate,
                                       const optional<Tensor>& gate_right, const Tensor& candidate,
                                       const optional<Tensor>& candidate_right, at::ScalarType products,
                                       at::IntArrayRef counts) {
  const Arguments given(initial, {gate, gate_right, products}, {candidate, candidate_right, products}, counts);
  const Tensor rows = checked("inputs", inputs, {given.rows(), 3 * given.size}, initial.scalar_type());
  return in_format("initial", initial.scalar_type(), [&](auto zero) { return run<decltype(zero)>(given, rows); });
}

Gradients gru_backward(const Tensor& grad_states, const Tensor& initial, const Tensor& gate,
                       const optional<Tensor>& gate_right, const Tensor& candidate,
                       const optional<Tensor>& candidate_right, at::ScalarType products, at::IntArrayRef counts,
                       const Tensor& states, const Tensor& gates, const Tensor& candidates) {
  const Arguments given(initial, {gate, gate_right, products}, {candidate, candidate_right, products}, counts);
  const auto number = initial.scalar_type();
  const auto rows = [&](const char* name, const Tensor& tensor, int64_t columns) {
    return checked(name, tensor, {given.rows(), columns}, number);
  };
  const Tensor grad = rows("grad_states", grad_states, given.size), state_rows = rows("states", states, given.size),
               gate_rows = rows("gates", gates, 2 * given.size),
               candidate_rows = rows("candidates", candidates, given.size);
  return in_format("initial", number, [&](auto zero) {
    return run_backward<decltype(zero)>(given, grad, state_rows, gate_rows, candidate_rows);
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def(
      "gru(Tensor inputs, Tensor initial, Tensor gate, Tensor? gate_right, Tensor candidate, Tensor? candidate_right, "
      "ScalarType products, int[] counts) -> (Tensor, Tensor, Tensor)");
  library.def(
      "gru_backward(Tensor grad_states, Tensor initial, Tensor gate, Tensor? gate_right, Tensor candidate, "
      "Tensor? candidate_right, ScalarType products, int[] counts, Tensor states, Tensor gates, "
      "Tensor candidates) -> "
      "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(recurrent_mt, CPU, library) {
  library.impl("gru", &gru);
  library.impl("gru_backward", &gru_backward);
}

}  // namespace recurrent_mt
