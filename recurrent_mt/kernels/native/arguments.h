// The checks of what Python passes, and tensors seen as rows.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarTypeToTypeMeta.h>

#include <optional>

#include "product.h"

namespace recurrent_mt {

template <typename T>
constexpr at::ScalarType number_of() {
  return c10::CppTypeToScalarType<T>::value;
}

/// The rows of a contiguous tensor (…, columns).
template <typename T>
Rows<T> rows_of(const at::Tensor& tensor) {
  const int64_t columns = tensor.size(-1);
  return {tensor.data_ptr<T>(), columns ? tensor.numel() / columns : 0, columns};
}

/// The tensor, contiguous, if it is on the CPU and has this shape and number format; otherwise an error that names it.
inline at::Tensor checked(const char* name, const at::Tensor& tensor, at::IntArrayRef sizes, at::ScalarType number) {
  TORCH_CHECK_VALUE(tensor.defined(), name, " must not be missing");
  TORCH_CHECK_VALUE(tensor.device().is_cpu(), name, " must be on the CPU, not on ", tensor.device());
  TORCH_CHECK_VALUE(tensor.sizes() == sizes, name, " must be ", sizes, ", not ", tensor.sizes());
  TORCH_CHECK_VALUE(tensor.scalar_type() == number, name, " must be ", number, ", not ", tensor.scalar_type());
  return tensor.contiguous();
}

inline std::optional<at::Tensor> checked(const char* name, const std::optional<at::Tensor>& tensor,
                                         at::IntArrayRef sizes, at::ScalarType number) {
  if (!tensor) return std::nullopt;
  return checked(name, *tensor, sizes, number);
}

/// What states are multiplied in must be their format or, if that is float32, bfloat16; otherwise, an error names it.
inline void check_products(const char* name, at::ScalarType products, at::ScalarType states) {
  const bool single = states == at::kFloat;
  TORCH_CHECK_VALUE(products == states || (single && products == at::kBFloat16), name, " must be ", states,
                    single ? " or bfloat16" : "", ", not ", products);
}

/// A weight must be a matrix on the CPU in the states' format; otherwise an error that names it.
inline void check_weight(const char* name, const at::Tensor& weight, int64_t rows, int64_t columns,
                         at::ScalarType states) {
  TORCH_CHECK_VALUE(weight.defined(), name, " must not be missing");
  TORCH_CHECK_VALUE(weight.device().is_cpu(), name, " must be on the CPU, not on ", weight.device());
  TORCH_CHECK_VALUE(weight.dim() == 2 && weight.size(0) == rows && weight.size(1) == columns, name, " must be [", rows,
                    ", ", columns, "], not ", weight.sizes());
  TORCH_CHECK_VALUE(weight.scalar_type() == states, name, " must be ", states, ", not ", weight.scalar_type());
}

/// The width of first states (B, H).
inline int64_t width_of(const at::Tensor& initial) {
  TORCH_CHECK_VALUE(initial.dim() == 2, "initial must be (B, H), not ", initial.sizes());
  return initial.size(1);
}

inline void check_counts(at::IntArrayRef counts, int64_t sentences) {
  int64_t before = sentences;
  for (const int64_t count : counts) {
    TORCH_CHECK_VALUE(0 < count && count <= before, "counts must be positive, at most ", sentences,
                      ", and never increase, not ", counts);
    before = count;
  }
  TORCH_CHECK_VALUE(!counts.empty(), "counts must not be empty");
}

/// Calls `function` with a number of the format: float or double.
template <typename Function>
auto in_format(const char* name, at::ScalarType number, const Function& function) {
  TORCH_CHECK_VALUE(number == at::kFloat || number == at::kDouble, name, " must be float32 or float64, not ", number);
  return number == at::kFloat ? function(float()) : function(double());
}

}  // namespace recurrent_mt
