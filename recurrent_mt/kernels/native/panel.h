// Panels: the columns of a right factor, copied into the order in which products read them.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/BFloat16.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "tile.h"
#include "vectorized.h"

namespace recurrent_mt {

using at::BFloat16;
using at::ScalarType;

constexpr int64_t STRIPE = 16;  // rows of a right factor that are read at a time, as they lie in memory

inline int64_t divide_up(int64_t number, int64_t by) { return (number + by - 1) / by; }
inline int64_t round_up(int64_t number, int64_t to) { return divide_up(number, to) * to; }

/// Cells of 32 bits in one of the processor's registers: numbers of float32, or pairs of bfloat16.
inline int64_t cells_in_register() { return instruction_set() == InstructionSet::avx512 ? 16 : 8; }

/// Columns of a panel in this format, whole registers of them; 0 if torch multiplies.
inline int64_t panel_width(ScalarType number) {
#if defined(__x86_64__)
  if (instruction_set() == InstructionSet::avx512) {
    if (number == at::kFloat) return 16 * TILE_REGISTERS<16>;
    if (number == at::kBFloat16 && __builtin_cpu_supports("avx512bf16")) return 64;
  }
  if (instruction_set() == InstructionSet::avx2 && number == at::kFloat) return 8 * TILE_REGISTERS<8>;
#endif
  return 0;
}

/// Columns that so many take in a panel: the last register is filled up with zeros.
inline int64_t padded_width(int64_t columns) { return round_up(columns, cells_in_register()); }

/// The inner dimension of a panel: bfloat16 numbers are multiplied in pairs.
inline int64_t padded(int64_t inner, bool pairs) { return pairs ? round_up(inner, 2) : inner; }

/// The number in another format, rounded to the nearest, or the even one of two; NaN stays NaN.
template <typename Number, typename Source>
INLINE Number converted(Source number) {
  if constexpr (std::is_same_v<Number, BFloat16> && std::is_same_v<Source, float>) {
    // BFloat16's own constructor has a branch, which keeps loops from being vectorized.
    const uint32_t bits = std::bit_cast<uint32_t>(number), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return BFloat16(static_cast<uint16_t>(number == number ? rounded : 0x7fc0), BFloat16::from_bits());
  }
  return static_cast<Number>(number);
}

/// The bits of a number in another format.
template <typename Number, typename Source>
INLINE uint32_t bits(Source number) {
  if constexpr (std::is_same_v<Number, BFloat16>)
    return converted<BFloat16>(number).x;
  else
    return std::bit_cast<uint32_t>(converted<float>(number));
}

/// A cell of a panel: a number of float32, or two of bfloat16, the second from the row below.
using Cell = uint32_t __attribute__((may_alias));

/// Cells of one register.
template <int64_t COUNT>
struct Register {
  typedef uint32_t Cells __attribute__((vector_size(COUNT * sizeof(Cell))));
};
template <int64_t COUNT>
using Cells = typename Register<COUNT>::Cells;

template <typename Number, typename Source>
INLINE Cell cell(const Source* upper, const Source* lower) {
  if constexpr (std::is_same_v<Number, BFloat16>) return bits<Number>(*upper) | bits<Number>(*lower) << 16;
  return bits<Number>(*upper);
}

/// Whether the processor's own instruction rounds these numbers, COUNT at a time. Only processors that have it get to
/// panels of bfloat16.
template <typename Number, typename Source, int64_t COUNT>
constexpr bool HAS_INSTRUCTION = std::is_same_v<Number, BFloat16> && std::is_same_v<Source, float> && COUNT == 16;

/// Sixteen numbers rounded to bfloat16 like `converted`, but those too small to be normal become zero.
typedef uint16_t Sixteen __attribute__((vector_size(32)));
INLINE void round(const float* numbers, Sixteen& narrow) {
  asm("vcvtneps2bf16 %1, %0" : "=v"(narrow) : "v"(*reinterpret_cast<const Numbers<16>::Register*>(numbers)));
}

/// Sixteen cells of two rows.
INLINE void round_pairs(const float* upper, const float* lower, Cells<16>& cells) {
  Sixteen above, below;
  round(upper, above);
  round(lower, below);
  cells = __builtin_convertvector(above, Cells<16>) | __builtin_convertvector(below, Cells<16>) << 16;
}

/// Writes a row of cells.
template <typename Number, int64_t COUNT, typename Source>
INLINE void fill_row(const Source* numbers, int64_t down, int64_t width, Cell* row) {
  int64_t column = 0;
  if constexpr (HAS_INSTRUCTION<Number, Source, COUNT>)
    for (; column + COUNT <= width; column += COUNT) {
      Cells<16> cells;
      round_pairs(numbers + column, numbers + down + column, cells);
      std::memcpy(row + column, &cells, sizeof(cells));
    }
#pragma omp simd
  for (int64_t rest = column; rest < width; rest++) row[rest] = cell<Number>(numbers + rest, numbers + down + rest);
}

/// Exchanges the cells of a square that are STEP places apart in their line with those of the line STEP below.
template <int STEP, int64_t COUNT>
INLINE void exchange(Cells<COUNT>* square) {
  Cells<COUNT> upper, lower;
  for (uint32_t i = 0; i < COUNT; i++) {
    upper[i] = i & STEP ? COUNT + i - STEP : i;
    lower[i] = i & STEP ? COUNT + i : i + STEP;
  }
#pragma GCC unroll 16
  for (int i = 0; i < COUNT; i++) {
    if (i & STEP) continue;
    const Cells<COUNT> above = square[i], below = square[i + STEP];
    square[i] = __builtin_shuffle(above, below, upper);
    square[i + STEP] = __builtin_shuffle(above, below, lower);
  }
}

/// The numbers of up to COUNT lines of cells: the upper and the lower ones, each `step` after the one before.
template <int64_t COUNT, typename Source>
struct Lines {
  const Source* upper[COUNT];
  const Source* lower[COUNT];
  int64_t count, step;

  template <typename Number>
  INLINE Cell at(int64_t line, int64_t place) const {
    return cell<Number>(upper[line] + place * step, lower[line] + place * step);
  }
};

/// Writes the first `length` cells of some lines, at most COUNT, as columns: `length` rows, `stride` cells apart.
template <typename Number, int64_t COUNT, typename Source>
INLINE void turn(const Lines<COUNT, Source>& lines, int64_t length, Cell* out, int64_t stride) {
  if (lines.count < COUNT || length < COUNT) {
    for (int64_t line = 0; line < lines.count; line++)
      for (int64_t i = 0; i < length; i++) out[i * stride + line] = lines.template at<Number>(line, i);
    return;
  }
  Cells<COUNT> square[COUNT];
  for (int64_t line = 0; line < COUNT; line++) {
    if constexpr (HAS_INSTRUCTION<Number, Source, COUNT>) {
      if (lines.step == 1) {
        round_pairs(lines.upper[line], lines.lower[line], square[line]);
        continue;
      }
      if (lines.step == 2 && lines.lower[line] == lines.upper[line] + 1) {  // as they lie in memory
        Sixteen both[2];
        round(lines.upper[line], both[0]);
        round(lines.upper[line] + COUNT, both[1]);
        std::memcpy(&square[line], both, sizeof(both));
        continue;
      }
    }
    alignas(sizeof(Cells<COUNT>)) Cell one[COUNT];
#pragma omp simd
    for (int64_t i = 0; i < COUNT; i++) one[i] = lines.template at<Number>(line, i);
    std::memcpy(&square[line], one, sizeof(one));
  }
  exchange<1, COUNT>(square);
  exchange<2, COUNT>(square);
  exchange<4, COUNT>(square);
  if constexpr (COUNT > 8) exchange<8, COUNT>(square);
  for (int64_t row = 0; row < COUNT; row++) std::memcpy(out + row * stride, &square[row], sizeof(square[row]));
}

/// Calls a function, compiled for what the processor has, with `cells_in_register`.
template <typename Function>
void with_cells(const Function& function) {
#if defined(__x86_64__)
  if (instruction_set() == InstructionSet::avx512)
    return run_avx512([=]() INLINE_LAMBDA { function.template operator()<16>(); });
  if (instruction_set() == InstructionSet::avx2)
    return run_avx2([=]() INLINE_LAMBDA { function.template operator()<8>(); });
#endif
  function.template operator()<8>();
}

/// Copies a part (inner, width) of a matrix with these strides, one of which is 1, to a panel, in the panel's format.
template <typename Source, typename Number>
void fill_panel(const Source* source, int64_t down, int64_t across, int64_t inner, int64_t width, Number* panel) {
  constexpr int64_t deep = sizeof(Cell) / sizeof(Number);  // numbers in a cell, one below the other
  const int64_t rows = inner / deep, stride = padded_width(width);
  Cell* const cells = reinterpret_cast<Cell*>(panel);
  with_cells([=]<int64_t COUNT>() INLINE_LAMBDA {
    constexpr int64_t whole = COUNT * TILE_REGISTERS<COUNT>;
    if (across == 1 && width == whole) {  // a width that the compiler knows: no loops
      for (int64_t row = 0; row < rows; row++) {
        __builtin_prefetch(source + (row + STRIPE) * deep * down);
        fill_row<Number, COUNT>(source + row * deep * down, down, whole, cells + row * whole);
      }
      return;
    }
    if (across == 1) {
      for (int64_t row = 0; row < rows; row++)
        fill_row<Number, COUNT>(source + row * deep * down, down, width, cells + row * stride);
      return;
    }
    for (int64_t first = 0; first < width; first += COUNT) {
      Lines<COUNT, Source> columns = {{}, {}, std::min(COUNT, width - first), deep};
      for (int64_t row = 0; row < rows; row += COUNT) {
        for (int64_t column = 0; column < columns.count; column++) {
          columns.upper[column] = source + (first + column) * across + row * deep;
          columns.lower[column] = columns.upper[column] + 1;
        }
        turn<Number>(columns, std::min(COUNT, rows - row), cells + row * stride + first, stride);
      }
    }
  });
  if (inner > rows * deep)  // nothing is below the last row
    for (int64_t column = 0; column < width; column++)
      cells[rows * stride + column] = bits<Number>(source[(inner - 1) * down + column * across]);
  if (width < stride)
    for (int64_t row = 0; row * deep < inner; row++)
      std::fill(cells + row * stride + width, cells + (row + 1) * stride, 0);
}

}  // namespace recurrent_mt
