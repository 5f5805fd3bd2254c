// Elementary functions that the compiler can vectorize. NaN stays NaN, but in a largest number.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "vectorized.h"

namespace recurrent_mt {

/// e^x with a relative error below 2e-7: 2^n times a polynomial (Cephes' expf). It saturates beyond ±87.
INLINE float exponential(float x) {
  x = x > 88.0f ? 88.0f : x;
  x = x < -87.0f ? -87.0f : x;
  constexpr float round = 12582912.0f;  // 1.5 · 2^23: adding it leaves an integer in the lowest bits
  const float shifted = x * 1.44269504088896341f + round;
  const float n = shifted - round;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const int32_t exponent = (std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(round) + 127) << 23;
  return p * std::bit_cast<float>(exponent);
}

/// Double precision is for checking gradients, not for speed.
INLINE double exponential(double x) { return std::exp(x); }

template <typename T>
INLINE T sigmoid(T x) {
  return T(1) / (T(1) + exponential(-x));
}

/// A ratio of two polynomials (Eigen's), off by a few units in the last place.
INLINE float hyperbolic_tangent(float x) {
  constexpr float saturated = 7.90531110763549805f;
  x = x > saturated ? saturated : x;
  x = x < -saturated ? -saturated : x;
  const float y = x * x;
  float p = -2.76076847742355e-16f;
  p = p * y + 2.00018790482477e-13f;
  p = p * y + -8.60467152213735e-11f;
  p = p * y + 5.12229709037114e-08f;
  p = p * y + 1.48572235717979e-05f;
  p = p * y + 6.37261928875436e-04f;
  p = p * y + 4.89352455891786e-03f;
  float q = 1.19825839466702e-06f;
  q = q * y + 1.18534705686654e-04f;
  q = q * y + 2.26843463243900e-03f;
  q = q * y + 4.89352518554385e-03f;
  return x * p / q;
}

INLINE double hyperbolic_tangent(double x) { return std::tanh(x); }

// Loops that sum something up, in functions of their own: GCC 12 left them scalar where they stood in a lambda.

/// How many numbers are summed up in their own format: among thousands, small ones would be lost beside a large one.
constexpr int64_t TERMS = 512;

/// The largest of some numbers, −∞ of none.
template <typename T>
INLINE T largest_of(const T* numbers, int64_t size) {
  T largest = -std::numeric_limits<T>::infinity();
#pragma omp simd reduction(max : largest)
  for (int64_t i = 0; i < size; i++) largest = numbers[i] > largest ? numbers[i] : largest;
  return largest;
}

/// The sum of e^(x − shift).
template <typename T>
INLINE double sum_of_exponentials(const T* numbers, int64_t size, T shift) {
  double sum = 0;
  for (int64_t first = 0; first < size; first += TERMS) {
    const int64_t last = first + TERMS < size ? first + TERMS : size;
    T part = 0;
#pragma omp simd reduction(+ : part)
    for (int64_t i = first; i < last; i++) part += exponential(numbers[i] - shift);
    sum += part;
  }
  return sum;
}

/// The softmax of energies, in place, over what is no padding, which must be one number at least.
template <typename T>
INLINE void softmax(T* energies, const bool* padding, int64_t size) {
  constexpr T never = -std::numeric_limits<T>::infinity();
  T largest = never, sum = 0;
#pragma omp simd reduction(max : largest)
  for (int64_t i = 0; i < size; i++) {
    const T energy = padding[i] ? never : energies[i];
    largest = energy > largest ? energy : largest;
  }
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < size; i++) {
    energies[i] = padding[i] ? T(0) : exponential(energies[i] - largest);
    sum += energies[i];
  }
  const T scale = T(1) / sum;
  for (int64_t i = 0; i < size; i++) energies[i] *= scale;
}

/// Turns the gradient of a softmax into that of its energies.
template <typename T>
INLINE void softmax_backward(const T* softmax, T* grad, int64_t size) {
  T mean = 0;
#pragma omp simd reduction(+ : mean)
  for (int64_t i = 0; i < size; i++) mean += softmax[i] * grad[i];
#pragma omp simd
  for (int64_t i = 0; i < size; i++) grad[i] = softmax[i] * (grad[i] - mean);
}

}  // namespace recurrent_mt
