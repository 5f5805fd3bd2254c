// What a step of the minimal gated recurrent unit does: all of it, since no matrix multiplies its state.
#pragma once

#include "functions.h"
#include "product.h"

namespace recurrent_mt {

/// Writes the states (1 − z) ⊙ h + z ⊙ c of some rows: `inputs` (n, 2H) enter [update, candidate], `entering` (n, H) is
/// h.
template <typename T>
void min_gru_step(Rows<const T> inputs, Rows<const T> entering, Rows<T> states, int64_t begin, int64_t end,
                  int64_t size) {
  vectorized([=]() INLINE_LAMBDA {
    for (int64_t row = begin; row < end; row++) {
      const T *gate = inputs[row], *candidate = gate + size, *h = entering[row];
      T* const state = states[row];
#pragma omp simd
      for (int64_t i = 0; i < size; i++) {
        const T z = sigmoid(gate[i]);
        // Exactly h where z is 0, and exactly the candidate where it is 1.
        state[i] = (T(1) - z) * h[i] + z * candidate[i];
      }
    }
  });
}

}  // namespace recurrent_mt
