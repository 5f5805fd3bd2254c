// Matrix products of a few rows with a matrix that many others are multiplied by, too.
#pragma once

#include <ATen/core/Tensor.h>

namespace recurrent_mt {

/// Rows of numbers, the first number of one `stride` after that of the one before.
template <typename T>
struct Rows {
  T* data;
  int64_t count;
  int64_t stride;

  T* operator[](int64_t row) const { return data + row * stride; }
  Rows part(int64_t first, int64_t number) const { return {data + first * stride, number, stride}; }
  /// The same rows without their first numbers.
  Rows from(int64_t column) const { return {data + column, count, stride}; }
  operator Rows<const T>() const { return {data, count, stride}; }
};

enum class Into { replace, add };

/// The right factor (K, N) of products of rows (n, K), copied once into the order in which they read it.
///
/// Its format, float32, float64 or bfloat16, is that of the multiplied numbers; sums are float32 or float64. Rows are
/// multiplied by panels of columns, which stay in a cache meanwhile. In float32, the kernel for that is ours (tile.h)
/// with AVX2 or AVX-512; with neither, and in float64, products are torch's. In bfloat16, they are oneDNN's where the
/// processor has instructions for them; otherwise, the rounded numbers are multiplied in the format of the sums.
class RightFactor {
 public:
  RightFactor() = default;
  /// In the format `products`: the matrix's own, or bfloat16 of a matrix in float32. Any strides: a transposed view
  /// costs nothing more.
  RightFactor(const at::Tensor& matrix, at::ScalarType products);

  /// One that was stored before, in a tensor that only this class reads.
  RightFactor(const at::Tensor& stored, int64_t inner, int64_t columns);

  /// Copies another matrix (K, N), or one (N, K) that is transposed, in its own format, into the same memory if it is
  /// large enough. Its rows follow each other without a gap.
  template <typename T>
  void assign(Rows<const T> rows, bool is_transposed = false);

  const at::Tensor& stored() const { return stored_; }
  int64_t columns() const { return columns_; }

  /// Writes or adds the products of rows (n, K) to (n, N).
  template <typename T>
  void multiply(Rows<const T> rows, Rows<T> products, Into into) const;

 private:
  int64_t inner_ = 0;
  int64_t columns_ = 0;
  int64_t across_ = 0;  // columns of a panel; 0: a plain matrix
  at::Tensor stored_;
};

/// Writes the sum over rows of left ⊗ right, (n, M) and (n, N), or adds it to sums (M, N): the gradient of a weight.
///
/// The rows are multiplied in the format `products`, and summed in that of the sums, float32 or float64.
template <typename T>
void sum_outer_products(Rows<const T> left, int64_t left_columns, Rows<const T> right, int64_t right_columns,
                        at::ScalarType products, at::Tensor& sums, Into into);

/// The same sum in a matrix of its own.
template <typename T>
at::Tensor sum_of_outer_products(Rows<const T> left, int64_t left_columns, Rows<const T> right, int64_t right_columns,
                                 at::ScalarType products);

}  // namespace recurrent_mt
