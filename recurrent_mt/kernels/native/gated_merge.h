// One node of a gated recursive convolution, row by row: candidate, gates, and what it lets through of its children.
//
// To be called in loops that are `vectorized`.
#pragma once

#include "arguments.h"
#include "functions.h"

namespace recurrent_mt {

/// The gates of a node: [new, left, right].
constexpr int64_t GATES = 3;

/// The softmax over [new, left, right].
template <typename T>
INLINE void open(const T* logits, T* gates) {
  const T a = logits[0], b = logits[1], c = logits[2];
  const T larger = a > b ? a : b, largest = larger > c ? larger : c;
  const T x = exponential(a - largest), y = exponential(b - largest), z = exponential(c - largest);
  const T scale = T(1) / (x + y + z);
  gates[0] = x * scale;
  gates[1] = y * scale;
  gates[2] = z * scale;
}

/// The candidate and the gates, from the products of both children (H + 3), to which the bias is added in place.
template <typename T>
INLINE void open_candidate(T* products, const T* bias, int64_t size, bool is_tanh, T* candidate, T* gates) {
#pragma omp simd
  for (int64_t i = 0; i < size + GATES; i++) products[i] += bias[i];
  if (is_tanh) {
#pragma omp simd
    for (int64_t i = 0; i < size; i++) candidate[i] = hyperbolic_tangent(products[i]);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < size; i++) candidate[i] = products[i] < 0 ? T(0) : products[i];
  }
  open(products + size, gates);
}

/// The node.
template <typename T>
INLINE void merge_children(const T* left, const T* right, const T* candidate, const T* gates, int64_t size, T* out) {
  const T w0 = gates[0], w1 = gates[1], w2 = gates[2];
#pragma omp simd
  for (int64_t i = 0; i < size; i++) out[i] = w0 * candidate[i] + w1 * left[i] + w2 * right[i];
}

/// The gradient (H + 3) of what enters candidate and gates, from the node's.
template <typename T>
INLINE void gradient_before_activation(const T* grad, const T* left, const T* right, const T* candidate, const T* gates,
                                       int64_t size, bool is_tanh, T* before) {
  T* const logits = before + size;
  T x = 0, y = 0, z = 0;
#pragma omp simd reduction(+ : x, y, z)
  for (int64_t i = 0; i < size; i++) {
    x += grad[i] * candidate[i];
    y += grad[i] * left[i];
    z += grad[i] * right[i];
  }
  const T mean = gates[0] * x + gates[1] * y + gates[2] * z;
  logits[0] = gates[0] * (x - mean);
  logits[1] = gates[1] * (y - mean);
  logits[2] = gates[2] * (z - mean);
  const T opened = gates[0];
#pragma omp simd
  for (int64_t i = 0; i < size; i++) {
    const T slope = is_tanh ? T(1) - candidate[i] * candidate[i] : (candidate[i] > 0 ? T(1) : T(0));
    before[i] = grad[i] * opened * slope;
  }
}

}  // namespace recurrent_mt
