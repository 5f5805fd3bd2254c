// Memory that is kept from call to call.
#pragma once

#include <ATen/core/Tensor.h>

namespace recurrent_mt {

/// A tensor of numbers not yet set, in memory that the next call gets when the tensor is dropped.
///
/// The system gives out large blocks as new pages, and taking a page often costs more than what is computed in it.
at::Tensor uninitialized(at::IntArrayRef sizes, at::ScalarType number);

/// The same, set to zero.
at::Tensor zeros(at::IntArrayRef sizes, at::ScalarType number);

}  // namespace recurrent_mt
