// The weights of a recurrence: whole, or products of two narrow matrices, which are never multiplied out.
#pragma once

#include <optional>
#include <utility>

#include "arguments.h"
#include "memory.h"
#include "product.h"

namespace recurrent_mt {

/// One or two right factors, applied in turn.
class Factors {
 public:
  Factors() = default;
  explicit Factors(RightFactor only) : last_(std::move(only)) {}
  Factors(RightFactor first, RightFactor second) : first_(std::move(first)), last_(std::move(second)) {}

  int64_t columns() const { return last_.columns(); }

  /// Writes or adds the products of rows.
  template <typename T>
  void multiply(Rows<const T> rows, Rows<T> products, Into into = Into::replace) const {
    if (!first_) return last_.multiply<T>(rows, products, into);
    at::Tensor between = uninitialized({rows.count, first_->columns()}, number_of<T>());
    const Rows<T> narrow = rows_of<T>(between);
    first_->multiply<T>(rows, narrow, Into::replace);
    last_.multiply<T>(narrow, products, into);
  }

 private:
  std::optional<RightFactor> first_;
  RightFactor last_;
};

/// A weight (M, K), or left (M, R) @ right (R, K), and the format in which it is multiplied.
struct Weight {
  at::Tensor left;
  std::optional<at::Tensor> right;
  at::ScalarType products;

  /// What rows (n, K) are multiplied by to give (n, M).
  Factors forward() const { return right ? Factors(factor(right->t()), factor(left.t())) : Factors(factor(left.t())); }

  /// What gradients (n, M) are multiplied by to give those of the rows (n, K).
  Factors backward() const { return right ? Factors(factor(left), factor(*right)) : Factors(factor(left)); }

  /// The gradients of left and right, undefined if there is none.
  template <typename T>
  std::pair<at::Tensor, at::Tensor> gradients(Rows<const T> grad, Rows<const T> rows) const {
    const int64_t size = left.size(0), inner = left.size(1);
    if (!right) return {sum_of_outer_products<T>(grad, size, rows, inner, products), {}};
    at::Tensor narrow = uninitialized({rows.count, inner}, number_of<T>());
    factor(right->t()).multiply<T>(rows, rows_of<T>(narrow), Into::replace);
    at::Tensor grad_left = sum_of_outer_products<T>(grad, size, rows_of<T>(narrow), inner, products);
    factor(left).multiply<T>(grad, rows_of<T>(narrow), Into::replace);
    return {grad_left, sum_of_outer_products<T>(rows_of<T>(narrow), inner, rows, right->size(1), products)};
  }

 private:
  RightFactor factor(const at::Tensor& matrix) const { return RightFactor(matrix, products); }
};

}  // namespace recurrent_mt
