// Attention of packed targets to their sources' words: scores, softmax and context.
#pragma once

#include <optional>

#include "arguments.h"

namespace recurrent_mt {

/// What packed targets read.
///
/// With a score vector v the energy is v · tanh(q + k); without one it is q · k. The tanh is that of
///
///     tanh(q + k) = 1 − 2 / (1 + e^{2q} e^{2k})
///
/// so that the exponentials of the keys are computed once for all targets. Where a query or a key is so large that an
/// exponential could overflow, tanh is computed as it is written.
template <typename T>
class Memory {
 public:
  /// keys (B, S, A), values (B, S, D), padding (B, S), score (A,).
  Memory(const at::Tensor& keys, const at::Tensor& values, const at::Tensor& padding,
         const std::optional<at::Tensor>& score, int64_t targets_a_source);

  /// Writes the attention (n, S) of queries (n, A). A source of padding alone is read evenly.
  ///
  /// `sources` (n,) says which source each target reads; without it, target i reads source i / targets_a_source.
  void weigh(Rows<const T> queries, Rows<T> attention, const int64_t* sources = nullptr) const;

  /// The same, and contexts (n, D).
  void attend(Rows<const T> queries, Rows<T> attention, Rows<T> contexts) const;

  /// From the gradient of the contexts (n, D), writes that of the queries (n, A), and adds to those of the keys.
  ///
  /// With a score vector, which is missing as a factor in both sums, the keys' gradient is added to `grad_keys` (B, S,
  /// A), and that of the score to the target's row of `grad_scores` (n, A). Without one, the gradient of the energies
  /// is written to `grad_energies` (n, S), from which the keys' follows at the end.
  struct Sums {
    Rows<T> grad_keys;
    Rows<T> grad_scores;
    Rows<T> grad_energies;
  };
  void backward(Rows<const T> queries, Rows<const T> attention, Rows<const T> grad_contexts, Rows<T> grad_queries,
                const Sums& sums) const;

  int64_t key_size() const { return key_size_; }
  int64_t value_size() const { return value_size_; }
  int64_t words() const { return words_; }

 private:
  at::Tensor keys_, values_, padding_, exponentials_;
  std::optional<at::Tensor> score_;
  int64_t words_, key_size_, value_size_, targets_a_source_;
  bool large_keys_ = false;
};

}  // namespace recurrent_mt
