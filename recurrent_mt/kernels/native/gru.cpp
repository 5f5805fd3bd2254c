// The gated recurrent unit over packed rows, forward and backward: see recurrent_mt/kernels/gru.py.
#include <torch/library.h>

#include <tuple>

#include "gru_step.h"
#include "weight.h"

namespace recurrent_mt {
namespace {

using at::Tensor;
using std::optional;

template <typename T>
std::tuple<Tensor, Tensor, Tensor> run(const Tensor& inputs, const Tensor& initial, const Weight& gate_weight,
                                       const Weight& candidate_weight, at::IntArrayRef counts) {
  const int64_t size = initial.size(1), rows = inputs.size(0), widest = counts[0];
  const auto number = number_of<T>();
  Tensor states = uninitialized({rows, size}, number), gates = uninitialized({rows, 2 * size}, number),
         candidates = uninitialized({rows, size}, number), reset_previous = uninitialized({widest, size}, number);
  const Factors gate = gate_weight.forward(), candidate = candidate_weight.forward();
  const std::vector<Position> steps = positions(counts);
  const States<const T> in_time{rows_of<T>(initial), rows_of<T>(states), &steps};
  for (const Position& step : steps) {
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
Gradients run_backward(const Tensor& grad_states, const Tensor& initial, const Weight& gate_weight,
                       const Weight& candidate_weight, const Tensor& states, const Tensor& gates,
                       const Tensor& candidates, at::IntArrayRef counts) {
  const int64_t size = initial.size(1), rows = states.size(0);
  const auto number = number_of<T>();
  const std::vector<Position> steps = positions(counts);
  const States<const T> in_time{rows_of<T>(initial), rows_of<T>(states), &steps};
  const Tensor entered = all_entering<T>(in_time);
  Tensor grad_inputs = uninitialized({rows, 3 * size}, number), reset_previous = uninitialized({rows, size}, number),
         grad_reset_previous = uninitialized({counts[0], size}, number);
  const Factors gate = gate_weight.backward(), candidate = candidate_weight.backward();
  StateGradients<T> grads(grad_states, in_time);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
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
  auto [grad_gate, grad_gate_right] = gate_weight.gradients<T>(grad_rows, rows_of<T>(entered));
  auto [grad_candidate, grad_candidate_right] =
      candidate_weight.gradients<T>(grad_rows.from(2 * size), rows_of<T>(reset_previous));
  return {grad_inputs, grads.initial(), grad_gate, grad_gate_right, grad_candidate, grad_candidate_right};
}

std::tuple<Tensor, Tensor, Tensor> gru(const Tensor& inputs, const Tensor& initial, const Tensor& gate,
                                       const optional<Tensor>& gate_right, const Tensor& candidate,
                                       const optional<Tensor>& candidate_right, at::ScalarType products,
                                       at::IntArrayRef counts) {
  return in_format(initial.scalar_type(), [&](auto zero) {
    return run<decltype(zero)>(inputs.contiguous(), initial.contiguous(), {gate, gate_right, products},
                               {candidate, candidate_right, products}, counts);
  });
}

Gradients gru_backward(const Tensor& grad_states, const Tensor& initial, const Tensor& gate,
                       const optional<Tensor>& gate_right, const Tensor& candidate,
                       const optional<Tensor>& candidate_right, const Tensor& states, const Tensor& gates,
                       const Tensor& candidates, at::ScalarType products, at::IntArrayRef counts) {
  return in_format(initial.scalar_type(), [&](auto zero) {
    return run_backward<decltype(zero)>(grad_states, initial.contiguous(), {gate, gate_right, products},
                                        {candidate, candidate_right, products}, states, gates, candidates, counts);
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def(
      "gru(Tensor inputs, Tensor initial, Tensor gate, Tensor? gate_right, Tensor candidate, Tensor? candidate_right, "
      "ScalarType products, int[] counts) -> (Tensor, Tensor, Tensor)",
      torch::dispatch(at::kCPU, &gru));
  library.def(
      "gru_backward(Tensor grad_states, Tensor initial, Tensor gate, Tensor? gate_right, Tensor candidate, "
      "Tensor? candidate_right, Tensor states, Tensor gates, Tensor candidates, ScalarType products, int[] counts) -> "
      "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
      torch::dispatch(at::kCPU, &gru_backward));
}

}  // namespace recurrent_mt
