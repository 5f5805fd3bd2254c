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

/// The arguments of both directions, checked.
struct Arguments {
  int64_t size;
  std::vector<Position> steps;
  Tensor initial;  // (B, H)
  Tensor keys, values, padding;
  Weight gate, candidate, context;
  optional<Weight> query;
  optional<Tensor> score;

  Arguments(const Tensor& first_states, const Tensor& key_rows, const Tensor& value_rows, const Tensor& padding_mask,
            const OptionalTensors& factors, const optional<Tensor>& query_weight, const optional<Tensor>& score_vector,
            at::ScalarType products, at::IntArrayRef counts)
      : size(width_of(first_states)), steps(positions(counts)), initial(first_states.contiguous()) {
    const auto number = first_states.scalar_type();
    check_counts(counts, first_states.size(0));
    TORCH_CHECK_VALUE(key_rows.dim() == 3 && key_rows.size(0) >= counts[0], "keys must be (B, S, A) with B at least ",
                      counts[0], ", not ", key_rows.sizes());
    TORCH_CHECK_VALUE(key_rows.size(1) > 0, "keys must have positions, not ", key_rows.sizes());
    TORCH_CHECK_VALUE(value_rows.dim() == 3, "values must be (B, S, D), not ", value_rows.sizes());
    const int64_t sources = key_rows.size(0), words = key_rows.size(1);
    keys = checked("keys", key_rows, key_rows.sizes(), number);
    values = checked("values", value_rows, {sources, words, value_rows.size(2)}, number);
    padding = checked("padding_mask", padding_mask, {sources, words}, at::kBool);
    TORCH_CHECK_VALUE(factors.size() == 6, "weights must be the two factors of three matrices, not ", factors.size());
    const auto weight = [&](const char* name, size_t index) {
      const optional<Tensor> left = factors.get(2 * index);
      TORCH_CHECK_VALUE(left, name, " must not be missing");
      return Weight{*left, factors.get(2 * index + 1), products};
    };
    gate = weight("gate_weight", 0), candidate = weight("candidate_weight", 1), context = weight("context_weight", 2);
    gate.check("gate_weight", 2 * size, size, number);
    candidate.check("candidate_weight", size, size, number);
    context.check("context_weight", 3 * size, values.size(2), number);
    if (query_weight) {
      query = Weight{*query_weight, std::nullopt, products};
      query->check("query_weight", keys.size(2), size, number);
    }
    score = checked("score", score_vector, {keys.size(2)}, number);
    TORCH_CHECK_VALUE(query.has_value() == score.has_value(), "query_weight and score come together or not at all");
    TORCH_CHECK_VALUE(query || keys.size(2) == size, "keys must be as wide as the states, ", size, ", not ",
                      keys.size(2));
  }

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
  const int64_t size = given.size, rows = given.rows(), widest = given.widest();
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

/// What the forward pass left.
struct Kept {
  Tensor states, contexts, attention, gates, candidates, queries;
};

/// The tensors, those that are not defined as none.
OptionalTensors listed(std::initializer_list<Tensor> tensors) {
  OptionalTensors list;
  for (const Tensor& tensor : tensors) list.push_back(tensor.defined() ? optional<Tensor>(tensor) : std::nullopt);
  return list;
}

template <typename T>
OptionalTensors run_backward(const Arguments& given, const Tensor& grad_states, const Tensor& grad_from_contexts,
                             const Kept& kept) {
  const auto number = number_of<T>();
  const int64_t size = given.size, rows = given.rows(), widest = given.widest();
  const Memory<T> memory = given.memory<T>();
  const bool additive = given.query.has_value();
  const auto rows_by = [&](int64_t count, int64_t columns) { return uninitialized({count, columns}, number); };
  const States<const T> in_time{rows_of<T>(given.initial), rows_of<T>(kept.states), &given.steps};
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
    update_backward<T>(grad, part(kept.gates), part(entered), part(kept.candidates), part(grad_inputs), size);
    candidate.multiply<T>(part(grad_inputs).from(2 * size), first(grad_reset_previous));
    reset_backward<T>(grad, first(grad_reset_previous), part(kept.gates), part(entered), part(grad_inputs),
                      part(reset_previous), grad_previous, size);
    gate.multiply<T>(part(grad_inputs), grad_previous, Into::add);
    context.multiply<T>(part(grad_inputs), part(grad_contexts), Into::add);
    const auto grad_query = additive ? part(grad_queries) : first(grad_queries);
    memory.backward(additive ? part(kept.queries) : part(entered), part(kept.attention), part(grad_contexts),
                    grad_query,
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
  const auto [grad_context, grad_context_right] = given.context.gradients<T>(grad_rows, rows_of<T>(kept.contexts));
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
  const Tensor rows = checked("inputs", inputs, {given.rows(), 3 * given.size}, initial.scalar_type());
  return in_format("initial", initial.scalar_type(), [&](auto zero) { return run<decltype(zero)>(given, rows); });
}

OptionalTensors attentive_gru_backward(const Tensor& grad_states, const Tensor& grad_contexts, const Tensor& initial,
                                       const Tensor& keys, const Tensor& values, const Tensor& padding_mask,
                                       const OptionalTensors& weights, const optional<Tensor>& query,
                                       const optional<Tensor>& score, at::ScalarType products, at::IntArrayRef counts,
                                       at::TensorList kept) {
  const Arguments given(initial, keys, values, padding_mask, weights, query, score, products, counts);
  TORCH_CHECK_VALUE(kept.size() == 6, "kept must be the six outputs of attentive_gru, not ", kept.size());
  const auto number = initial.scalar_type();
  const auto rows = [&](const char* name, const Tensor& tensor, int64_t columns) {
    return checked(name, tensor, {given.rows(), columns}, number);
  };
  const int64_t size = given.size, width = given.values.size(2);
  const Kept checked_kept{rows("kept states", kept[0], size),
                          rows("kept contexts", kept[1], width),
                          rows("kept attention", kept[2], given.keys.size(1)),
                          rows("kept gates", kept[3], 2 * size),
                          rows("kept candidates", kept[4], size),
                          given.query ? rows("kept queries", kept[5], given.keys.size(2)) : kept[5]};
  const Tensor states = rows("grad_states", grad_states, size), contexts = rows("grad_contexts", grad_contexts, width);
  return in_format("initial", number,
                   [&](auto zero) { return run_backward<decltype(zero)>(given, states, contexts, checked_kept); });
}

/// Contexts (n, D) and attention (n, S) for states (n, H), of which several in a row may read the same source.
std::tuple<Tensor, Tensor> attend(const Tensor& state, const Tensor& keys, const Tensor& values,
                                  const Tensor& padding_mask, const optional<Tensor>& query,
                                  const optional<Tensor>& score, at::ScalarType products) {
  TORCH_CHECK_VALUE(state.dim() == 2 && keys.dim() == 3 && values.dim() == 3,
                    "state, keys and values must be (n, H), (B, S, A) and (B, S, D), not ", state.sizes(), ", ",
                    keys.sizes(), " and ", values.sizes());
  const auto number = state.scalar_type();
  const int64_t rows = state.size(0), sources = keys.size(0), words = keys.size(1), width = keys.size(2);
  TORCH_CHECK_VALUE(words > 0, "keys must have positions, not ", keys.sizes());
  TORCH_CHECK_VALUE(rows <= sources || (sources > 0 && rows % sources == 0), "state must have a multiple of the keys' ",
                    sources, " rows, not ", rows);
  TORCH_CHECK_VALUE(query.has_value() == score.has_value(), "query and score come together or not at all");
  const Tensor states = checked("state", state, state.sizes(), number),
               all_keys = checked("keys", keys, keys.sizes(), number),
               all_values = checked("values", values, {sources, words, values.size(2)}, number),
               padding = checked("padding_mask", padding_mask, {sources, words}, at::kBool);
  const optional<Tensor> vector = checked("score", score, {width}, number);
  if (query) check_weight("query", *query, width, state.size(1), number);
  check_products("products", products, number);
  TORCH_CHECK_VALUE(query || width == state.size(1), "keys must be as wide as the states, ", state.size(1), ", not ",
                    width);
  return in_format("state", number, [&](auto zero) -> std::tuple<Tensor, Tensor> {
    using T = decltype(zero);
    const Memory<T> memory(all_keys, all_values, padding, vector,
                           std::max<int64_t>(1, rows / std::max<int64_t>(1, sources)));
    Tensor contexts = uninitialized({rows, values.size(2)}, number), attention = uninitialized({rows, words}, number);
    Tensor queries = states;
    if (query) {
      queries = uninitialized({rows, width}, number);
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
      "weights, "
      "Tensor? query, Tensor? score, ScalarType products, int[] counts) -> "
      "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)");
  library.def(
      "attentive_gru_backward(Tensor grad_states, Tensor grad_contexts, Tensor initial, Tensor keys, Tensor values, "
      "Tensor padding_mask, Tensor?[] weights, Tensor? query, Tensor? score, ScalarType products, "
      "int[] counts, Tensor[] kept) -> Tensor?[]");
  library.def(
      "attend(Tensor state, Tensor keys, Tensor values, Tensor padding_mask, Tensor? query, Tensor? score, "
      "ScalarType products) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(recurrent_mt, CPU, library) {
  library.impl("attentive_gru", &attentive_gru);
  library.impl("attentive_gru_backward", &attentive_gru_backward);
  library.impl("attend", &attend);
}

}  // namespace recurrent_mt
