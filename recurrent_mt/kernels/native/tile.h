// Products of a few rows with a narrow panel, in the registers of a processor with AVX2 or AVX-512.
#pragma once

#include "product.h"
#include "vectorized.h"

namespace recurrent_mt {

// Of sixteen registers with AVX2, twelve hold sums, two the panel's row, and one a number of the rows; of thirty-two
// with AVX-512, twenty-four hold sums and four the panel's row.
constexpr int64_t TILE_ROWS = 6;

/// Registers across a panel, by the numbers in one.
template <int64_t LANES>
constexpr int64_t TILE_REGISTERS = LANES == 16 ? 4 : 2;

/// LANES numbers of float32.
template <int64_t LANES>
struct Numbers {
  typedef float Register __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
};

/// Writes or adds the products of ROWS rows with a panel: `inner` rows of whole registers, of which the first `width`
/// columns count.
template <int ROWS, int REGISTERS, int64_t LANES>
INLINE void multiply_tile(const float* rows, int64_t stride, const float* panel, int64_t inner, float* products,
                          int64_t products_stride, int64_t width, bool add) {
  using Register = typename Numbers<LANES>::Register;
  for (int row = 0; row < ROWS; row++) __builtin_prefetch(products + row * products_stride, 1);
  Register sums[ROWS][REGISTERS] = {};
  for (int64_t k = 0; k < inner; k++) {
    const Register* const numbers = reinterpret_cast<const Register*>(panel) + k * REGISTERS;
    Register across[REGISTERS];
#pragma GCC unroll 4
    for (int i = 0; i < REGISTERS; i++) {
      if (i * LANES % 16 == 0) __builtin_prefetch(numbers + inner * REGISTERS + i, 0, 2);  // the next panel's
      across[i] = numbers[i];
    }
#pragma GCC unroll 6
    for (int row = 0; row < ROWS; row++)
#pragma GCC unroll 4
      for (int i = 0; i < REGISTERS; i++) sums[row][i] += rows[row * stride + k] * across[i];
  }
#pragma GCC unroll 6
  for (int row = 0; row < ROWS; row++) {
    float* const out = products + row * products_stride;
#pragma GCC unroll 4
    for (int i = 0; i < REGISTERS; i++) {
      if ((i + 1) * LANES <= width) {
        Register* const whole = reinterpret_cast<Register*>(out) + i;
        *whole = add ? *whole + sums[row][i] : sums[row][i];
      } else {
        for (int64_t column = i * LANES; column < width; column++)
          out[column] = (add ? out[column] : 0.f) + sums[row][i][column - i * LANES];
      }
    }
  }
}

/// The same for any number of rows, which are dealt out evenly: a tile of one row keeps the processor waiting.
template <int REGISTERS, int64_t LANES>
INLINE void multiply_tiles(Rows<const float> rows, const float* panel, int64_t inner, int64_t width,
                           Rows<float> products, bool add) {
  int64_t tiles = (rows.count + TILE_ROWS - 1) / TILE_ROWS;
  for (int64_t row = 0; row < rows.count; tiles--) {
    const int64_t count = (rows.count - row + tiles - 1) / tiles;
    const auto multiply = [&]<int ROWS>() INLINE_LAMBDA {
      multiply_tile<ROWS, REGISTERS, LANES>(rows[row], rows.stride, panel, inner, products[row], products.stride, width,
                                            add);
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

/// The same for a panel of any width up to TILE_REGISTERS registers.
template <int64_t LANES>
INLINE void multiply_by_tiles(Rows<const float> rows, const float* panel, int64_t inner, int64_t width,
                              Rows<float> products, bool add) {
  const auto multiply = [&]<int REGISTERS>() INLINE_LAMBDA {
    multiply_tiles<REGISTERS, LANES>(rows, panel, inner, width, products, add);
  };
  const int64_t registers = (width + LANES - 1) / LANES;
  if (registers == 1) return multiply.template operator()<1>();
  if constexpr (TILE_REGISTERS<LANES> > 2) {
    if (registers == 4) return multiply.template operator()<4>();
    if (registers == 3) return multiply.template operator()<3>();
  }
  multiply.template operator()<2>();
}

}  // namespace recurrent_mt
