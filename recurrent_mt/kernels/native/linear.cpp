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

Tensor linear(const Tensor& rows, const Tensor& weight, const optional<Tensor>& bias, at::ScalarType products) {
  TORCH_CHECK_VALUE(rows.size(1) == weight.size(1), "rows must be as wide as the weight, ", weight.size(1), ", not ",
                    rows.size(1));
  const Tensor factor = rows.contiguous();
  Tensor result = uninitialized({rows.size(0), weight.size(0)}, rows.scalar_type());
  in_format(rows.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    RightFactor(weight.t(), products).multiply<T>(rows_of<T>(factor), rows_of<T>(result), Into::replace);
  });
  return bias ? result.add_(*bias) : result;
}

/// The gradients of rows, weight and bias, undefined where they are not needed.
std::tuple<Tensor, Tensor, Tensor> linear_backward(const Tensor& grad, const Tensor& rows, const Tensor& weight,
                                                   at::ScalarType products, bool needs_rows, bool needs_weight,
                                                   bool needs_bias) {
  const int64_t size = rows.size(1), width = weight.size(0);
  const Tensor grads = grad.contiguous(), factor = rows.contiguous();
  return in_format(rows.scalar_type(), [&](auto zero) -> std::tuple<Tensor, Tensor, Tensor> {
    using T = decltype(zero);
    Tensor grad_rows, grad_weight;
    if (needs_rows) {
      grad_rows = uninitialized({rows.size(0), size}, number_of<T>());
      RightFactor(weight, products).multiply<T>(rows_of<T>(grads), rows_of<T>(grad_rows), Into::replace);
    }
    if (needs_weight)
      grad_weight = sum_of_outer_products<T>(rows_of<T>(grads), width, rows_of<T>(factor), size, products);
    return {grad_rows, grad_weight, needs_bias ? grads.sum(0) : Tensor()};
  });
}

/// A matrix (K, N) as the products of many calls take it.
Tensor right_factor(const Tensor& matrix) { return RightFactor(matrix, matrix.scalar_type()).stored(); }

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def("right_factor(Tensor matrix) -> Tensor", torch::dispatch(at::kCPU, &right_factor));
  library.def("linear(Tensor rows, Tensor weight, Tensor? bias, ScalarType products) -> Tensor",
              torch::dispatch(at::kCPU, &linear));
  library.def(
      "linear_backward(Tensor grad, Tensor rows, Tensor weight, ScalarType products, bool needs_rows, "
      "bool needs_weight, bool needs_bias) -> (Tensor, Tensor, Tensor)",
      torch::dispatch(at::kCPU, &linear_backward));
}

}  // namespace recurrent_mt
