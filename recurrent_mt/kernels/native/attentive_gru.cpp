// A GRU whose every step first reads a context, forward and backward: see recurrent_mt/kernels/attentive_gru.
#include <torch/library.h>

#include <tuple>
#include <vector>

#include "attention.h"
#include "gru_step.h"
#include "weight.h"

namespace recurrent_mt {
namespace {

using at::Tensor;
using std::optional;
using OptionalTensors = c10::List<optional<Tensor>>;

/// The arguments of both directions.
struct Arguments {
  std::vector<Position> steps;
  Tensor initial;  // (B, H)
  Tensor keys, values, padding;
  Weight gate, candidate, context;
  optional<Weight> query;
  optional<Tensor> score;

  /// `factors` are the two of gate, candidate and context.
  Arguments(const Tensor& first_states, const Tensor& key_rows, const Tensor& value_rows, const Tensor& padding_mask,
            const OptionalTensors& factors, const optional<Tensor>& query_weight, const optional<Tensor>& score_vector,
            at::ScalarType products, at::IntArrayRef counts)
      : steps(positions(counts)), initial(first_states.contiguous()), keys(key_rows.contiguous()),
        values(value_rows.contiguous()), padding(padding_mask.contiguous()), score(score_vector) {
    const auto weight = [&](size_t index) { return Weight{*factors.get(index), factors.get(index + 1), products}; };
    gate = weight(0), candidate = weight(2), context = weight(4);
    if (query_weight) query = Weight{*query_weight, std::nullopt, products};
  }

  int64_t size() const { return initial.size(1); }
  int64_t rows() const { return steps.back().first + steps.back().count; }
  int64_t widest() const { return steps.front().count; }

  template <typename T>
  Memory<T> memory() const {
    return Memory<T>(keys, values, padding, score, 1);
  }
};

using Outputs = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

template <typename T>
Outputs run(const Arguments& given, const Tensor& inputs) {
  const auto number = number_of<T>();
  const int64_t size = given.size(), rows = given.rows(), widest = given.widest();
  const Memory<T> memory = given.memory<T>();
  const auto rows_by = [&](int64_t count, int64_t columns) { return uninitialized({count, columns}, number); };
  Tensor states = rows_by(rows, size), contexts = rows_by(rows, memory.value_size()),
         attention = rows_by(rows, memory.words()), gates = rows_by(rows, 2 * size), candidates = rows_by(rows, size),
         queries = rows_by(given.query ? rows : 0, memory.key_size()), reset_previous = rows_by(widest, size),
         context_products = rows_by(widest, 3 * size);
  const Factors gate = given.gate.forward(), candidate = given.candidate.forward(), context = given.context.forward(),
                query = given.query ? given.query->forward() : Factors();
  const States<const T> in_time{rows_of<T>(given.initial), rows_of<T>(states), &given.steps};
  for (const Position& step : given.steps) {
    const auto part = [&](const Tensor& tensor) { return rows_of<T>(tensor).part(step.first, step.count); };
    const auto first = [&](const Tensor& tensor) { return rows_of<T>(tensor).part(0, step.count); };
    const auto previous = in_time.entering(step);
    if (given.query) query.multiply<T>(previous, part(queries));
    memory.attend(given.query ? Rows<const T>(part(queries)) : previous, part(attention), part(contexts));
    context.multiply<T>(part(contexts), first(context_products));
    gate.multiply<T>(previous, part(gates));
    open_gates<T>(part(inputs), first(context_products), previous, part(gates), first(reset_previous), part(candidates),
                  size);
    candidate.multiply<T>(first(reset_previous), part(candidates), Into::add);
    update<T>(part(gates), previous, part(candidates), part(states), size);
  }
  return {states, contexts, attention, gates, candidates, queries};
}

/// The tensors, those that are not defined as none.
OptionalTensors listed(std::initializer_list<Tensor> tensors) {
  OptionalTensors list;
  for (const Tensor& tensor : tensors) list.push_back(tensor.defined() ? optional<Tensor>(tensor) : std::nullopt);
  return list;
}

template <typename T>
OptionalTensors run_backward(const Arguments& given, const Tensor& grad_states, const Tensor& grad_from_contexts,
                             const Tensor& states, const Tensor& contexts, const Tensor& attention, const Tensor& gates,
                             const Tensor& candidates, const Tensor& queries) {
  const auto number = number_of<T>();
  const int64_t size = given.size(), rows = given.rows(), widest = given.widest();
  const Memory<T> memory = given.memory<T>();
  const bool additive = given.query.has_value();
  const auto rows_by = [&](int64_t count, int64_t columns) { return uninitialized({count, columns}, number); };
  const States<const T> in_time{rows_of<T>(given.initial), rows_of<T>(states), &given.steps};
  const Tensor entered = all_entering<T>(in_time);
  Tensor grad_inputs = rows_by(rows, 3 * size), reset_previous = rows_by(rows, size),
         grad_reset_previous = rows_by(widest, size), grad_contexts = rows_by(rows, memory.value_size()),
         grad_queries = rows_by(additive ? rows : widest, memory.key_size()),
         grad_energies = rows_by(additive ? 0 : rows, memory.words()),
         grad_scores = zeros({widest, memory.key_size()}, number),
         grad_keys = additive ? zeros(given.keys.sizes(), number) : Tensor();
  grad_contexts.copy_(grad_from_contexts);
  const Factors gate = given.gate.backward(), candidate = given.candidate.backward(),
                context = given.context.backward(), query = additive ? given.query->backward() : Factors();
  StateGradients<T> grads(grad_states, in_time);
  for (auto step = given.steps.rbegin(); step != given.steps.rend(); ++step) {
    const auto part = [&](const Tensor& tensor) { return rows_of<T>(tensor).part(step->first, step->count); };
    const auto first = [&](const Tensor& tensor) { return rows_of<T>(tensor).part(0, step->count); };
    const auto grad = grads.state(*step);
    const auto grad_previous = grads.entering(*step);
    update_backward<T>(grad, part(gates), part(entered), part(candidates), part(grad_inputs), size);
    candidate.multiply<T>(part(grad_inputs).from(2 * size), first(grad_reset_previous));
    reset_backward<T>(grad, first(grad_reset_previous), part(gates), part(entered), part(grad_inputs),
                      part(reset_previous), grad_previous, size);
    gate.multiply<T>(part(grad_inputs), grad_previous, Into::add);
    context.multiply<T>(part(grad_inputs), part(grad_contexts), Into::add);
    const auto grad_query = additive ? part(grad_queries) : first(grad_queries);
    memory.backward(additive ? part(queries) : part(entered), part(attention), part(grad_contexts), grad_query,
                    {additive ? rows_of<T>(grad_keys) : Rows<T>{}, rows_of<T>(grad_scores),
                     additive ? Rows<T>{} : part(grad_energies)});
    if (additive)
      query.multiply<T>(grad_query, grad_previous, Into::add);
    else
      add<T>(grad_query, grad_previous);
  }
  grads.finish();
  if (additive) grad_keys.mul_(*given.score);
  const auto grad_rows = rows_of<T>(grad_inputs), entered_rows = rows_of<T>(entered);
  const auto [grad_gate, grad_gate_right] = given.gate.gradients<T>(grad_rows, entered_rows);
  const auto [grad_candidate, grad_candidate_right] =
      given.candidate.gradients<T>(grad_rows.from(2 * size), rows_of<T>(reset_previous));
  const auto [grad_context, grad_context_right] = given.context.gradients<T>(grad_rows, rows_of<T>(contexts));
  const Tensor grad_query =
      additive ? given.query->gradients<T>(rows_of<T>(grad_queries), entered_rows).first : Tensor();
  return listed({grad_inputs, grads.initial(), grad_keys, grad_contexts, grad_gate, grad_gate_right, grad_candidate,
                 grad_candidate_right, grad_context, grad_context_right, grad_query,
                 additive ? grad_scores.sum(0) : Tensor(), additive ? Tensor() : grad_energies,
                 additive ? Tensor() : entered});
}

Outputs attentive_gru(const Tensor& inputs, const Tensor& initial, const Tensor& keys, const Tensor& values,
                      const Tensor& padding_mask, const OptionalTensors& weights, const optional<Tensor>& query,
                      const optional<Tensor>& score, at::ScalarType products, at::IntArrayRef counts) {
  const Arguments given(initial, keys, values, padding_mask, weights, query, score, products, counts);
  return in_format(initial.scalar_type(), [&](auto zero) { return run<decltype(zero)>(given, inputs.contiguous()); });
}

OptionalTensors attentive_gru_backward(const Tensor& grad_states, const Tensor& grad_contexts, const Tensor& initial,
                                       const Tensor& keys, const Tensor& values, const Tensor& padding_mask,
                                       const OptionalTensors& weights, const optional<Tensor>& query,
                                       const optional<Tensor>& score, const Tensor& states, const Tensor& contexts,
                                       const Tensor& attention, const Tensor& gates, const Tensor& candidates,
                                       const Tensor& queries, at::ScalarType products, at::IntArrayRef counts) {
  const Arguments given(initial, keys, values, padding_mask, weights, query, score, products, counts);
  return in_format(initial.scalar_type(), [&](auto zero) {
    return run_backward<decltype(zero)>(given, grad_states, grad_contexts, states, contexts, attention, gates,
                                        candidates, queries);
  });
}

/// Contexts (n, D) and attention (n, S) for states (n, H), of which several in a row may read the same source.
std::tuple<Tensor, Tensor> attend(const Tensor& state, const Tensor& keys, const Tensor& values,
                                  const Tensor& padding_mask, const optional<Tensor>& query,
                                  const optional<Tensor>& score, at::ScalarType products) {
  const auto number = state.scalar_type();
  const int64_t rows = state.size(0), sources = keys.size(0), words = keys.size(1);
  return in_format(number, [&](auto zero) -> std::tuple<Tensor, Tensor> {
    using T = decltype(zero);
    const Memory<T> memory(keys.contiguous(), values.contiguous(), padding_mask.contiguous(), score,
                           std::max<int64_t>(1, rows / std::max<int64_t>(1, sources)));
    Tensor contexts = uninitialized({rows, values.size(2)}, number), attention = uninitialized({rows, words}, number);
    Tensor queries = state.contiguous();
    if (query) {
      const Tensor states = queries;
      queries = uninitialized({rows, keys.size(2)}, number);
      RightFactor(query->t(), products).multiply<T>(rows_of<T>(states), rows_of<T>(queries), Into::replace);
    }
    memory.attend(rows_of<T>(queries), rows_of<T>(attention), rows_of<T>(contexts));
    return {contexts, attention};
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def(
      "attentive_gru(Tensor inputs, Tensor initial, Tensor keys, Tensor values, Tensor padding_mask, Tensor?[] "
      "weights, Tensor? query, Tensor? score, ScalarType products, int[] counts) -> "
      "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
      torch::dispatch(at::kCPU, &attentive_gru));
  library.def(
      "attentive_gru_backward(Tensor grad_states, Tensor grad_contexts, Tensor initial, Tensor keys, Tensor values, "
      "Tensor padding_mask, Tensor?[] weights, Tensor? query, Tensor? score, Tensor states, Tensor contexts, "
      "Tensor attention, Tensor gates, Tensor candidates, Tensor queries, ScalarType products, int[] counts) -> "
      "Tensor?[]",
      torch::dispatch(at::kCPU, &attentive_gru_backward));
  library.def(
      "attend(Tensor state, Tensor keys, Tensor values, Tensor padding_mask, Tensor? query, Tensor? score, "
      "ScalarType products) -> (Tensor, Tensor)",
      torch::dispatch(at::kCPU, &attend));
}

}  // namespace recurrent_mt
