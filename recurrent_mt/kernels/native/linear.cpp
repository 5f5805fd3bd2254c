// Rows times a weight, outside of the recurrences: see recurrent_mt/kernels/linear.py.
#include <torch/library.h>

#include <optional>
#include <tuple>

#include "arguments.h"
#include "memory.h"
#include "product.h"

namespace recurrent_mt {
namespace {

using at::Tensor;
using std::optional;

/// The rows (n, K) that a weight (M, K) multiplies.
Tensor checked_rows(const Tensor& rows, const Tensor& weight, at::ScalarType products) {
  TORCH_CHECK_VALUE(rows.dim() == 2 && weight.dim() == 2, "rows and weight must be matrices, not ", rows.sizes(),
                    " and ", weight.sizes());
  const auto number = rows.scalar_type();
  check_weight("weight", weight, weight.size(0), rows.size(1), number);
  check_products("products", products, number);
  return checked("rows", rows, rows.sizes(), number);
}

/// Room for a product (count, width) of sums over so many numbers. Sums of none are not written.
Tensor room(int64_t count, int64_t width, int64_t terms, at::ScalarType number) {
  return terms ? uninitialized({count, width}, number) : zeros({count, width}, number);
}

Tensor linear(const Tensor& rows, const Tensor& weight, const optional<Tensor>& bias, at::ScalarType products) {
  const Tensor factor = checked_rows(rows, weight, products);
  const int64_t count = rows.size(0), width = weight.size(0);
  const optional<Tensor> biases = checked("bias", bias, {width}, rows.scalar_type());
  Tensor result = room(count, width, rows.size(1), rows.scalar_type());
  in_format("rows", rows.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    RightFactor(weight.t(), products).multiply<T>(rows_of<T>(factor), rows_of<T>(result), Into::replace);
    return 0;
  });
  return biases ? result.add_(*biases) : result;
}

/// The gradients of rows, weight and bias, undefined where they are not needed.
std::tuple<Tensor, Tensor, Tensor> linear_backward(const Tensor& grad, const Tensor& rows, const Tensor& weight,
                                                   at::ScalarType products, bool needs_rows, bool needs_weight,
                                                   bool needs_bias) {
  const Tensor factor = checked_rows(rows, weight, products);
  const int64_t count = rows.size(0), size = rows.size(1), width = weight.size(0);
  const auto number = rows.scalar_type();
  const Tensor grads = checked("grad", grad, {count, width}, number);
  return in_format("rows", number, [&](auto zero) -> std::tuple<Tensor, Tensor, Tensor> {
    using T = decltype(zero);
    Tensor grad_rows, grad_weight;
    if (needs_rows) {
      grad_rows = room(count, size, width, number);
      RightFactor(weight, products).multiply<T>(rows_of<T>(grads), rows_of<T>(grad_rows), Into::replace);
    }
    if (needs_weight)
      grad_weight = sum_of_outer_products<T>(rows_of<T>(grads), width, rows_of<T>(factor), size, products);
    return {grad_rows, grad_weight, needs_bias ? grads.sum(0) : Tensor()};
  });
}

/// A matrix (K, N) as the products of many calls take it.
Tensor right_factor(const Tensor& matrix) {
  TORCH_CHECK_VALUE(matrix.dim() == 2 && matrix.device().is_cpu(), "matrix must be a matrix on the CPU, not ",
                    matrix.sizes());
  return RightFactor(matrix, matrix.scalar_type()).stored();
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def("right_factor(Tensor matrix) -> Tensor");
  library.def("linear(Tensor rows, Tensor weight, Tensor? bias, ScalarType products) -> Tensor");
  library.def(
      "linear_backward(Tensor grad, Tensor rows, Tensor weight, ScalarType products, bool needs_rows, "
      "bool needs_weight, bool needs_bias) -> (Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(recurrent_mt, CPU, library) {
  library.impl("right_factor", &right_factor);
  library.impl("linear", &linear);
  library.impl("linear_backward", &linear_backward);
}

}  // namespace recurrent_mt
