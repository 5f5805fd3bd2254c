// What a step of the minimal gated recurrent unit does: all of it, since no matrix multiplies its state.
#pragma once

#include "functions.h"
#include "product.h"

namespace recurrent_mt {

/// What joins the inputs of a row: the weights (2H,), or none, of those of the row before (n, 2H), if there is one.
template <typename T>
struct Shift {
  const T* weights = nullptr;
  Rows<const T> before{};

  explicit operator bool() const { return weights && before.data; }
  /// One of a row's inputs, joined.
  INLINE T join(const T* inputs, const T* earlier, int64_t i) const { return inputs[i] + weights[i] * earlier[i]; }
};

/// Writes the states (1 − z) ⊙ h + z ⊙ c of some rows: `inputs` (n, 2H) enter [update, candidate], `entering` (n, H) is
/// h. A row continues that of its own number, or, where `continued` (n,) is given, the one that this says.
template <typename T>
void min_gru_step(Rows<const T> inputs, Rows<const T> entering, Rows<T> states, int64_t begin, int64_t end,
                  int64_t size, Shift<T> shift = {}, const int64_t* continued = nullptr) {
  vectorized([=]() INLINE_LAMBDA {
    // Exactly h where z is 0, and exactly the candidate where it is 1.
    const auto mix = [](T z, T h, T candidate) { return (T(1) - z) * h + z * candidate; };
    for (int64_t row = begin; row < end; row++) {
      const int64_t before = continued ? continued[row] : row;
      const T *x = inputs[row], *h = entering[before];
      T* const state = states[row];
      if (shift) {
        const T* const earlier = shift.before[before];
#pragma omp simd
        for (int64_t i = 0; i < size; i++)
          state[i] = mix(sigmoid(shift.join(x, earlier, i)), h[i], shift.join(x, earlier, size + i));
      } else {
#pragma omp simd
        for (int64_t i = 0; i < size; i++) state[i] = mix(sigmoid(x[i]), h[i], x[size + i]);
      }
    }
  });
}

}  // namespace recurrent_mt
