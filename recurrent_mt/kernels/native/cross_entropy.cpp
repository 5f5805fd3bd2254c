// The output layer and its cross-entropy: see recurrent_mt/kernels/cross_entropy.py.
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "functions.h"
#include "product.h"
#include "recurrence.h"

namespace recurrent_mt {
namespace {

using at::Tensor;
using std::optional;

/// How many rows are scored at once: few enough for their scores to be small beside everything else in a batch.
constexpr int64_t ROWS = 256;

/// How probable every other word is to be, and how much more so the target: 0 and 1 without label smoothing.
template <typename T>
struct Labels {
  T others, target_beyond_others;

  Labels(double smoothing, int64_t vocabulary)
      : others(smoothing ? smoothing / (vocabulary - 1) : 0),
        target_beyond_others(smoothing ? 1 - smoothing - smoothing / (vocabulary - 1) : 1) {}
};

/// The loss of a row; −log p of its target, which is the same without label smoothing; and score − log p of any word.
template <typename T>
struct Loss {
  T smoothed, of_target;
};

/// Turns the scores of a row into the gradient of its loss, softmax − labels, and returns the loss.
template <typename T>
INLINE Loss<T> loss_and_gradient(T* scores, const T* bias, int64_t vocabulary, int64_t target, Labels<T> labels) {
  double sum = 0, sum_of_scores = 0;
  if (bias) {
#pragma omp simd
    for (int64_t word = 0; word < vocabulary; word++) scores[word] += bias[word];
  }
  const T largest = largest_of(scores, vocabulary);
  const T score = scores[target] - largest;
  for (int64_t first = 0; first < vocabulary; first += TERMS) {
    const int64_t last = first + TERMS < vocabulary ? first + TERMS : vocabulary;
    T part = 0, part_of_scores = 0;
#pragma omp simd reduction(+ : part, part_of_scores)
    for (int64_t word = first; word < last; word++) {
      part_of_scores += scores[word] - largest;
      scores[word] = exponential(scores[word] - largest);
      part += scores[word];
    }
    sum += part;
    sum_of_scores += part_of_scores;
  }
  const T scale = static_cast<T>(1 / sum);
#pragma omp simd
  for (int64_t word = 0; word < vocabulary; word++) scores[word] = scores[word] * scale - labels.others;
  scores[target] -= labels.target_beyond_others;
  const T of_target = static_cast<T>(std::log(sum)) - score;
  // Without label smoothing, a word that is impossible, whose score is −∞, does not count.
  if (labels.others == 0) return {of_target, of_target};
  const T of_all = static_cast<T>(vocabulary * std::log(sum) - sum_of_scores);
  return {labels.target_beyond_others * of_target + labels.others * of_all, of_target};
}

/// What is computed besides the loss; undefined where it is not needed.
struct Gradients {
  Tensor features, weight, bias;
};

/// The losses of all rows, the smoothed and the target's, and the gradients of the former.
template <typename T>
std::tuple<Tensor, Tensor> run(const Tensor& features, const Tensor& weight, const optional<Tensor>& bias,
                               const Tensor& target, Labels<T> labels, at::ScalarType products, Gradients& grads) {
  const int64_t rows = features.size(0), size = features.size(1), vocabulary = weight.size(0);
  const RightFactor forward(weight.t(), products),
      backward = grads.features.defined() ? RightFactor(weight, products) : RightFactor();
  Tensor scores = uninitialized({std::min(rows, ROWS), vocabulary}, number_of<T>()),
         smoothed = uninitialized({rows}, number_of<T>()), of_targets = uninitialized({rows}, number_of<T>());
  const int64_t* const words = target.const_data_ptr<int64_t>();
  T *const loss = smoothed.data_ptr<T>(), *const of_target = of_targets.data_ptr<T>();
  for (int64_t first = 0; first < rows; first += ROWS) {
    const int64_t count = std::min(ROWS, rows - first);
    const auto some = rows_of<T>(features).part(first, count), grad = rows_of<T>(scores).part(0, count);
    forward.multiply<T>(some, grad, Into::replace);
    for_rows(count, vocabulary, [&](int64_t begin, int64_t end) {
      vectorized([=, added = bias ? bias->const_data_ptr<T>() : nullptr]() INLINE_LAMBDA {
        for (int64_t row = begin; row < end; row++) {
          const auto found = loss_and_gradient<T>(grad[row], added, vocabulary, words[first + row], labels);
          loss[first + row] = found.smoothed;
          of_target[first + row] = found.of_target;
        }
      });
    });
    if (grads.features.defined())
      backward.multiply<T>(grad, rows_of<T>(grads.features).part(first, count), Into::replace);
    if (grads.weight.defined())
      sum_outer_products<T>(grad, vocabulary, some, size, products, grads.weight, first ? Into::add : Into::replace);
    if (grads.bias.defined()) grads.bias.add_(scores.narrow(0, 0, count).sum(0));
  }
  return {smoothed.sum(), of_targets.sum()};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> cross_entropy(const Tensor& features, const Tensor& weight,
                                                                 const optional<Tensor>& bias, const Tensor& target,
                                                                 double label_smoothing, at::ScalarType products,
                                                                 bool needs_features, bool needs_weight,
                                                                 bool needs_bias) {
  const auto number = features.scalar_type();
  const int64_t rows = features.size(0), size = features.size(1), vocabulary = weight.size(0);
  const Tensor words = target.contiguous();
  if (rows) {
    const auto [least, most] = words.aminmax();
    TORCH_CHECK_VALUE(least.item<int64_t>() >= 0 && most.item<int64_t>() < vocabulary, "target must be from 0 to ",
                      vocabulary - 1, ", not ", least.item<int64_t>(), " to ", most.item<int64_t>());
  }
  Gradients grads{needs_features ? uninitialized({rows, size}, number) : Tensor(),
                  !needs_weight ? Tensor()
                  : rows        ? uninitialized({vocabulary, size}, number)
                                : zeros({vocabulary, size}, number),
                  needs_bias ? zeros({vocabulary}, number) : Tensor()};
  const auto [loss, total] = in_format(number, [&](auto zero) {
    using T = decltype(zero);
    return run<T>(features.contiguous(), weight, bias, words, Labels<T>(label_smoothing, vocabulary), products, grads);
  });
  return {loss, total, grads.features, grads.weight, grads.bias};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def(
      "cross_entropy(Tensor features, Tensor weight, Tensor? bias, Tensor target, float label_smoothing, ScalarType "
      "products, bool needs_features, bool needs_weight, bool needs_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
      torch::dispatch(at::kCPU, &cross_entropy));
}

}  // namespace recurrent_mt
