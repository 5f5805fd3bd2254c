// What a step of the gated recurrent unit does around its matrix products; gates are ordered [reset, update].
#pragma once

#include "functions.h"
#include "recurrence.h"

namespace recurrent_mt {

/// Turns the gates' products (n, 2H) into the gates; writes r ⊙ h (n, H) and what the candidate is made of besides its
/// own product (n, H).
///
/// `inputs` (n, 3H) and `more` (n, 3H, or none) enter [reset, update, candidate]; `previous` (n, H) is h.
template <typename T>
void open_gates(Rows<const T> inputs, Rows<const T> more, Rows<const T> previous, Rows<T> gates, Rows<T> reset_previous,
                Rows<T> candidate, int64_t size) {
  for_rows(gates.count, 3 * size, [&](int64_t begin, int64_t end) {
    vectorized([=]() INLINE_LAMBDA {
      for (int64_t row = begin; row < end; row++) {
        const T *x = inputs[row], *h = previous[row];
        T *gate = gates[row], *reset = reset_previous[row], *new_state = candidate[row];
        if (more.data) {
          const T* y = more[row];
#pragma omp simd
          for (int64_t i = 0; i < 2 * size; i++) gate[i] = sigmoid(gate[i] + x[i] + y[i]);
#pragma omp simd
          for (int64_t i = 0; i < size; i++) new_state[i] = x[2 * size + i] + y[2 * size + i];
        } else {
#pragma omp simd
          for (int64_t i = 0; i < 2 * size; i++) gate[i] = sigmoid(gate[i] + x[i]);
#pragma omp simd
          for (int64_t i = 0; i < size; i++) new_state[i] = x[2 * size + i];
        }
#pragma omp simd
        for (int64_t i = 0; i < size; i++) reset[i] = gate[i] * h[i];
      }
    });
  });
}

/// Turns what the candidate is made of into the candidate h̃ (n, H), and writes the state z ⊙ h + (1 − z) ⊙ h̃ (n, H).
template <typename T>
void update(Rows<const T> gates, Rows<const T> previous, Rows<T> candidate, Rows<T> states, int64_t size) {
  for_rows(gates.count, 2 * size, [&](int64_t begin, int64_t end) {
    vectorized([=]() INLINE_LAMBDA {
      for (int64_t row = begin; row < end; row++) {
        const T *z = gates[row] + size, *h = previous[row];
        T *new_state = candidate[row], *state = states[row];
#pragma omp simd
        for (int64_t i = 0; i < size; i++) {
          const T tanh = hyperbolic_tangent(new_state[i]);
          new_state[i] = tanh;
          // Exactly h where z is 1.
          state[i] = z[i] * h[i] + (T(1) - z[i]) * tanh;
        }
      }
    });
  });
}

/// Writes the last two of the three blocks of the inputs' gradient (n, 3H), from that of the states (n, H).
template <typename T>
void update_backward(Rows<const T> grad, Rows<const T> gates, Rows<const T> previous, Rows<const T> candidate,
                     Rows<T> grad_inputs, int64_t size) {
  for_rows(gates.count, 2 * size, [&](int64_t begin, int64_t end) {
    vectorized([=]() INLINE_LAMBDA {
      for (int64_t row = begin; row < end; row++) {
        const T *g = grad[row], *z = gates[row] + size, *h = previous[row], *c = candidate[row];
        T *grad_update = grad_inputs[row] + size, *grad_candidate = grad_update + size;
#pragma omp simd
        for (int64_t i = 0; i < size; i++) {
          grad_candidate[i] = g[i] * (T(1) - z[i]) * (T(1) - c[i] * c[i]);
          grad_update[i] = g[i] * (h[i] - c[i]) * z[i] * (T(1) - z[i]);
        }
      }
    });
  });
}

/// Writes the first block of the inputs' gradient and, once more, r ⊙ h, and adds to the gradient of h all that does
/// not come through the gates' product. `grad_reset_previous` (n, H) is that of r ⊙ h.
template <typename T>
void reset_backward(Rows<const T> grad, Rows<const T> grad_reset_previous, Rows<const T> gates, Rows<const T> previous,
                    Rows<T> grad_inputs, Rows<T> reset_previous, Rows<T> grad_previous, int64_t size) {
  for_rows(gates.count, 3 * size, [&](int64_t begin, int64_t end) {
    vectorized([=]() INLINE_LAMBDA {
      for (int64_t row = begin; row < end; row++) {
        const T *g = grad[row], *d = grad_reset_previous[row], *r = gates[row], *z = r + size, *h = previous[row];
        T *grad_reset = grad_inputs[row], *product = reset_previous[row], *sum = grad_previous[row];
#pragma omp simd
        for (int64_t i = 0; i < size; i++) {
          product[i] = r[i] * h[i];
          grad_reset[i] = d[i] * h[i] * r[i] * (T(1) - r[i]);
          sum[i] += g[i] * z[i] + d[i] * r[i];
        }
      }
    });
  });
}

}  // namespace recurrent_mt
