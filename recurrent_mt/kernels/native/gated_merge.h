// One node of a gated recursive convolution, row by row: candidate, gates, and what it lets through of its children.
//
// Its gates are three numbers, or three for each unit. To be called in loops that are `vectorized`.
#pragma once

#include "arguments.h"
#include "functions.h"

namespace recurrent_mt {

/// The softmax over [new, left, right] of `width` numbers each.
template <typename T>
INLINE void open(const T* logits, T* gates, int64_t width) {
#pragma omp simd
  for (int64_t i = 0; i < width; i++) {
    const T a = logits[i], b = logits[width + i], c = logits[2 * width + i];
    const T larger = a > b ? a : b, largest = larger > c ? larger : c;
    const T x = exponential(a - largest), y = exponential(b - largest), z = exponential(c - largest);
    const T scale = T(1) / (x + y + z);
    gates[i] = x * scale;
    gates[width + i] = y * scale;
    gates[2 * width + i] = z * scale;
  }
}

/// The candidate and the gates, from the products of both children (H + G), to which the bias is added in place.
template <typename T>
INLINE void open_candidate(T* products, const T* bias, int64_t size, int64_t gate_width, bool is_tanh, T* candidate,
                           T* gates) {
  const int64_t width = size + 3 * gate_width;
#pragma omp simd
  for (int64_t i = 0; i < width; i++) products[i] += bias[i];
  if (is_tanh) {
#pragma omp simd
    for (int64_t i = 0; i < size; i++) candidate[i] = hyperbolic_tangent(products[i]);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < size; i++) candidate[i] = products[i] < 0 ? T(0) : products[i];
  }
  open(products + size, gates, gate_width);
}

/// The node.
template <typename T>
INLINE void merge_children(const T* left, const T* right, const T* candidate, const T* gates, int64_t size,
                           int64_t gate_width, T* out) {
  if (gate_width == 1) {
    const T w0 = gates[0], w1 = gates[1], w2 = gates[2];
#pragma omp simd
    for (int64_t i = 0; i < size; i++) out[i] = w0 * candidate[i] + w1 * left[i] + w2 * right[i];
  } else {
#pragma omp simd
    for (int64_t i = 0; i < size; i++)
      out[i] = gates[i] * candidate[i] + gates[size + i] * left[i] + gates[2 * size + i] * right[i];
  }
}

/// The gradient (H + G) of what enters candidate and gates, from the node's.
template <typename T>
INLINE void gradient_before_activation(const T* grad, const T* left, const T* right, const T* candidate, const T* gates,
                                       int64_t size, int64_t gate_width, bool is_tanh, T* before) {
  T* const logits = before + size;
  if (gate_width == 1) {
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
  } else {
#pragma omp simd
    for (int64_t i = 0; i < size; i++) {
      const T u = gates[i], v = gates[size + i], t = gates[2 * size + i];
      const T mean = u * candidate[i] + v * left[i] + t * right[i];
      logits[i] = grad[i] * u * (candidate[i] - mean);
      logits[size + i] = grad[i] * v * (left[i] - mean);
      logits[2 * size + i] = grad[i] * t * (right[i] - mean);
    }
  }
#pragma omp simd
  for (int64_t i = 0; i < size; i++) {
    const T slope = is_tanh ? T(1) - candidate[i] * candidate[i] : (candidate[i] > 0 ? T(1) : T(0));
    before[i] = grad[i] * gates[gate_width == 1 ? 0 : i] * slope;
  }
}

/// The width of a gate, by the biases of a candidate and its gates, in a dimension of a tensor.
inline int64_t gate_width_of_bias(const char* name, const at::Tensor& bias, int64_t dimension, int64_t size) {
  TORCH_CHECK_VALUE(bias.defined() && bias.dim() == dimension + 1 &&
                        (bias.size(dimension) == size + 3 || bias.size(dimension) == 4 * size),
                    name, " must have ", size + 3, " or ", 4 * size, " numbers in dimension ", dimension, ", not ",
                    bias.sizes());
  return (bias.size(dimension) - size) / 3;
}

}  // namespace recurrent_mt
