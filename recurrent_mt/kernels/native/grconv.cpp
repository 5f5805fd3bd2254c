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

std::tuple<Tensor, Tensor, Tensor> grconv_level(const Tensor& below, const Tensor& left, int64_t first,
                                                const Tensor& left_factor, const Tensor& right_factor,
                                                const Tensor& bias, bool is_tanh) {
  const int64_t size = below.size(1), count = left.size(0), width = size + GATES;
  const auto number = below.scalar_type();
  const RightFactor from_left(left_factor, size, width), from_right(right_factor, size, width);
  Tensor candidates = uninitialized({count, size}, number), gates = uninitialized({count, GATES}, number),
         nodes = uninitialized({count, size}, number);
  in_format(number, [&](auto zero) {
    using T = decltype(zero);
    grow<T>(Nodes<T>(below, left, first), from_left, from_right, bias, is_tanh, candidates, gates, nodes);
  });
  return {candidates, gates, nodes};
}

Tensor grconv_merge(const Tensor& below, const Tensor& left, int64_t first, const Tensor& candidates,
                    const Tensor& gates) {
  const int64_t size = below.size(1), count = left.size(0);
  Tensor nodes = uninitialized({count, size}, below.scalar_type());
  in_format(below.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const Nodes<T> level(below, left, first);
    const Rows<const T> candidate = rows_of<T>(candidates), gate = rows_of<T>(gates);
    const auto out = rows_of<T>(nodes);
    for_rows(count, size, [&](int64_t begin, int64_t end) {
      vectorized([=]() INLINE_LAMBDA {
        for (int64_t node = begin; node < end; node++) level.merge(node, candidate[node], gate[node], out[node]);
      });
    });
  });
  return nodes;
}

Tensor grconv_level_backward(const Tensor& grad, const Tensor& below, const Tensor& left, int64_t first,
                             const Tensor& candidates, const Tensor& gates, const Tensor& left_factor,
                             const Tensor& right_factor, bool is_tanh, Tensor sum_left, Tensor sum_right,
                             Tensor sum_bias) {
  const int64_t size = below.size(1), count = left.size(0), width = size + GATES;
  const auto number = below.scalar_type();
  const RightFactor to_left(left_factor, width, size), to_right(right_factor, width, size);
  return in_format(number, [&](auto zero) {
    using T = decltype(zero);
    const Nodes<T> nodes(below, left, first);
    Tensor before = uninitialized({count, width}, number);
    const auto out = rows_of<T>(before);
    const Rows<const T> grads = rows_of<T>(grad), gate = rows_of<T>(gates);
    gradient_before<T>(nodes, grads, rows_of<T>(candidates), gate, is_tanh, out);
    const Tensor left_copy = nodes.copy_left();
    const auto products = left_factor.scalar_type();
    sum_outer_products<T>(out, width, rows_of<T>(left_copy), size, products, sum_left, Into::add);
    sum_outer_products<T>(out, width, nodes.right_rows(), size, products, sum_right, Into::add);
    sum_bias.add_(before.sum(0));
    return gradient_below<T>(nodes, grads, gate, out, to_left, to_right);
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def(
      "grconv_level(Tensor below, Tensor left, int first, Tensor left_factor, Tensor right_factor, Tensor bias, "
      "bool is_tanh) -> (Tensor, Tensor, Tensor)",
      torch::dispatch(at::kCPU, &grconv_level));
  library.def("grconv_merge(Tensor below, Tensor left, int first, Tensor candidates, Tensor gates) -> Tensor",
              torch::dispatch(at::kCPU, &grconv_merge));
  library.def(
      "grconv_level_backward(Tensor grad, Tensor below, Tensor left, int first, Tensor candidates, Tensor gates, "
      "Tensor left_factor, Tensor right_factor, bool is_tanh, Tensor(a!) sum_left, Tensor(b!) sum_right, "
      "Tensor(c!) sum_bias) -> Tensor",
      torch::dispatch(at::kCPU, &grconv_level_backward));
}

}  // namespace recurrent_mt
