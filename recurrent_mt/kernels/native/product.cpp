#include "product.h"

#include <ATen/Parallel.h>
#include <ATen/native/CPUBlas.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "arguments.h"
#include "memory.h"
#include "tile.h"
#include "vectorized.h"

namespace recurrent_mt {
namespace {

using at::BFloat16;
using at::ScalarType;
using at::Tensor;
using at::native::cpublas::brgemm;

constexpr int64_t ONEDNN_ROWS = 96;  // that are multiplied by a panel at a time
constexpr int64_t DEPTH = 512;       // rows that are summed over at a time
// oneDNN compiles one kernel for every size it meets and keeps it. So the sizes must be few: whatever the number of
// rows, there are at most ONEDNN_ROWS of them at a time, and where rows are summed over, zeros are added below them, so
// that only a few depths occur.

// Numbers from one turned row to the next: not a power of two, for the cache's sake.
constexpr int64_t LINE = DEPTH + 16;
constexpr int64_t BLOCK = 240;              // rows that stay in the second-level cache while all panels go by
constexpr int64_t STRIPE = 16;              // of the right factors' rows, which are read as they lie in memory
constexpr int64_t LONGEST_PIECE = 512;      // of the inner dimension: 512 numbers of 64 columns are 128 kB
constexpr int64_t PARALLEL_WORK = 1 << 18;  // multiplications worth a thread

int64_t divide_up(int64_t number, int64_t by) { return (number + by - 1) / by; }
int64_t round_up(int64_t number, int64_t to) { return divide_up(number, to) * to; }

/// Cells of 32 bits in one of the processor's registers: numbers of float32, or pairs of bfloat16.
int64_t cells_in_register() { return instruction_set() == InstructionSet::avx512 ? 16 : 8; }

/// Columns of a panel in this format, whole registers of them; 0 if torch multiplies.
int64_t panel_width(ScalarType number) {
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
int64_t padded_width(int64_t columns) { return round_up(columns, cells_in_register()); }

/// The inner dimension of a panel: bfloat16 numbers are multiplied in pairs.
int64_t padded(int64_t inner, bool pairs) { return pairs ? round_up(inner, 2) : inner; }

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

template <typename T>
void copy_rows(Rows<const T> rows, int64_t columns, Rows<BFloat16> narrow) {
  const bool has_instruction = panel_width(at::kBFloat16);
  for_rows(rows.count, columns, [&](int64_t begin, int64_t end) {
    with_cells([=]<int64_t COUNT>() INLINE_LAMBDA {
      for (int64_t row = begin; row < end; row++) {
        const T* from = rows[row];
        BFloat16* to = narrow[row];
        int64_t whole = 0;
        if constexpr (HAS_INSTRUCTION<BFloat16, T, COUNT>)
          for (; has_instruction && whole + 16 <= columns; whole += 16) {
            Sixteen numbers;
            round(from + whole, numbers);
            std::memcpy(to + whole, &numbers, sizeof(numbers));
          }
#pragma omp simd
        for (int64_t k = whole; k < columns; k++) to[k] = converted<BFloat16>(from[k]);
        for (int64_t k = columns; k < narrow.stride; k++) to[k] = BFloat16(0, BFloat16::from_bits());
      }
    });
  });
}

/// Writes rows as columns, each LINE numbers after the one before, with zeros below the last row, down to `depth`.
template <typename Number>
void transpose(Rows<const float> rows, int64_t columns, int64_t depth, Number* out) {
  constexpr int64_t deep = sizeof(Cell) / sizeof(Number);
  static constexpr float nothing[16] = {};
  with_cells([=]<int64_t COUNT>() INLINE_LAMBDA {
    for (int64_t first = 0; first < depth; first += COUNT * deep)
      for (int64_t column = 0; column < columns; column += COUNT) {
        const auto numbers = [=](int64_t row) { return row < rows.count ? rows[row] + column : nothing; };
        Lines<COUNT, float> lines = {{}, {}, COUNT, 1};
        for (int64_t line = 0; line < COUNT; line++) {
          lines.upper[line] = numbers(first + line * deep);
          __builtin_prefetch(lines.upper[line] + COUNT * rows.stride);
          lines.lower[line] = numbers(first + line * deep + deep - 1);
        }
        turn<Number>(lines, std::min(COUNT, columns - column), reinterpret_cast<Cell*>(out + column * LINE + first),
                     LINE / deep);
      }
  });
}

template <typename T>
Tensor view(Rows<T> rows, int64_t columns) {
  using Number = std::remove_const_t<T>;
  return at::from_blob(const_cast<Number*>(rows.data), {rows.count, columns}, {rows.stride, 1},
                       at::TensorOptions().dtype(number_of<Number>()));
}

/// Multiplies rows by one panel of which `inner` numbers of each column count.
template <typename Number>
void multiply_panel(Rows<const Number> rows, const Number* panel, int64_t inner, int64_t width, Rows<float> products,
                    Into into) {
  const int64_t pieces = divide_up(inner, LONGEST_PIECE), longest = round_up(divide_up(inner, pieces), 2);
  const int64_t stride = padded_width(width);
  for (int64_t first = 0; first < inner; first += longest) {
    const int64_t depth = std::min(longest, inner - first);
    const bool adds = first > 0 || into == Into::add;
    if constexpr (std::is_same_v<Number, float>)
      with_cells([=, piece = panel + first * stride]<int64_t COUNT>() INLINE_LAMBDA {
        multiply_by_tiles<COUNT>(rows.from(first), piece, depth, width, products, adds);
      });
    else
      for (int64_t row = 0; row < rows.count; row += ONEDNN_ROWS)
        brgemm(std::min(ONEDNN_ROWS, rows.count - row), width, depth, rows.stride, stride, products.stride, adds,
               rows[row] + first, panel + first * stride, products[row]);
  }
}

/// What a thread does at least, as a number of pieces that need so many multiplications each.
int64_t worth_a_thread(int64_t multiplications) {
  return std::max<int64_t>(1, PARALLEL_WORK / std::max<int64_t>(1, multiplications));
}

template <typename Number>
void multiply_by_panels(const Tensor& stored, int64_t inner, int64_t columns, Rows<const Number> rows,
                        Rows<float> products, Into into) {
  constexpr bool pairs = std::is_same_v<Number, BFloat16>;
  const int64_t across = panel_width(stored.scalar_type()), work = rows.count * inner * across;
  const int64_t block = pairs ? rows.count : BLOCK;
  const Number* numbers = stored.const_data_ptr<Number>();
  at::parallel_for(0, divide_up(columns, across), worth_a_thread(work), [&](int64_t begin, int64_t end) {
    for (int64_t row = 0; row < rows.count; row += block) {
      const int64_t count = std::min(block, rows.count - row);
      for (int64_t column = begin * across; column < std::min(end * across, columns); column += across)
        multiply_panel<Number>(rows.part(row, count), numbers + column * inner, inner,
                               std::min(across, columns - column), products.part(row, count).from(column), into);
    }
    if (pairs) at::native::cpublas::brgemm_release();
  });
}

/// Sums the outer products of rows that are multiplied in a format that has panels.
template <typename Number>
void sum_by_panels(Rows<const float> left, int64_t left_columns, Rows<const float> right, int64_t right_columns,
                   Tensor& sums, Into into) {
  constexpr bool pairs = std::is_same_v<Number, BFloat16>;
  const auto number = number_of<Number>();
  const int64_t across = panel_width(number);
  const int64_t slices = divide_up(left.count, DEPTH), most = divide_up(left.count, slices);
  const int64_t step = !pairs ? 1 : most > 128 ? 64 : 16, depth = round_up(most, step);
  const auto slice_of = [=](Rows<const float> rows, int64_t slice) {
    return rows.part(slice * depth, std::min(depth, rows.count - slice * depth));
  };

  Tensor packed = uninitialized({slices * depth * padded_width(right_columns)}, number);
  Number* const panels = packed.data_ptr<Number>();
  const auto panel_of = [=](int64_t slice, int64_t column) {
    return panels + slices * depth * column + slice * depth * padded_width(std::min(across, right_columns - column));
  };
  const int64_t filling = 16 * left.count * across;
  at::parallel_for(0, divide_up(right_columns, across), worth_a_thread(filling), [&](int64_t begin, int64_t end) {
    for (int64_t slice = 0; slice < slices; slice++) {
      const auto rows = slice_of(right, slice);
      for (int64_t row = 0; row < rows.count; row += STRIPE)
        for (int64_t column = begin * across; column < std::min(end * across, right_columns); column += across) {
          const int64_t count = std::min(STRIPE, rows.count - row), width = std::min(across, right_columns - column);
          fill_panel(rows[row] + column, rows.stride, 1, count, width,
                     panel_of(slice, column) + row * padded_width(width));
        }
      for (int64_t column = begin * across; column < std::min(end * across, right_columns); column += across) {
        const int64_t width = padded_width(std::min(across, right_columns - column));
        Number* const panel = panel_of(slice, column);
        std::fill(panel + padded(rows.count, pairs) * width, panel + round_up(rows.count, step) * width, Number(0));
      }
    }
  });

  const int64_t blocks = round_up(divide_up(left_columns, BLOCK), at::get_num_threads());
  const int64_t height = round_up(divide_up(left_columns, blocks), 16);
  const int64_t work = left.count * right_columns * height;
  float* const out = sums.data_ptr<float>();
  at::parallel_for(0, divide_up(left_columns, height), worth_a_thread(work), [&](int64_t begin, int64_t end) {
    Tensor transposed = uninitialized({height * LINE}, number);
    Number* const turned = transposed.data_ptr<Number>();
    for (int64_t row = begin * height; row < std::min(end * height, left_columns); row += height) {
      const int64_t count = std::min(height, left_columns - row);
      for (int64_t slice = 0; slice < slices; slice++) {
        const auto rows = slice_of(left, slice).from(row);
        const int64_t inner = round_up(rows.count, step);
        transpose(rows, count, inner, turned);
        for (int64_t column = 0; column < right_columns; column += across) {
          const int64_t width = std::min(across, right_columns - column);
          multiply_panel<Number>({turned, count, LINE}, panel_of(slice, column), inner, width,
                                 {out + row * right_columns + column, count, right_columns}, slice ? Into::add : into);
        }
      }
    }
    if (pairs) at::native::cpublas::brgemm_release();
  });
}

}  // namespace

RightFactor::RightFactor(const Tensor& matrix, ScalarType products)
    : inner_(matrix.size(0)), columns_(matrix.size(1)), across_(panel_width(products)) {
  if (!across_) {
    stored_ = matrix.to(products).contiguous();
    return;
  }
  const int64_t depth = padded(inner_, products == at::kBFloat16);
  stored_ = uninitialized({depth * padded_width(columns_)}, products);
  const Tensor given = matrix.stride(0) == 1 || matrix.stride(1) == 1 ? matrix : matrix.contiguous();
  const auto fill = [&](auto from, auto to) {
    using Number = decltype(to);
    const auto* source = given.const_data_ptr<decltype(from)>();
    Number* panels = stored_.data_ptr<Number>();
    const int64_t work = 16 * inner_ * across_;
    at::parallel_for(0, divide_up(columns_, across_), worth_a_thread(work), [&](int64_t begin, int64_t end) {
      for (int64_t column = begin * across_; column < std::min(end * across_, columns_); column += across_)
        fill_panel(source + column * given.stride(1), given.stride(0), given.stride(1), inner_,
                   std::min(across_, columns_ - column), panels + column * depth);
    });
  };
  if (products == at::kFloat)
    fill(float(), float());
  else
    matrix.scalar_type() == at::kFloat ? fill(float(), BFloat16()) : fill(BFloat16(), BFloat16());
}

RightFactor::RightFactor(const Tensor& stored, int64_t inner, int64_t columns)
    : inner_(inner), columns_(columns), across_(panel_width(stored.scalar_type())), stored_(stored) {}

template <typename T>
void RightFactor::multiply(Rows<const T> rows, Rows<T> products, Into into) const {
  const bool narrow = stored_.scalar_type() == at::kBFloat16;
  if constexpr (std::is_same_v<T, float>)
    if (across_ && !narrow) return multiply_by_panels<float>(stored_, inner_, columns_, rows, products, into);
  if (!narrow) {
    Tensor out = view(products, columns_);
    if (into == Into::add)
      out.addmm_(view(rows, inner_), stored_);
    else
      at::mm_out(out, view(rows, inner_), stored_);
    return;
  }
  const int64_t depth = padded(inner_, across_ > 0);
  Tensor numbers = uninitialized({rows.count, depth}, at::kBFloat16);
  const Rows<BFloat16> copies{numbers.data_ptr<BFloat16>(), rows.count, depth};
  copy_rows<T>(rows, inner_, copies);
  if constexpr (std::is_same_v<T, float>)
    if (across_) return multiply_by_panels<BFloat16>(stored_, depth, columns_, copies, products, into);
  // Without instructions for it, torch is slow in this format, and rounds the sums to it.
  Tensor out = view(products, columns_);
  const Tensor made = at::mm(numbers.to(out.scalar_type()), stored_.to(out.scalar_type()));
  into == Into::add ? out.add_(made) : out.copy_(made);
}

template <typename T>
void sum_outer_products(Rows<const T> left, int64_t left_columns, Rows<const T> right, int64_t right_columns,
                        ScalarType products, Tensor& sums, Into into) {
  if constexpr (std::is_same_v<T, float>) {
    if (panel_width(products) && products == at::kFloat)
      return sum_by_panels<float>(left, left_columns, right, right_columns, sums, into);
    if (panel_width(products)) return sum_by_panels<BFloat16>(left, left_columns, right, right_columns, sums, into);
  }
  const auto rounded = [&](const Tensor& rows) { return rows.to(products).to(sums.scalar_type()); };
  const Tensor factor = rounded(view(left, left_columns)), rows = rounded(view(right, right_columns));
  if constexpr (std::is_same_v<T, float>)
    if (panel_width(at::kFloat))
      return sum_by_panels<float>(rows_of<T>(factor), left_columns, rows_of<T>(rows), right_columns, sums, into);
  into == Into::add ? sums.addmm_(factor.t(), rows) : at::mm_out(sums, factor.t(), rows);
}

template <typename T>
Tensor sum_of_outer_products(Rows<const T> left, int64_t left_columns, Rows<const T> right, int64_t right_columns,
                             ScalarType products) {
  Tensor sums = uninitialized({left_columns, right_columns}, number_of<T>());
  sum_outer_products<T>(left, left_columns, right, right_columns, products, sums, Into::replace);
  return sums;
}

template void sum_outer_products(Rows<const float>, int64_t, Rows<const float>, int64_t, ScalarType, Tensor&, Into);
template void sum_outer_products(Rows<const double>, int64_t, Rows<const double>, int64_t, ScalarType, Tensor&, Into);
template void RightFactor::multiply(Rows<const float>, Rows<float>, Into) const;
template void RightFactor::multiply(Rows<const double>, Rows<double>, Into) const;
template Tensor sum_of_outer_products(Rows<const float>, int64_t, Rows<const float>, int64_t, ScalarType);
template Tensor sum_of_outer_products(Rows<const double>, int64_t, Rows<const double>, int64_t, ScalarType);

}  // namespace recurrent_mt
