// Loops that are compiled for several instruction sets; the processor they run on decides which is used.
//
// A loop is written once, as a lambda:
//
//     vectorized([=]() INLINE_LAMBDA {
//     #pragma omp simd
//       for (int64_t i = 0; i < size; i++) out[i] = sigmoid(in[i]);
//     });
//
// It and all it calls are inlined into one function for each instruction set, and there the compiler vectorizes it.
// Nothing else in the library is compiled for more than the baseline, so no inline function of a header can bring an
// instruction that the processor lacks.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/Version.h>

#include <algorithm>
#include <string>

#define INLINE __attribute__((always_inline)) inline
#define INLINE_LAMBDA __attribute__((always_inline))

namespace recurrent_mt {

enum class InstructionSet { baseline, avx2, avx512 };

/// What torch itself uses here; ATEN_CPU_CAPABILITY=default or avx2 in the environment lowers it.
inline InstructionSet instruction_set() {
  static const InstructionSet found = [] {
    const std::string name = at::get_cpu_capability();
    return name == "AVX512" ? InstructionSet::avx512 : name == "AVX2" ? InstructionSet::avx2 : InstructionSet::baseline;
  }();
  return found;
}

#if defined(__x86_64__)
template <typename Loop>
__attribute__((target("avx2,fma"))) void run_avx2(const Loop& loop) {
  loop();
}

template <typename Loop>
__attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"))) void run_avx512(
    const Loop& loop) {
  loop();
}
#endif

/// Runs the loop, compiled for what the processor has.
template <typename Loop>
void vectorized(const Loop& loop) {
#if defined(__x86_64__)
  if (instruction_set() == InstructionSet::avx512) return run_avx512(loop);
  if (instruction_set() == InstructionSet::avx2) return run_avx2(loop);
#endif
  loop();
}

/// Calls `work(begin, end)` for parts of the rows, on several threads if there are enough numbers.
template <typename Work>
void for_rows(int64_t rows, int64_t numbers_a_row, const Work& work) {
  constexpr int64_t NUMBERS_A_THREAD = 8192;
  at::parallel_for(0, rows, std::max<int64_t>(1, NUMBERS_A_THREAD / std::max<int64_t>(1, numbers_a_row)), work);
}

}  // namespace recurrent_mt
