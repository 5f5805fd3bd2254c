// What the packed recurrences have in common: which rows a step takes, and the states that enter it.
#pragma once

#include <cstring>
#include <optional>
#include <vector>

#include "arguments.h"
#include "memory.h"
#include "vectorized.h"

namespace recurrent_mt {

/// The positions of a packed batch: `count` rows each, from row `first` on.
struct Position {
  int64_t number;
  int64_t first;
  int64_t count;
};

inline std::vector<Position> positions(at::IntArrayRef counts) {
  std::vector<Position> result;
  int64_t first = 0;
  for (const int64_t count : counts) {
    result.push_back({static_cast<int64_t>(result.size()), first, count});
    first += count;
  }
  return result;
}

/// Adds rows to others.
template <typename T>
void add(Rows<const T> rows, Rows<T> sums) {
  const int64_t size = rows.stride;
  vectorized([=]() INLINE_LAMBDA {
    for (int64_t row = 0; row < rows.count; row++) {
      const T* x = rows[row];
      T* sum = sums[row];
#pragma omp simd
      for (int64_t i = 0; i < size; i++) sum[i] += x[i];
    }
  });
}

/// States in time: K before the first step, (B, H) each and oldest first, and one block of rows for each step.
template <typename T>
struct Timeline {
  Rows<T> before;  // (K · B, H)
  Rows<T> after;   // (N, H), packed
  int64_t span;    // K
  const std::vector<Position>* steps;

  /// The first `count` rows at a moment, counted from the oldest state before the first step.
  Rows<T> at(int64_t moment, int64_t count) const {
    if (moment < span) return before.part(moment * (before.count / span), count);
    return after.part((*steps)[moment - span].first, count);
  }
  /// What a step ends with.
  Rows<T> state(const Position& step) const { return at(step.number + span, step.count); }
  /// What the step before ended with.
  Rows<T> recent(const Position& step) const { return at(step.number + span - 1, step.count); }
  /// What was there K steps ago.
  Rows<T> earlier(const Position& step) const { return at(step.number, step.count); }
};

/// The state that enters a step: the last one, or, with a gate g (H,), g ⊙ h_{t−1} + (1 − g) ⊙ h_{t−K}.
template <typename T>
Rows<const T> entering(const Timeline<const T>& states, const Position& step, const T* gate, Rows<T> mixed) {
  const auto recent = states.recent(step), earlier = states.earlier(step);
  if (!gate) return recent;
  const int64_t size = recent.stride;
  for_rows(step.count, size, [&](int64_t begin, int64_t end) {
    vectorized([=]() INLINE_LAMBDA {
      for (int64_t row = begin; row < end; row++) {
        const T *last = recent[row], *old = earlier[row];
        T* const out = mixed[row];
#pragma omp simd
        for (int64_t i = 0; i < size; i++) out[i] = old[i] + gate[i] * (last[i] - old[i]);
      }
    });
  });
  return mixed.part(0, step.count);
}

/// What entered every step, in packed order (N, H).
template <typename T>
at::Tensor all_entering(const Timeline<const T>& states, const T* gate) {
  const int64_t size = states.after.stride;
  at::Tensor result = uninitialized({states.after.count, size}, number_of<T>());
  for (const Position& step : *states.steps) {
    const Rows<T> out = rows_of<T>(result).part(step.first, step.count);
    const Rows<const T> rows = entering<T>(states, step, gate, out);
    if (!gate) std::memcpy(out.data, rows.data, step.count * size * sizeof(T));
  }
  return result;
}

/// The gradient of all states of a recurrence, and of its gate over time, going back step by step.
template <typename T>
class TimelineGradients {
 public:
  /// `grad_states` (N, H) are the gradients from outside the recurrence.
  TimelineGradients(const at::Tensor& grad_states, const Timeline<const T>& states, const T* gate)
      : states_(states), gate_(gate), size_(grad_states.size(1)),
        after_(uninitialized(grad_states.sizes(), number_of<T>())),
        before_(zeros({states.before.count, size_}, number_of<T>())), grad_gate_(zeros({size_}, number_of<T>())) {
    after_.copy_(grad_states);
    grads_ = {rows_of<T>(before_), rows_of<T>(after_), states.span, states.steps};
    if (gate) mixed_ = uninitialized({states.steps->front().count, size_}, number_of<T>());
  }

  /// That of the state after a step, once all later steps are done.
  Rows<const T> state(const Position& step) const { return grads_.state(step); }

  /// Where a step adds that of what entered it; then it calls `pass_on`.
  Rows<T> entering(const Position& step) {
    if (!gate_) return grads_.recent(step);
    mixed_.zero_();
    return rows_of<T>(mixed_).part(0, step.count);
  }

  void pass_on(const Position& step) {
    if (!gate_) return;
    const auto grad = rows_of<T>(mixed_), recent = grads_.recent(step), earlier = grads_.earlier(step);
    const auto last = states_.recent(step), old = states_.earlier(step);
    T* const grad_gate = grad_gate_.template data_ptr<T>();
    vectorized([=, gate = gate_, size = size_, count = step.count]() INLINE_LAMBDA {
      for (int64_t row = 0; row < count; row++) {
        const T *g = grad[row], *l = last[row], *o = old[row];
        T *r = recent[row], *e = earlier[row];
#pragma omp simd
        for (int64_t i = 0; i < size; i++) {
          r[i] += gate[i] * g[i];
          grad_gate[i] += g[i] * (l[i] - o[i]);
        }
        // In a loop of its own: the two are the same rows if K is 1.
#pragma omp simd
        for (int64_t i = 0; i < size; i++) e[i] += (T(1) - gate[i]) * g[i];
      }
    });
  }

  /// Frees what only steps read, once all are done.
  void finish() { after_.reset(); }

  /// Of the initial states (K · B, H).
  at::Tensor initial() const { return before_; }
  /// Of the gate (H,), undefined without one.
  at::Tensor gate() const { return gate_ ? grad_gate_ : at::Tensor(); }

 private:
  Timeline<const T> states_;
  const T* gate_;
  int64_t size_;
  at::Tensor after_, before_, grad_gate_, mixed_;
  Timeline<T> grads_;
};

/// The initial states (B, H) or (B, K, H) as (K · B, H), oldest first.
inline at::Tensor by_moment(const at::Tensor& initial) {
  if (initial.dim() == 2) return initial.contiguous();
  return initial.transpose(0, 1).contiguous().flatten(0, 1);
}

/// The inverse of `by_moment`, for states like `initial`.
inline at::Tensor by_sentence(const at::Tensor& moments, const at::Tensor& initial) {
  if (initial.dim() == 2) return moments;
  return moments.unflatten(0, {initial.size(1), initial.size(0)}).transpose(0, 1);
}

}  // namespace recurrent_mt
