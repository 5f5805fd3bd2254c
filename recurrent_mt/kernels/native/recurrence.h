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

/// States in time: those before the first step (B, H), and one block of packed rows (N, H) for each step.
template <typename T>
struct States {
  Rows<T> before;
  Rows<T> after;
  const std::vector<Position>* steps;

  /// What a step ends with.
  Rows<T> state(const Position& step) const { return after.part(step.first, step.count); }
  /// What enters it.
  Rows<T> entering(const Position& step) const {
    return step.number ? after.part((*steps)[step.number - 1].first, step.count) : before.part(0, step.count);
  }
};

/// What entered every step, in packed order (N, H).
template <typename T>
at::Tensor all_entering(const States<const T>& states) {
  const int64_t size = states.after.stride;
  at::Tensor result = uninitialized({states.after.count, size}, number_of<T>());
  for (const Position& step : *states.steps)
    std::memcpy(rows_of<T>(result).part(step.first, step.count).data, states.entering(step).data,
                step.count * size * sizeof(T));
  return result;
}

/// The gradient of all states of a recurrence, going back step by step.
template <typename T>
class StateGradients {
 public:
  /// `grad_states` (N, H) are the gradients from outside the recurrence.
  StateGradients(const at::Tensor& grad_states, const States<const T>& states)
      : after_(uninitialized(grad_states.sizes(), number_of<T>())),
        before_(zeros({states.before.count, grad_states.size(1)}, number_of<T>())) {
    after_.copy_(grad_states);
    grads_ = {rows_of<T>(before_), rows_of<T>(after_), states.steps};
  }

  /// That of the state after a step, once all later steps are done.
  Rows<const T> state(const Position& step) const { return grads_.state(step); }
  /// Where a step adds that of what entered it.
  Rows<T> entering(const Position& step) const { return grads_.entering(step); }
  /// Frees what only steps read, once all are done.
  void finish() { after_.reset(); }
  /// Of the initial states (B, H).
  at::Tensor initial() const { return before_; }

 private:
  at::Tensor after_, before_;
  States<T> grads_;
};

}  // namespace recurrent_mt
