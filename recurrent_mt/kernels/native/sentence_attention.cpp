// Attention by dot products for whole sentences, whose queries are all known beforehand.
//
// A sentence's energies, contexts, and gradients are a product each, of its rows and its source's words alone, without
// the padding before and after them. Padding between two words weighs nothing.
#include <torch/library.h>

#include <cstring>
#include <tuple>
#include <vector>

#include "functions.h"
#include "memory.h"
#include "recurrence.h"

namespace recurrent_mt {
namespace {

using at::Tensor;

/// A sentence: which packed rows its queries are, and which words of its source they read.
struct Sentence {
  std::vector<int64_t> rows;
  int64_t first, words;  // from the first to the last that is no padding, or all if they are all padding
  bool is_padding_alone;

  int64_t count() const { return rows.size(); }
};

/// `rows` (N,) says where in a padded batch, `width` positions a sentence, each packed row is.
std::vector<Sentence> sentences_of(const Tensor& rows, int64_t width, const Tensor& padding) {
  const int64_t words = padding.size(1), *const places = rows.const_data_ptr<int64_t>();
  const bool* padded = padding.const_data_ptr<bool>();
  std::vector<Sentence> result(padding.size(0));
  for (int64_t row = 0; row < rows.numel(); row++) result[places[row] / width].rows.push_back(row);
  for (Sentence& sentence : result) {
    int64_t first = 0, last = words;
    while (first < last && padded[first]) first++;
    while (last > first && padded[last - 1]) last--;
    sentence.is_padding_alone = first == last;
    sentence.first = sentence.is_padding_alone ? 0 : first;
    sentence.words = sentence.is_padding_alone ? words : last - first;
    padded += words;
  }
  return result;
}

/// Memory for one matrix after the other.
template <typename T>
class Buffer {
 public:
  Rows<T> resize(int64_t rows, int64_t columns) {
    numbers_.resize(std::max<size_t>(numbers_.size(), rows * columns));
    return {numbers_.data(), rows, columns};
  }

  /// Copies some columns of a sentence's packed rows.
  Rows<T> gather(Rows<const T> packed, const Sentence& sentence, int64_t first, int64_t columns) {
    const Rows<T> result = resize(sentence.count(), columns);
    for (int64_t i = 0; i < result.count; i++)
      std::memcpy(result[i], packed[sentence.rows[i]] + first, columns * sizeof(T));
    return result;
  }
  Rows<T> gather(Rows<const T> packed, const Sentence& sentence) { return gather(packed, sentence, 0, packed.stride); }

  Rows<T> transpose(Rows<const T> rows) {
    const Rows<T> result = resize(rows.stride, rows.count);
    for (int64_t i = 0; i < rows.count; i++)
      for (int64_t j = 0; j < rows.stride; j++) result[j][i] = rows[i][j];
    return result;
  }

 private:
  std::vector<T> numbers_;
};

/// Copies rows to a sentence's packed ones, from a column on, and sets their other columns to zero.
template <typename T>
void scatter(Rows<const T> rows, const Sentence& sentence, Rows<T> packed, int64_t first = 0) {
  for (int64_t i = 0; i < rows.count; i++) {
    T* const row = packed[sentence.rows[i]];
    std::memset(row, 0, first * sizeof(T));
    std::memcpy(row + first, rows[i], rows.stride * sizeof(T));
    std::memset(row + first + rows.stride, 0, (packed.stride - first - rows.stride) * sizeof(T));
  }
}

/// What all sentences read, and memory in which a thread works at one after the other: each thread has a copy.
///
/// Sums of outer products are products with a transposed factor here: for so few rows, sum_outer_products does too
/// much.
template <typename T>
struct Attending {
  Rows<const T> queries, keys, values;
  Rows<T> attention;
  const bool* padding;
  int64_t width;  // words of every source in the batch, padding included

  Buffer<T> asked, weighed, found, sloping, turned;
  RightFactor factor;

  /// Writes the contexts of a sentence, the number of which is given, and its attention.
  void read(const Sentence& one, int64_t number, Rows<T> contexts) {
    const int64_t place = number * width + one.first;
    const Rows<T> weights = weighed.resize(one.count(), one.words);
    if (one.is_padding_alone) {
      std::fill_n(weights.data, weights.count * weights.stride, T(1) / one.words);
    } else {
      factor.assign(keys.part(place, one.words), true);
      factor.multiply<T>(asked.gather(queries, one), weights, Into::replace);
      vectorized([=, masked = padding + place]() INLINE_LAMBDA {
        for (int64_t row = 0; row < weights.count; row++) softmax(weights[row], masked, weights.stride);
      });
    }
    scatter<T>(weights, one, attention, one.first);
    const Rows<T> sums = found.resize(one.count(), values.stride);
    factor.assign(values.part(place, one.words));
    factor.multiply<T>(weights, sums, Into::replace);
    scatter<T>(sums, one, contexts);
  }

  /// Writes the gradients of a sentence's queries, keys, and values; those of keys and values are zero before.
  void read_backward(const Sentence& one, int64_t number, Rows<const T> grad_contexts, Rows<T> grad_queries,
                     Rows<T> grad_keys, Rows<T> grad_values) {
    const int64_t place = number * width + one.first;
    const Rows<T> weights = weighed.gather(attention, one, one.first, one.words),
                  grad = found.gather(grad_contexts, one), slopes = sloping.resize(one.count(), one.words);
    factor.assign<T>(grad);
    factor.multiply<T>(turned.transpose(weights), grad_values.part(place, one.words), Into::replace);
    factor.assign(values.part(place, one.words), true);
    factor.multiply<T>(grad, slopes, Into::replace);
    // Where all is padding, attention is even, whatever the energies are.
    vectorized([=, even = one.is_padding_alone]() INLINE_LAMBDA {
      for (int64_t row = 0; row < slopes.count; row++)
        if (even)
          std::fill_n(slopes[row], slopes.stride, T(0));
        else
          softmax_backward(weights[row], slopes[row], slopes.stride);
    });
    const Rows<T> grad_asked = found.resize(one.count(), keys.stride);
    factor.assign(keys.part(place, one.words));
    factor.multiply<T>(slopes, grad_asked, Into::replace);
    scatter<T>(grad_asked, one, grad_queries);
    factor.assign<T>(asked.gather(queries, one));
    factor.multiply<T>(turned.transpose(slopes), grad_keys.part(place, one.words), Into::replace);
  }
};

/// Calls a function with memory for each thread, a sentence that has queries, and its number.
template <typename T, typename Function>
void for_sentences(const Attending<T>& attending, const std::vector<Sentence>& sentences, const Function& function) {
  at::parallel_for(0, sentences.size(), 1, [&](int64_t begin, int64_t end) {
    Attending<T> here = attending;
    for (int64_t number = begin; number < end; number++)
      if (sentences[number].count()) function(here, sentences[number], number);
  });
}

template <typename T>
Attending<T> attending(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& padding,
                       const Tensor& attention) {
  return {
      rows_of<T>(queries), rows_of<T>(keys), rows_of<T>(values), rows_of<T>(attention), padding.const_data_ptr<bool>(),
      padding.size(1)};
}

std::tuple<Tensor, Tensor> attend_sentences(const Tensor& queries, const Tensor& keys, const Tensor& values,
                                            const Tensor& padding_mask, const Tensor& rows, int64_t width) {
  const Tensor asked = queries.contiguous(), compared = keys.contiguous(), summed = values.contiguous(),
               padding = padding_mask.contiguous();
  const auto number = queries.scalar_type();
  Tensor contexts = uninitialized({queries.size(0), values.size(2)}, number),
         attention = uninitialized({queries.size(0), keys.size(1)}, number);
  in_format(number, [&](auto zero) {
    using T = decltype(zero);
    for_sentences(
        attending<T>(asked, compared, summed, padding, attention), sentences_of(rows.contiguous(), width, padding),
        [&](Attending<T>& here, const Sentence& one, int64_t place) { here.read(one, place, rows_of<T>(contexts)); });
  });
  return {contexts, attention};
}

/// The gradients of queries, keys, and values.
std::tuple<Tensor, Tensor, Tensor> attend_sentences_backward(const Tensor& grad_contexts, const Tensor& queries,
                                                             const Tensor& keys, const Tensor& values,
                                                             const Tensor& padding_mask, const Tensor& rows,
                                                             int64_t width, const Tensor& attention) {
  const Tensor asked = queries.contiguous(), compared = keys.contiguous(), summed = values.contiguous(),
               padding = padding_mask.contiguous(), grad = grad_contexts.contiguous();
  const auto number = queries.scalar_type();
  Tensor grad_queries = uninitialized(queries.sizes(), number), grad_keys = zeros(keys.sizes(), number),
         grad_values = zeros(values.sizes(), number);
  in_format(number, [&](auto zero) {
    using T = decltype(zero);
    for_sentences(attending<T>(asked, compared, summed, padding, attention),
                  sentences_of(rows.contiguous(), width, padding),
                  [&](Attending<T>& here, const Sentence& one, int64_t place) {
                    here.read_backward(one, place, rows_of<T>(grad), rows_of<T>(grad_queries), rows_of<T>(grad_keys),
                                       rows_of<T>(grad_values));
                  });
  });
  return {grad_queries, grad_keys, grad_values};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def(
      "attend_sentences(Tensor queries, Tensor keys, Tensor values, Tensor padding_mask, Tensor rows, int width) -> "
      "(Tensor, Tensor)",
      torch::dispatch(at::kCPU, &attend_sentences));
  library.def(
      "attend_sentences_backward(Tensor grad_contexts, Tensor queries, Tensor keys, Tensor values, Tensor "
      "padding_mask, "
      "Tensor rows, int width, Tensor attention) -> (Tensor, Tensor, Tensor)",
      torch::dispatch(at::kCPU, &attend_sentences_backward));
}

}  // namespace recurrent_mt
