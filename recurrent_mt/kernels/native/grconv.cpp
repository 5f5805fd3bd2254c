// One level of the gated recursive convolution: see Level in recurrent_mt/kernels/grconv_level.py.
//
// Node n of a level has row left[n] of the level below as its left child and row n + first as its right child, where
// `first` is how many nodes the first position below has.
#include <torch/library.h>

#include <algorithm>
#include <tuple>

#include "gated_merge.h"
#include "product.h"
#include "recurrence.h"

namespace recurrent_mt {
namespace {

using at::Tensor;

/// The nodes of a level and their children, as the loops see them.
template <typename T>
struct Nodes {
  Rows<const T> below;
  const int64_t* left_rows;
  int64_t first, count, size;

  Nodes(const Tensor& rows_below, const Tensor& left, int64_t first_right)
      : below(rows_of<T>(rows_below)), left_rows(left.const_data_ptr<int64_t>()), first(first_right),
        count(left.size(0)), size(rows_below.size(1)) {}

  INLINE const T* left(int64_t node) const { return below[left_rows[node]]; }
  INLINE const T* right(int64_t node) const { return below[node + first]; }
  Rows<const T> right_rows() const { return below.part(first, count); }

  /// A copy of the left children, which are not side by side.
  Tensor copy_left() const {
    Tensor copy = uninitialized({count, size}, number_of<T>());
    const auto out = rows_of<T>(copy);
    for_rows(count, size, [&](int64_t begin, int64_t end) {
      for (int64_t node = begin; node < end; node++) std::memcpy(out[node], left(node), size * sizeof(T));
    });
    return copy;
  }

  INLINE void merge(int64_t node, const T* candidate, const T* gates, T* out) const {
    merge_children(left(node), right(node), candidate, gates, size, out);
  }
};

template <typename T>
void grow(const Nodes<T>& nodes, const RightFactor& left, const RightFactor& right, const Tensor& bias, bool is_tanh,
          Tensor& candidates, Tensor& gates, Tensor& out) {
  const int64_t size = nodes.size, width = bias.size(0);
  Tensor before = uninitialized({nodes.count, width}, number_of<T>());
  const Tensor left_copy = nodes.copy_left();
  const auto sums = rows_of<T>(before), candidate = rows_of<T>(candidates), merged = rows_of<T>(out);
  const auto gate = rows_of<T>(gates);
  left.multiply<T>(rows_of<T>(left_copy), sums, Into::replace);
  right.multiply<T>(nodes.right_rows(), sums, Into::add);
  for_rows(nodes.count, width + size, [&](int64_t begin, int64_t end) {
    vectorized([=, b = bias.const_data_ptr<T>()]() INLINE_LAMBDA {
      for (int64_t node = begin; node < end; node++) {
        T* const c = candidate[node];
        open_candidate(sums[node], b, size, is_tanh, c, gate[node]);
        nodes.merge(node, c, gate[node], merged[node]);
      }
    });
  });
}

/// Writes the gradient (n, H + 3) of what enters candidate and gates.
template <typename T>
void gradient_before(const Nodes<T>& nodes, Rows<const T> grad, Rows<const T> candidate, Rows<const T> gates,
                     bool is_tanh, Rows<T> before) {
  for_rows(nodes.count, 4 * nodes.size, [&](int64_t begin, int64_t end) {
    vectorized([=]() INLINE_LAMBDA {
      for (int64_t node = begin; node < end; node++)
        gradient_before_activation(grad[node], nodes.left(node), nodes.right(node), candidate[node], gates[node],
                                   nodes.size, is_tanh, before[node]);
    });
  });
}

/// Writes the gradient times one of the three gates (n, H).
template <typename T>
void gated(Rows<const T> grad, Rows<const T> gates, int64_t which, int64_t size, Rows<T> out) {
  for_rows(grad.count, size, [&](int64_t begin, int64_t end) {
    vectorized([=]() INLINE_LAMBDA {
      for (int64_t node = begin; node < end; node++) {
        const T* g = grad[node];
        const T scale = gates[node][which];
        T* x = out[node];
#pragma omp simd
        for (int64_t i = 0; i < size; i++) x[i] = g[i] * scale;
      }
    });
  });
}

template <typename T>
Tensor gradient_below(const Nodes<T>& nodes, Rows<const T> grad, Rows<const T> gates, Rows<const T> before,
                      const RightFactor& left, const RightFactor& right) {
  const int64_t size = nodes.size;
  Tensor below = uninitialized({nodes.below.count, size}, number_of<T>()),
         through_left = uninitialized({nodes.count, size}, number_of<T>());
  const auto out = rows_of<T>(below), to_left = rows_of<T>(through_left);
  std::fill_n(out.data, nodes.first * size, T(0));
  gated<T>(grad, gates, 2, size, out.part(nodes.first, nodes.count));
  right.multiply<T>(before, out.part(nodes.first, nodes.count), Into::add);
  gated<T>(grad, gates, 1, size, to_left);
  left.multiply<T>(before, to_left, Into::add);
  // No two nodes have the same left child.
  for_rows(nodes.count, size, [&](int64_t begin, int64_t end) {
    vectorized([=]() INLINE_LAMBDA {
      for (int64_t node = begin; node < end; node++) {
        const T* x = to_left[node];
        T* sum = out[nodes.left_rows[node]];
#pragma omp simd
        for (int64_t i = 0; i < size; i++) sum[i] += x[i];
      }
    });
  });
  return below;
}

/// Checks where the nodes of a level find their children.
void check_children(const Tensor& below, const Tensor& left, int64_t first) {
  TORCH_CHECK_VALUE(below.dim() == 2 && below.is_contiguous() && below.device().is_cpu(),
                    "below must be a contiguous matrix on the CPU, not ", below.sizes());
  TORCH_CHECK_VALUE(left.dim() == 1 && left.scalar_type() == at::kLong && left.is_contiguous(),
                    "left must be contiguous row numbers, not ", left.sizes(), " of ", left.scalar_type());
  TORCH_CHECK_VALUE(first >= 0 && first <= below.size(0) && left.size(0) == below.size(0) - first, "below must have ",
                    first, " + ", left.size(0), " rows, those of right children last, not ", below.size(0));
  const int64_t* rows = left.const_data_ptr<int64_t>();
  TORCH_CHECK_VALUE(
      std::all_of(rows, rows + left.size(0), [&](int64_t row) { return 0 <= row && row < below.size(0); }),
      "left must be rows of below, from 0 to ", below.size(0) - 1);
}

std::tuple<Tensor, Tensor, Tensor> grconv_level(const Tensor& below, const Tensor& left, int64_t first,
                                                const Tensor& left_factor, const Tensor& right_factor,
                                                const Tensor& bias, bool is_tanh) {
  check_children(below, left, first);
  const int64_t size = below.size(1), count = left.size(0), width = size + GATES;
  const auto number = below.scalar_type();
  const Tensor biases = checked("bias", bias, {width}, number);
  const RightFactor from_left("left_factor", left_factor, size, width, number),
      from_right("right_factor", right_factor, size, width, number);
  Tensor candidates = uninitialized({count, size}, number), gates = uninitialized({count, GATES}, number),
         nodes = uninitialized({count, size}, number);
  in_format("below", number, [&](auto zero) {
    using T = decltype(zero);
    grow<T>(Nodes<T>(below, left, first), from_left, from_right, biases, is_tanh, candidates, gates, nodes);
    return 0;
  });
  return {candidates, gates, nodes};
}

Tensor grconv_merge(const Tensor& below, const Tensor& left, int64_t first, const Tensor& candidates,
                    const Tensor& gates) {
  check_children(below, left, first);
  const int64_t size = below.size(1), count = left.size(0);
  const auto number = below.scalar_type();
  const Tensor candidate_rows = checked("candidates", candidates, {count, size}, number),
               gate_rows = checked("gates", gates, {count, GATES}, number);
  Tensor nodes = uninitialized({count, size}, number);
  in_format("below", number, [&](auto zero) {
    using T = decltype(zero);
    const Nodes<T> level(below, left, first);
    const Rows<const T> candidate = rows_of<T>(candidate_rows), gate = rows_of<T>(gate_rows);
    const auto out = rows_of<T>(nodes);
    for_rows(count, size, [&](int64_t begin, int64_t end) {
      vectorized([=]() INLINE_LAMBDA {
        for (int64_t node = begin; node < end; node++) level.merge(node, candidate[node], gate[node], out[node]);
      });
    });
    return 0;
  });
  return nodes;
}

Tensor grconv_level_backward(const Tensor& grad, const Tensor& below, const Tensor& left, int64_t first,
                             const Tensor& candidates, const Tensor& gates, const Tensor& left_factor,
                             const Tensor& right_factor, bool is_tanh, Tensor sum_left, Tensor sum_right,
                             Tensor sum_bias) {
  check_children(below, left, first);
  const int64_t size = below.size(1), count = left.size(0), width = size + GATES;
  const auto number = below.scalar_type();
  const Tensor grad_rows = checked("grad", grad, {count, size}, number),
               candidate_rows = checked("candidates", candidates, {count, size}, number),
               gate_rows = checked("gates", gates, {count, GATES}, number);
  checked("sum_left", sum_left, {width, size}, number);
  checked("sum_right", sum_right, {width, size}, number);
  checked("sum_bias", sum_bias, {width}, number);
  TORCH_CHECK_VALUE(sum_left.is_contiguous() && sum_right.is_contiguous(), "sum_left and sum_right must be contiguous");
  const RightFactor to_left("left_factor", left_factor, width, size, number),
      to_right("right_factor", right_factor, width, size, number);
  return in_format("below", number, [&](auto zero) {
    using T = decltype(zero);
    const Nodes<T> nodes(below, left, first);
    Tensor before = uninitialized({count, width}, number);
    const auto out = rows_of<T>(before);
    const Rows<const T> gate = rows_of<T>(gate_rows);
    gradient_before<T>(nodes, rows_of<T>(grad_rows), rows_of<T>(candidate_rows), gate, is_tanh, out);
    const Tensor left_copy = nodes.copy_left();
    const auto products = left_factor.scalar_type();
    sum_outer_products<T>(out, width, rows_of<T>(left_copy), size, products, sum_left, Into::add);
    sum_outer_products<T>(out, width, nodes.right_rows(), size, products, sum_right, Into::add);
    sum_bias.add_(before.sum(0));
    return gradient_below<T>(nodes, rows_of<T>(grad_rows), gate, out, to_left, to_right);
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def(
      "grconv_level(Tensor below, Tensor left, int first, Tensor left_factor, Tensor right_factor, Tensor bias, "
      "bool is_tanh) -> (Tensor, Tensor, Tensor)");
  library.def("grconv_merge(Tensor below, Tensor left, int first, Tensor candidates, Tensor gates) -> Tensor");
  library.def(
      "grconv_level_backward(Tensor grad, Tensor below, Tensor left, int first, Tensor candidates, Tensor gates, "
      "Tensor left_factor, Tensor right_factor, bool is_tanh, Tensor(a!) sum_left, Tensor(b!) sum_right, "
      "Tensor(c!) sum_bias) -> Tensor");
}

TORCH_LIBRARY_IMPL(recurrent_mt, CPU, library) {
  library.impl("grconv_level", &grconv_level);
  library.impl("grconv_merge", &grconv_merge);
  library.impl("grconv_level_backward", &grconv_level_backward);
}

}  // namespace recurrent_mt
