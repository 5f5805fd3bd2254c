// The dilated gated recursive convolution: see recurrent_mt/kernels/dilated_grconv.
//
// On a level, the node of word j joins that of word j − d with its own on the level below, d = 1, 2, 4, … The words
// with d others before them come last in packed order. Of the nodes that are new on a level, those of the words before
// the 2d-th never change again, and on the last level none does: they are written to the result at once, and all later
// levels find them there as left children. The others are kept one level above the other, and are, in their order, the
// right children of the next level. So every node is stored once, and right children lie side by side; so do left
// children, but where a sentence ends.
#include <torch/library.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "gated_merge.h"
#include "product.h"
#include "recurrence.h"

namespace recurrent_mt {
namespace {

using at::Tensor;

/// Left children that lie side by side, from row `child` of all nodes on, and their parents, from node `first` on.
struct Run {
  int64_t first, child, count;
};

/// A level: how far apart children are, and what lies where.
struct Level {
  int64_t distance;
  int64_t before;      // rows before the first word that has a new node
  int64_t count;       // new nodes
  int64_t final;       // of these, those that never change again
  int64_t nodes;       // new nodes of the levels below
  int64_t kept;        // of these, kept ones
  int64_t kept_below;  // of the levels below the one below
  std::vector<Run> runs;
};

/// As many as merge all words, but at most `height`, if that is not 0.
std::vector<Level> levels_of(at::IntArrayRef counts, int64_t height) {
  std::vector<int64_t> before{0};
  for (const int64_t count : counts) before.push_back(before.back() + count);
  const int64_t length = counts.size(), rows = before.back();
  std::vector<Level> levels;
  int64_t nodes = 0, kept = 0, kept_below = 0;
  for (int64_t distance = 1; distance < length; distance *= 2) {
    const bool is_last = static_cast<int64_t>(levels.size()) + 1 == height;
    const int64_t start = before[distance], end = before[is_last ? length : std::min(2 * distance, length)];
    Level level{distance, start, rows - start, end - start, nodes, kept, kept_below, {}};
    for (int64_t j = distance; j < length; j++) {
      const int64_t child = before[j - distance];
      Run* const last = level.runs.empty() ? nullptr : &level.runs.back();
      // Those that are final lie elsewhere than the others.
      if (last && last->child + last->count == child && child != start)
        last->count += counts[j];
      else
        level.runs.push_back({before[j] - start, child, counts[j]});
    }
    levels.push_back(std::move(level));
    nodes += rows - start;
    kept_below = kept;
    kept += rows - end;
    if (is_last) break;
  }
  return levels;
}

/// All nodes, as levels see them.
template <typename T>
struct Nodes {
  Rows<T> top;   // (N, H) the last of each word
  Rows<T> kept;  // those that change again, level by level
  Rows<const T> leaves;

  /// The nodes below a level, from the first word on that has a new one: its right children.
  Rows<const T> right(const Level& level) const {
    if (level.distance == 1) return leaves.part(level.before, level.count);
    return Rows<const T>(kept).part(level.kept_below, level.count);
  }
  /// Left children.
  Rows<const T> left(const Level& level, const Run& run) const {
    if (run.child < level.before) return Rows<const T>(top).part(run.child, run.count);
    return right(level).part(run.child - level.before, run.count);
  }
};

/// What is kept of each new node, level by level.
template <typename T>
struct Merged {
  Rows<T> candidates, gates;

  Merged part(const Level& level) const {
    return {candidates.part(level.nodes, level.count), gates.part(level.nodes, level.count)};
  }
};

/// Calls `work(first, last, left)` for nodes `first` to `last` of a run, and the first one's left child.
template <typename T, typename Work>
void for_nodes(const Nodes<T>& nodes, const Level& level, int64_t numbers_a_node, const Work& work) {
  for_rows(level.count, numbers_a_node, [&](int64_t begin, int64_t end) {
    for (const Run& run : level.runs) {
      const int64_t first = std::max(begin, run.first), last = std::min(end, run.first + run.count);
      if (first < last) work(first, last, nodes.left(level, run)[first - run.first]);
    }
  });
}

/// Merges a level's nodes.
template <typename T>
void grow(const Nodes<T>& nodes, const Level& level, const RightFactor& from_left, const RightFactor& from_right,
          const T* bias, Rows<T> products, Rows<T> sums, const Merged<T>& merged) {
  const int64_t size = nodes.top.stride;
  const auto right = nodes.right(level);
  for (const Run& run : level.runs)
    from_left.multiply<T>(nodes.left(level, run), products.part(run.first, run.count), Into::replace);
  from_right.multiply<T>(right, products.part(0, level.count), Into::add);
  for_nodes(nodes, level, products.stride + 2 * size, [&](int64_t first, int64_t last, const T* left_child) {
    const Rows<T> kept = nodes.kept.part(level.kept, level.count - level.final), top = nodes.top;
    vectorized([=, &level]() INLINE_LAMBDA {
      const T* l = left_child;
      for (int64_t node = first; node < last; node++, l += size) {
        T *c = merged.candidates[node], *w = merged.gates[node], *sum = sums[level.before + node];
        T* const out = node < level.final ? top[level.before + node] : kept[node - level.final];
        open_candidate(products[node], bias, size, true, c, w);
        merge_children(l, right[node], c, w, size, out);
#pragma omp simd
        for (int64_t i = 0; i < size; i++) sum[i] += out[i];
      }
    });
  });
}

/// The gradients of all nodes on the way down: of each word's node on the level that was reached.
template <typename T>
struct Gradients {
  Rows<T> nodes;
  Rows<const T> sums;  // that reach every node through the sums, or none
};

/// Writes the gradient (n, H + 3) of what enters candidates and gates, and passes on what needs no product.
///
/// A node's gradient is read before its parent by the left adds to it: its words come before that parent's, and threads
/// share sentences.
template <typename T>
void gradient_before(const Nodes<T>& nodes, const Level& level, at::IntArrayRef counts, const Gradients<T>& grads,
                     const Merged<T>& merged, Rows<T> before) {
  const int64_t size = nodes.top.stride;
  const auto right = nodes.right(level);
  const auto work = [&](int64_t begin, int64_t end) {
    int64_t node = 0, child = 0;
    for (size_t j = level.distance; j < counts.size(); j++) {
      const int64_t first = node + begin, last = node + std::min(end, counts[j]), to = child + begin - first;
      if (first >= last) break;
      const T* const left = nodes.left(level, {node, child, counts[j]})[begin];
      vectorized([=, &level]() INLINE_LAMBDA {
        const T* l = left;
        for (int64_t n = first; n < last; n++, l += size) {
          const T *c = merged.candidates[n], *w = merged.gates[n];
          T *g = grads.nodes[level.before + n], *to_left = grads.nodes[to + n];
          if (grads.sums.data) {
            const T* const sum = grads.sums[level.before + n];
#pragma omp simd
            for (int64_t i = 0; i < size; i++) g[i] += sum[i];
          }
          gradient_before_activation<T>(g, l, right[n], c, w, size, true, before[n]);
          const T of_left = w[1], of_right = w[2];
#pragma omp simd
          for (int64_t i = 0; i < size; i++) {
            to_left[i] += of_left * g[i];
            g[i] *= of_right;
          }
        }
      });
      node += counts[j];
      child += counts[j - level.distance];
    }
  };
  const int64_t numbers = 4 * size * static_cast<int64_t>(counts.size());
  for_rows(counts[level.distance], numbers, work);
}

/// Left children of a level side by side: as they lie, if there are a few runs of many, or else copied.
template <typename T>
void sum_left_products(const Nodes<T>& nodes, const Level& level, Rows<const T> before, at::ScalarType products,
                       Tensor& sums) {
  constexpr int64_t FEW = 128;  // rows, of which an outer product takes so long that it is read and written meanwhile
  const int64_t size = nodes.top.stride, width = before.stride;
  if (level.count >= FEW * static_cast<int64_t>(level.runs.size())) {
    for (const Run& run : level.runs)
      sum_outer_products<T>(before.part(run.first, run.count), width, nodes.left(level, run), size, products, sums,
                            Into::add);
    return;
  }
  Tensor copy = uninitialized({level.count, size}, number_of<T>());
  const auto rows = rows_of<T>(copy);
  for_nodes(nodes, level, size, [&](int64_t first, int64_t last, const T* left) {
    std::memcpy(rows[first], left, (last - first) * size * sizeof(T));
  });
  sum_outer_products<T>(before, width, rows, size, products, sums, Into::add);
}

/// One of the sets of weights, each of which is a level's own; the last one is for all levels above, too.
int64_t own_set(size_t level, int64_t sets) { return std::min(static_cast<int64_t>(level), sets - 1); }

/// Left and right matrices of the levels, as products take them.
class Factors {
 public:
  /// From rows (n, K) to (n, M) by matrices (L, 2, K, M).
  Factors(const Tensor& matrices, at::ScalarType products) : matrices_(matrices), products_(products) {}

  /// Those of a level, left and right: copied when they change.
  const std::pair<RightFactor, RightFactor>& of(size_t level) {
    const int64_t set = own_set(level, matrices_.size(0));
    if (set != set_) {
      const auto factor = [&](int64_t side) { return RightFactor(matrices_[set][side], products_); };
      factors_ = {factor(0), factor(1)};
      set_ = set;
    }
    return factors_;
  }

 private:
  Tensor matrices_;
  at::ScalarType products_;
  int64_t set_ = -1;
  std::pair<RightFactor, RightFactor> factors_;
};

int64_t all_nodes(const std::vector<Level>& levels) {
  return levels.empty() ? 0 : levels.back().nodes + levels.back().count;
}

int64_t all_kept(const std::vector<Level>& levels) {
  return levels.empty() ? 0 : levels.back().kept + levels.back().count - levels.back().final;
}

/// The words that have no node but their leaf.
int64_t first_words(const std::vector<Level>& levels, int64_t rows) { return levels.empty() ? rows : levels[0].before; }

/// The packed rows of sentences' last words: each position's, from the first sentence on that ends there.
template <typename Work>
void for_last_words(at::IntArrayRef counts, const Work& work) {
  int64_t before = 0;
  for (size_t j = 0; j < counts.size(); j++) {
    const int64_t going_on = j + 1 < counts.size() ? counts[j + 1] : 0;
    if (going_on < counts[j]) work(before + going_on, going_on, counts[j] - going_on);
    before += counts[j];
  }
}

/// Top nodes and sums (N, H), those of sentences' last words (B, H), then of all new nodes candidates (M, H), gates
/// (M, 3), and those that are not top.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> dilated_grconv(const Tensor& leaves, const Tensor& matrices,
                                                                          const Tensor& bias, at::IntArrayRef counts,
                                                                          int64_t height, at::ScalarType products) {
  const auto number = leaves.scalar_type();
  const int64_t rows = leaves.size(0), size = leaves.size(1), sets = matrices.size(0), width = size + GATES;
  const Tensor leaf_rows = leaves.contiguous();
  const auto levels = levels_of(counts, height);
  const int64_t most = levels.empty() ? 0 : levels[0].count;
  Tensor top = uninitialized({rows, size}, number), sums = uninitialized({rows, size}, number),
         candidates = uninitialized({all_nodes(levels), size}, number),
         gates = uninitialized({all_nodes(levels), GATES}, number),
         kept = uninitialized({all_kept(levels), size}, number), made = uninitialized({most, width}, number),
         summaries = uninitialized({counts[0], size}, number);
  sums.copy_(leaf_rows);
  const int64_t first = first_words(levels, rows);
  top.narrow(0, 0, first).copy_(leaf_rows.narrow(0, 0, first));
  in_format(number, [&](auto zero) {
    using T = decltype(zero);
    const Nodes<T> nodes{rows_of<T>(top), rows_of<T>(kept), rows_of<T>(leaf_rows)};
    const Merged<T> merged{rows_of<T>(candidates), rows_of<T>(gates)};
    Factors factors(matrices.transpose(2, 3), products);
    for (size_t i = 0; i < levels.size(); i++) {
      const auto& [left, right] = factors.of(i);
      const T* own_bias = bias.const_data_ptr<T>() + own_set(i, sets) * width;
      grow<T>(nodes, levels[i], left, right, own_bias, rows_of<T>(made), rows_of<T>(sums), merged.part(levels[i]));
    }
    const auto last = rows_of<T>(summaries);
    for_last_words(counts, [&](int64_t row, int64_t sentence, int64_t count) {
      std::memcpy(last[sentence], nodes.top[row], count * size * sizeof(T));
    });
  });
  return {top, sums, summaries, candidates, gates, kept};
}

/// The gradients of leaves, matrices and bias.
std::tuple<Tensor, Tensor, Tensor> dilated_grconv_backward(
    const std::optional<Tensor>& grad_nodes, const std::optional<Tensor>& grad_sums,
    const std::optional<Tensor>& grad_summaries, const Tensor& leaves, const Tensor& matrices, const Tensor& bias,
    at::IntArrayRef counts, int64_t height, at::ScalarType products, const Tensor& top, const Tensor& candidates,
    const Tensor& gates, const Tensor& kept) {
  const auto number = leaves.scalar_type();
  const auto levels = levels_of(counts, height);
  const int64_t rows = leaves.size(0), size = leaves.size(1), sets = matrices.size(0), width = size + GATES;
  const Tensor leaf_rows = leaves.contiguous();
  Tensor grad = uninitialized({rows, size}, number), grad_matrices = zeros(matrices.sizes(), number),
         grad_bias = zeros(bias.sizes(), number),
         made = uninitialized({levels.empty() ? 0 : levels[0].count, width}, number);
  grad_nodes ? grad.copy_(*grad_nodes) : grad.zero_();
  const Tensor of_sums = grad_sums ? grad_sums->contiguous() : Tensor();
  const Tensor of_roots = grad_summaries ? grad_summaries->contiguous() : Tensor();
  in_format(number, [&](auto zero) {
    using T = decltype(zero);
    const Nodes<T> nodes{rows_of<T>(top), rows_of<T>(kept), rows_of<T>(leaf_rows)};
    const Merged<T> merged{rows_of<T>(candidates), rows_of<T>(gates)};
    const Gradients<T> grads{rows_of<T>(grad), grad_sums ? rows_of<T>(of_sums) : Rows<const T>{nullptr, 0, size}};
    if (grad_summaries)
      for_last_words(counts, [&](int64_t row, int64_t sentence, int64_t count) {
        add<T>(rows_of<T>(of_roots).part(sentence, count), grads.nodes.part(row, count));
      });
    Factors factors(matrices, products);
    for (size_t i = levels.size(); i-- > 0;) {
      const Level& level = levels[i];
      const auto before = rows_of<T>(made).part(0, level.count);
      gradient_before<T>(nodes, level, counts, grads, merged.part(level), before);
      Tensor of_left = grad_matrices[own_set(i, sets)][0], of_right = grad_matrices[own_set(i, sets)][1];
      sum_left_products<T>(nodes, level, before, products, of_left);
      sum_outer_products<T>(before, width, nodes.right(level), size, products, of_right, Into::add);
      grad_bias[own_set(i, sets)].add_(made.narrow(0, 0, level.count).sum(0));
      const auto& [left, right] = factors.of(i);
      right.multiply<T>(before, grads.nodes.part(level.before, level.count), Into::add);
      for (const Run& run : level.runs)
        left.multiply<T>(before.part(run.first, run.count), grads.nodes.part(run.child, run.count), Into::add);
    }
  });
  if (grad_sums) grad.add_(*grad_sums);
  return {grad, grad_matrices, grad_bias};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def(
      "dilated_grconv(Tensor leaves, Tensor matrices, Tensor bias, int[] counts, int height, ScalarType products) -> "
      "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
      torch::dispatch(at::kCPU, &dilated_grconv));
  library.def(
      "dilated_grconv_backward(Tensor? grad_nodes, Tensor? grad_sums, Tensor? grad_summaries, Tensor leaves, "
      "Tensor matrices, Tensor bias, int[] counts, int height, ScalarType products, Tensor top, Tensor candidates, "
      "Tensor gates, Tensor kept) -> (Tensor, Tensor, Tensor)",
      torch::dispatch(at::kCPU, &dilated_grconv_backward));
}

}  // namespace recurrent_mt
