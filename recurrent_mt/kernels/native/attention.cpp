#include "attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "functions.h"
#include "memory.h"
#include "recurrence.h"

namespace recurrent_mt {
namespace {

/// The largest 2q or 2k whose exponential is used: the product of two stays finite in float32.
constexpr float LARGEST = 43.0f;

/// Writes e^{2x} and returns whether all of them may be used.
template <typename T>
INLINE bool exponentiate(const T* x, T* out, int64_t size) {
  T largest = 0;
#pragma omp simd reduction(max : largest)
  for (int64_t i = 0; i < size; i++) {
    const T twice = x[i] + x[i];
    largest = std::fabs(twice) > largest ? std::fabs(twice) : largest;
    out[i] = exponential(twice);
  }
  return largest <= T(LARGEST);
}

template <typename T>
INLINE T dot(const T* x, const T* y, int64_t size) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < size; i++) sum += x[i] * y[i];
  return sum;
}

/// What one target reads, as plain pointers: what the loops over its words need.
template <typename T>
struct Source {
  const T *keys, *exponentials, *values, *score;
  const bool* padding;
  int64_t words, key_size, value_size;
  bool exact;  // whether tanh is computed as it is written

  INLINE bool is_padding_alone() const {
    for (int64_t j = 0; j < words; j++)
      if (!padding[j]) return false;
    return true;
  }

  /// The energy of a word, up to a constant that all words share.
  INLINE T energy(const T* query, const T* exp_query, int64_t word) const {
    const T* key = keys + word * key_size;
    if (!score) return dot(query, key, key_size);
    T sum = 0;
    if (exact) {
#pragma omp simd reduction(+ : sum)
      for (int64_t i = 0; i < key_size; i++) sum += score[i] * hyperbolic_tangent(query[i] + key[i]);
      return sum;
    }
    const T* exp_key = exponentials + word * key_size;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < key_size; i++) sum += score[i] / (T(1) + exp_query[i] * exp_key[i]);
    return T(-2) * sum;
  }

  /// The context of a target, four words at a time: a sum is loaded and stored a fourth as often.
  INLINE void context(const T* attention, T* sum) const {
    constexpr int64_t BLOCK = 512;  // columns whose sums stay in the first-level cache
    for (int64_t first = 0; first < value_size; first += BLOCK) {
      const int64_t last = value_size - first < BLOCK ? value_size : first + BLOCK;
      for (int64_t i = first; i < last; i++) sum[i] = 0;
      const T* v = values;
      int64_t j = 0;
      for (; j + 4 <= words; j += 4, v += 4 * value_size) {
        const T *v1 = v + value_size, *v2 = v1 + value_size, *v3 = v2 + value_size, *a = attention + j;
#pragma omp simd
        for (int64_t i = first; i < last; i++) sum[i] += (a[0] * v[i] + a[1] * v1[i]) + (a[2] * v2[i] + a[3] * v3[i]);
      }
      for (; j < words; j++, v += value_size) {
#pragma omp simd
        for (int64_t i = first; i < last; i++) sum[i] += attention[j] * v[i];
      }
    }
  }

  /// The gradient of the energies from that of the context.
  INLINE void energies_backward(const T* attention, const T* grad_context, T* grad) const {
    for (int64_t j = 0; j < words; j++) grad[j] = dot(values + j * value_size, grad_context, value_size);
    softmax_backward(attention, grad, words);
  }

  /// What one word's energy passes on to its key, the query and the score.
  INLINE void energy_backward(const T* query, const T* exp_query, int64_t word, T grad, T* grad_key, T* grad_query,
                              T* grad_score) const {
    const T* key = keys + word * key_size;
    if (!score) {
#pragma omp simd
      for (int64_t i = 0; i < key_size; i++) grad_query[i] += grad * key[i];
    } else if (exact) {
#pragma omp simd
      for (int64_t i = 0; i < key_size; i++) {
        const T tanh = hyperbolic_tangent(query[i] + key[i]), slope = grad * (T(1) - tanh * tanh);
        grad_score[i] += grad * tanh;
        grad_key[i] += slope;
        grad_query[i] += slope;
      }
    } else {
      const T* exp_key = exponentials + word * key_size;
#pragma omp simd
      for (int64_t i = 0; i < key_size; i++) {
        // With u = 1 / (1 + e), tanh is 1 − 2u and its slope 4u (1 − u). All words' ones cancel in the score's sum.
        const T u = T(1) / (T(1) + exp_query[i] * exp_key[i]), part = grad * u, slope = T(4) * (part - part * u);
        grad_score[i] -= part + part;
        grad_key[i] += slope;
        grad_query[i] += slope;
      }
    }
  }
};

}  // namespace

template <typename T>
Memory<T>::Memory(const at::Tensor& keys, const at::Tensor& values, const at::Tensor& padding,
                  const std::optional<at::Tensor>& score, int64_t targets_a_source)
    : keys_(keys), values_(values), padding_(padding), score_(score), words_(keys.size(1)), key_size_(keys.size(2)),
      value_size_(values.size(2)), targets_a_source_(targets_a_source) {
  if (!score) return;
  exponentials_ = uninitialized(keys.sizes(), number_of<T>());
  const auto rows = rows_of<T>(keys), out = rows_of<T>(exponentials_);
  std::vector<char> small(rows.count, true);
  for_rows(rows.count, key_size_, [&](int64_t begin, int64_t end) {
    vectorized([=, size = key_size_, all = small.data(), padded = padding_.const_data_ptr<bool>()]() INLINE_LAMBDA {
      for (int64_t row = begin; row < end; row++) all[row] = exponentiate<T>(rows[row], out[row], size) || padded[row];
    });
  });
  large_keys_ = std::find(small.begin(), small.end(), false) != small.end();
}

template <typename T>
static Source<T> source_of(const at::Tensor& keys, const at::Tensor& exponentials, const at::Tensor& values,
                           const at::Tensor& padding, const std::optional<at::Tensor>& score) {
  return {keys.const_data_ptr<T>(),
          exponentials.defined() ? exponentials.const_data_ptr<T>() : nullptr,
          values.const_data_ptr<T>(),
          score ? score->const_data_ptr<T>() : nullptr,
          padding.const_data_ptr<bool>(),
          keys.size(1),
          keys.size(2),
          values.size(2),
          false};
}

template <typename T>
INLINE Source<T> of_sentence(const Source<T>& all, int64_t sentence) {
  const int64_t first = sentence * all.words;
  Source<T> one = all;
  one.keys += first * all.key_size;
  if (all.exponentials) one.exponentials += first * all.key_size;
  one.values += first * all.value_size;
  one.padding += first;
  return one;
}

template <typename T>
void Memory<T>::weigh(Rows<const T> queries, Rows<T> attention, const int64_t* sources) const {
  const Source<T> all = source_of<T>(keys_, exponentials_, values_, padding_, score_);
  for_rows(queries.count, words_ * key_size_, [&](int64_t begin, int64_t end) {
    std::vector<T> workspace(key_size_);
    vectorized([=, large = large_keys_, beam = targets_a_source_, exp_query = workspace.data()]() INLINE_LAMBDA {
      for (int64_t row = begin; row < end; row++) {
        Source<T> source = of_sentence(all, sources ? sources[row] : row / beam);
        T* const weights = attention[row];
        if (source.is_padding_alone()) {
          for (int64_t j = 0; j < source.words; j++) weights[j] = T(1) / T(source.words);
          continue;
        }
        if (source.score) source.exact = !exponentiate<T>(queries[row], exp_query, source.key_size) || large;
        for (int64_t j = 0; j < source.words; j++)
          weights[j] = source.padding[j] ? T(0) : source.energy(queries[row], exp_query, j);
        softmax(weights, source.padding, source.words);
      }
    });
  });
}

template <typename T>
void Memory<T>::attend(Rows<const T> queries, Rows<T> attention, Rows<T> contexts) const {
  weigh(queries, attention);
  const Source<T> all = source_of<T>(keys_, exponentials_, values_, padding_, score_);
  for_rows(queries.count, words_ * value_size_, [&](int64_t begin, int64_t end) {
    vectorized([=, beam = targets_a_source_]() INLINE_LAMBDA {
      for (int64_t row = begin; row < end; row++) of_sentence(all, row / beam).context(attention[row], contexts[row]);
    });
  });
}

template <typename T>
void Memory<T>::backward(Rows<const T> queries, Rows<const T> attention, Rows<const T> grad_contexts,
                         Rows<T> grad_queries, const Sums& sums) const {
  const Source<T> all = source_of<T>(keys_, exponentials_, values_, padding_, score_);
  const int64_t work = words_ * (2 * key_size_ + value_size_);
  for_rows(queries.count, work, [&](int64_t begin, int64_t end) {
    std::vector<T> workspace(key_size_ + words_);
    vectorized([=, large = large_keys_, exp_query = workspace.data()]() INLINE_LAMBDA {
      for (int64_t row = begin; row < end; row++) {
        Source<T> source = of_sentence(all, row);
        T* const grad_query = grad_queries[row];
        T* const grad_energies = source.score ? exp_query + source.key_size : sums.grad_energies[row];
        for (int64_t i = 0; i < source.key_size; i++) grad_query[i] = 0;
        for (int64_t j = 0; j < source.words; j++) grad_energies[j] = 0;
        if (source.is_padding_alone()) continue;
        source.energies_backward(attention[row], grad_contexts[row], grad_energies);
        T *grad_keys = nullptr, *grad_score = nullptr;
        if (source.score) {
          source.exact = !exponentiate<T>(queries[row], exp_query, source.key_size) || large;
          grad_keys = sums.grad_keys[row * source.words];
          grad_score = sums.grad_scores[row];
        }
        for (int64_t j = 0; j < source.words; j++)
          if (!source.padding[j])
            source.energy_backward(queries[row], exp_query, j, grad_energies[j],
                                   grad_keys ? grad_keys + j * source.key_size : nullptr, grad_query, grad_score);
        if (source.score)
          for (int64_t i = 0; i < source.key_size; i++) grad_query[i] *= source.score[i];
      }
    });
  });
}

template class Memory<float>;
template class Memory<double>;

}  // namespace recurrent_mt
