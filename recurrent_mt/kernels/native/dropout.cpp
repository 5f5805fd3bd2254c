// Dropout whose mask is computed where it is needed, forward and backward: see recurrent_mt/kernels/linear.py.
#include <torch/library.h>

#include <algorithm>
#include <cmath>

#include "arguments.h"
#include "memory.h"
#include "recurrence.h"
#include "vectorized.h"

namespace recurrent_mt {
namespace {

constexpr int64_t COUNTERS = 16;         // drawn from side by side
constexpr int64_t BLOCK = 4 * COUNTERS;  // numbers they draw: the first words of all counters, the second words, …

INLINE void mix(uint32_t* x, uint32_t* y, int turns) {
#pragma omp simd
  for (int64_t i = 0; i < COUNTERS; i++) {
    x[i] += y[i];
    y[i] = (y[i] << turns | y[i] >> (32 - turns)) ^ x[i];
  }
}

/// Threefry4x32-20 of the counters `first`, `first` + 1, … with a key (Salmon et al. 2011, "Parallel Random Numbers: As
/// Easy as 1, 2, 3"): random words for any place at once, so that no mask is kept and no thread waits for another.
INLINE void draw(uint64_t first, uint64_t key, uint32_t* drawn) {
  constexpr int TURNS[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5}, {6, 20}, {17, 11}, {25, 10}, {18, 20}};
  const uint32_t low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
  uint32_t* const words[4] = {drawn, drawn + COUNTERS, drawn + 2 * COUNTERS, drawn + 3 * COUNTERS};
  const uint32_t keys[5] = {low, high, 0, 0, 0x1BD11BDA ^ low ^ high};
  // COUNTERS divides the first of them, so none of them carries into the upper word.
#pragma omp simd
  for (uint32_t i = 0; i < COUNTERS; i++) {
    words[0][i] = (static_cast<uint32_t>(first) | i) + keys[0];
    words[1][i] = static_cast<uint32_t>(first >> 32) + keys[1];
    words[2][i] = keys[2], words[3][i] = keys[3];
  }
#pragma GCC unroll 20
  for (int round = 0; round < 20; round++) {
    const int odd = round % 2;
    mix(words[0], words[odd ? 3 : 1], TURNS[round % 8][0]);
    mix(words[2], words[odd ? 1 : 3], TURNS[round % 8][1]);
    if (round % 4 < 3) continue;
    const int injection = round / 4 + 1;
    for (int word = 0; word < 4; word++)
#pragma omp simd
      for (int64_t i = 0; i < COUNTERS; i++)
        words[word][i] += keys[(injection + word) % 5] + (word == 3 ? injection : 0);
  }
}

template <typename T>
INLINE void drop(const T* x, const uint32_t* word, uint32_t least, T scale, int64_t size, T* y) {
#pragma omp simd
  for (int64_t i = 0; i < size; i++) {
    const T scaled = x[i] * scale;
    y[i] = word[i] < least ? T(0) : scaled;
  }
}

/// Sets numbers to zero with a probability and scales the others: the same ones whenever the key is the same.
at::Tensor dropout(const at::Tensor& values, double probability, int64_t key) {
  const at::Tensor given = values.contiguous();
  at::Tensor result = uninitialized(given.sizes(), given.scalar_type());
  const auto least = static_cast<uint32_t>(std::min(std::round(std::ldexp(probability, 32)), std::ldexp(1.0, 32) - 1));
  const int64_t size = given.numel();
  in_format(given.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const T* const from = given.const_data_ptr<T>();
    T* const to = result.data_ptr<T>();
    const T scale = static_cast<T>(1 / (1 - probability));
    for_rows((size + BLOCK - 1) / BLOCK, BLOCK, [&](int64_t begin, int64_t end) {
      vectorized([=]() INLINE_LAMBDA {
        alignas(64) uint32_t words[BLOCK];
        for (int64_t first = begin * BLOCK; first < std::min(end * BLOCK, size); first += BLOCK) {
          draw(first / 4, key, words);
          if (first + BLOCK <= size)
            drop(from + first, words, least, scale, BLOCK, to + first);
          else
            drop(from + first, words, least, scale, size - first, to + first);
        }
      });
    });
  });
  return result;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def("dropout(Tensor values, float probability, int key) -> Tensor", torch::dispatch(at::kCPU, &dropout));
}

}  // namespace recurrent_mt
