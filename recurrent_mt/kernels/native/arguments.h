// Tensors that Python passes, seen as rows of numbers.
//
// The functions in recurrent_mt/kernels have checked that shapes fit together; `data_ptr` checks the format of numbers.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarTypeToTypeMeta.h>

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

/// Calls `function` with a number of the format: float or double.
template <typename Function>
auto in_format(at::ScalarType number, const Function& function) {
  return number == at::kFloat ? function(float()) : function(double());
}

}  // namespace recurrent_mt
