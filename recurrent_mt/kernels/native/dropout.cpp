// Dropout in one pass: see recurrent_mt/kernels/dropout.py.
#include <ATen/Parallel.h>
#include <torch/library.h>

#include <algorithm>

#include "arguments.h"
#include "memory.h"
#include "vectorized.h"

namespace recurrent_mt {
namespace {

using at::Tensor;

constexpr int64_t CHUNK = 1 << 14;  // numbers with a seed of their own

/// Vigna's splitmix64: an independent seed for each chunk.
uint64_t mix(uint64_t seed, uint64_t chunk) {
  uint64_t x = seed + (chunk + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Random bits for a place: Wellons' lowbias32, a permutation of 32-bit numbers that a vector register computes at once.
INLINE uint32_t hash(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x21f0aaadu;
  x = (x ^ (x >> 15)) * 0x735a2d97u;
  return x ^ (x >> 15);
}

template <typename T>
void run(const Tensor& values, double probability, uint64_t seed, Tensor& result) {
  const T* const from = values.const_data_ptr<T>();
  T* const to = result.data_ptr<T>();
  const auto dropped = static_cast<uint32_t>(probability * 4294967296.0);
  const T scale = static_cast<T>(1 / (1 - probability));
  const int64_t size = values.numel();
  at::parallel_for(0, (size + CHUNK - 1) / CHUNK, 1, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; chunk++) {
      const uint64_t own = mix(seed, chunk);
      const auto low = static_cast<uint32_t>(own), high = static_cast<uint32_t>(own >> 32);
      const int64_t first = chunk * CHUNK, count = std::min(CHUNK, size - first);
      vectorized([=]() INLINE_LAMBDA {
#pragma omp simd
        for (int64_t i = 0; i < count; i++) {
          const uint32_t bits = hash(hash(static_cast<uint32_t>(i) + low) ^ high);
          to[first + i] = bits < dropped ? T(0) : from[first + i] * scale;
        }
      });
    }
  });
}

Tensor dropout(const Tensor& values, double probability, int64_t seed) {
  TORCH_CHECK_VALUE(0 <= probability && probability < 1, "probability must be from 0 to below 1, not ", probability);
  const Tensor numbers = checked("values", values, values.sizes(), values.scalar_type());
  Tensor result = uninitialized(values.sizes(), values.scalar_type());
  in_format("values", values.scalar_type(), [&](auto zero) {
    run<decltype(zero)>(numbers, probability, static_cast<uint64_t>(seed), result);
  });
  return result;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def("dropout(Tensor values, float probability, int seed) -> Tensor");
}

TORCH_LIBRARY_IMPL(recurrent_mt, CPU, library) { library.impl("dropout", &dropout); }

}  // namespace recurrent_mt
