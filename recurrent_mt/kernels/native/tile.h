// Products of a few rows with a narrow panel, in the registers of a processor with AVX2.
#pragma once

#include "product.h"
#include "vectorized.h"

namespace recurrent_mt {

// Twelve of the sixteen registers hold sums; two, the panel's row; one, a number of the rows.
constexpr int64_t TILE_ROWS = 6;
constexpr int64_t TILE_COLUMNS = 16;

using Eight = float __attribute__((vector_size(32), aligned(4), may_alias));

/// Writes or adds the products of COUNT rows with a panel, `inner` rows of TILE_COLUMNS numbers.
template <int COUNT>
INLINE void multiply_tile(const float* rows, int64_t stride, const float* panel, int64_t inner, float* products,
                          int64_t products_stride, bool add) {
  for (int row = 0; row < COUNT; row++) __builtin_prefetch(products + row * products_stride, 1);
  Eight sums[COUNT][2] = {};
  for (int64_t k = 0; k < inner; k++) {
    const Eight* const numbers = reinterpret_cast<const Eight*>(panel + k * TILE_COLUMNS);
    __builtin_prefetch(panel + (inner + k) * TILE_COLUMNS, 0, 2);
    const Eight left = numbers[0], right = numbers[1];
#pragma GCC unroll 6
    for (int row = 0; row < COUNT; row++) {
      sums[row][0] += rows[row * stride + k] * left;
      sums[row][1] += rows[row * stride + k] * right;
    }
  }
#pragma GCC unroll 6
  for (int row = 0; row < COUNT; row++) {
    Eight* const out = reinterpret_cast<Eight*>(products + row * products_stride);
    out[0] = add ? out[0] + sums[row][0] : sums[row][0];
    out[1] = add ? out[1] + sums[row][1] : sums[row][1];
  }
}

/// The same for any number of rows, which are dealt out evenly: a tile of one row keeps the processor waiting.
INLINE void multiply_tiles(Rows<const float> rows, const float* panel, int64_t inner, Rows<float> products, bool add) {
  int64_t tiles = (rows.count + TILE_ROWS - 1) / TILE_ROWS;
  for (int64_t row = 0; row < rows.count; tiles--) {
    const int64_t count = (rows.count - row + tiles - 1) / tiles;
    const auto multiply = [&]<int COUNT>() INLINE_LAMBDA {
      multiply_tile<COUNT>(rows[row], rows.stride, panel, inner, products[row], products.stride, add);
    };
    switch (count) {
      case 1: multiply.template operator()<1>(); break;
      case 2: multiply.template operator()<2>(); break;
      case 3: multiply.template operator()<3>(); break;
      case 4: multiply.template operator()<4>(); break;
      case 5: multiply.template operator()<5>(); break;
      default: multiply.template operator()<6>();
    }
    row += count;
  }
}

}  // namespace recurrent_mt
