#include "product.h"

#include <ATen/Parallel.h>
#include <ATen/native/CPUBlas.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "arguments.h"
#include "memory.h"
#include "panel.h"
#include "tile.h"
#include "vectorized.h"

namespace recurrent_mt {
namespace {

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
constexpr int64_t LONGEST_PIECE = 512;      // of the inner dimension: 512 numbers of 64 columns are 128 kB
constexpr int64_t PARALLEL_WORK = 1 << 18;  // multiplications worth a thread

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

/// Copies a matrix (inner, columns) with these strides, one of which is 1, to panels.
template <typename Source, typename Number>
void fill_panels(const Source* source, int64_t down, int64_t across, int64_t inner, int64_t columns, Number* panels) {
  const int64_t width = panel_width(number_of<Number>()), depth = padded(inner, std::is_same_v<Number, BFloat16>);
  at::parallel_for(0, divide_up(columns, width), worth_a_thread(16 * inner * width), [&](int64_t begin, int64_t end) {
    for (int64_t column = begin * width; column < std::min(end * width, columns); column += width)
      fill_panel(source + column * across, down, across, inner, std::min(width, columns - column),
                 panels + column * depth);
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
    fill_panels(given.const_data_ptr<decltype(from)>(), given.stride(0), given.stride(1), inner_, columns_,
                stored_.data_ptr<decltype(to)>());
  };
  if (products == at::kFloat)
    fill(float(), float());
  else
    matrix.scalar_type() == at::kFloat ? fill(float(), BFloat16()) : fill(BFloat16(), BFloat16());
}

RightFactor::RightFactor(const Tensor& stored, int64_t inner, int64_t columns)
    : inner_(inner), columns_(columns), across_(panel_width(stored.scalar_type())), stored_(stored) {}

template <typename T>
void RightFactor::assign(Rows<const T> rows, bool is_transposed) {
  across_ = panel_width(number_of<T>());
  inner_ = is_transposed ? rows.stride : rows.count, columns_ = is_transposed ? rows.count : rows.stride;
  if constexpr (std::is_same_v<T, float>)
    if (across_) {
      const int64_t size = inner_ * padded_width(columns_);
      if (!stored_.defined() || stored_.numel() < size) stored_ = uninitialized({size}, at::kFloat);
      fill_panels(rows.data, is_transposed ? 1 : rows.stride, is_transposed ? rows.stride : 1, inner_, columns_,
                  stored_.data_ptr<float>());
      return;
    }
  const Tensor matrix = view(rows, rows.stride);
  stored_ = (is_transposed ? matrix.t() : matrix).clone(at::MemoryFormat::Contiguous);
}

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

template void RightFactor::assign(Rows<const float>, bool);
template void RightFactor::assign(Rows<const double>, bool);
template void sum_outer_products(Rows<const float>, int64_t, Rows<const float>, int64_t, ScalarType, Tensor&, Into);
template void sum_outer_products(Rows<const double>, int64_t, Rows<const double>, int64_t, ScalarType, Tensor&, Into);
template void RightFactor::multiply(Rows<const float>, Rows<float>, Into) const;
template void RightFactor::multiply(Rows<const double>, Rows<double>, Into) const;
template Tensor sum_of_outer_products(Rows<const float>, int64_t, Rows<const float>, int64_t, ScalarType);
template Tensor sum_of_outer_products(Rows<const double>, int64_t, Rows<const double>, int64_t, ScalarType);

}  // namespace recurrent_mt
