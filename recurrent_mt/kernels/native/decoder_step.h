// A step of the decoder, for the hypotheses of a search: from states and words to features.
//
// With a GRU, which has one layer here, a step predicts a word from a state, the word before, and a context, in one of
// two orders, see recurrent_mt/layers/decoder.py; minimal GRUs are in recurrent_mt/layers/min_gru_decoder.py. Whatever
// a context is multiplied by has been multiplied with the source beforehand: what is read from the source are sums of
// these products.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "attention.h"
#include "functions.h"
#include "gru_step.h"
#include "min_gru_step.h"
#include "weight.h"

namespace recurrent_mt {

/// The matrices of the decoder as right factors, named after what they give or what they multiply. Where 3H numbers
/// enter a GRU, 2H enter a minimal one; W is the readout's width, O or, with maxout, 2O.
struct Decoder {
  RightFactor word;                       // (E, 3H + W): the word's products for the GRU and for the readout
  std::optional<RightFactor> gate;        // (H, 2H)
  std::optional<RightFactor> candidate;   // (H, H)
  RightFactor readout;                    // (H, W)
  Factors output;                         // (O, V), or (O, R) and (R, V)
  std::optional<RightFactor> query;       // (H, A)
  std::vector<RightFactor> upper;         // (H, 2H) of each further layer of minimal GRUs
  std::vector<at::Tensor> upper_biases;   // (2H,) the same way
  std::vector<at::Tensor> shifts;         // (2H,) of each minimal GRU, or none
  at::Tensor embedding;                   // (V, E)
  std::optional<at::Tensor> output_bias;  // (V,)
  std::optional<at::Tensor> word_bias;    // (3H + W,)
  bool word_first, second_hop;
  std::optional<double> norm_epsilon;  // of the norms of states
  std::vector<at::Tensor> norms;       // (H,) gain and shift of each; those of a GRU's are in the factors
  int64_t size, sums, vocabulary;      // H, W, V
  bool maxout;

  /// Minimal GRUs have no matrices of their states.
  bool is_min_gru() const { return !gate; }
  /// How many numbers of what enters a recurrence, of a word or a context, come before those of the readout.
  int64_t entering() const { return (is_min_gru() ? 2 : 3) * size; }
};

/// The source as the decoder reads it.
struct Source {
  at::Tensor keys;      // (B, S, A); empty without attention
  at::Tensor products;  // (B, S, 3H + W), or (B, 1, 3H + W) without attention, biases included
  at::Tensor padding;   // (B, S)
  std::optional<at::Tensor> score;
  std::optional<at::Tensor> allowed;  // (B, V) the words that a translation may have; all without
  bool has_attention;
};

/// Adds one row to each.
template <typename T>
void add_to_each(const T* row, Rows<T> rows) {
  for (int64_t i = 0; i < rows.count; i++)
    for (int64_t j = 0; j < rows.stride; j++) rows[i][j] += row[j];
}

/// The products of words, (n, 3H + W), for the GRU and for the readout.
///
/// Hypotheses end in the same words again and again, so the products of each word are computed once and kept.
template <typename T>
class WordProducts {
 public:
  /// For steps of up to this many rows.
  WordProducts(const Decoder& decoder, int64_t rows)
      : decoder_(decoder),
        capacity_(std::min(decoder.vocabulary, std::max(rows, KEPT / int64_t(decoder.word.columns() * sizeof(T))))),
        places_(decoder.vocabulary, ABSENT), kept_(uninitialized({capacity_, decoder.word.columns()}, number_of<T>())),
        embedded_(uninitialized({std::min(rows, capacity_), decoder.embedding.size(1)}, number_of<T>())) {}

  void copy(const std::vector<int64_t>& words, Rows<T> products) {
    compute(words);
    const auto kept = rows_of<T>(kept_);
    for_rows(products.count, kept.stride, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; row++)
        std::memcpy(products[row], kept[places_[words[row]]], kept.stride * sizeof(T));
    });
  }

 private:
  static constexpr int64_t KEPT = int64_t(1) << 24;  // bytes
  static constexpr int64_t ABSENT = -1;

  void compute(const std::vector<int64_t>& words) {
    std::vector<int64_t> added = place(words);
    if (number_ + static_cast<int64_t>(added.size()) > capacity_) {
      std::fill(places_.begin(), places_.end(), ABSENT);
      number_ = 0;
      added = place(words);
    }
    if (added.empty()) return;
    const int64_t count = added.size(), size = decoder_.embedding.size(1);
    const auto embedded = rows_of<T>(embedded_).part(0, count);
    const T* const table = decoder_.embedding.const_data_ptr<T>();
    for (int64_t row = 0; row < count; row++) std::memcpy(embedded[row], table + added[row] * size, size * sizeof(T));
    const auto products = rows_of<T>(kept_).part(number_, count);
    decoder_.word.multiply<T>(embedded, products, Into::replace);
    if (decoder_.word_bias) add_to_each(decoder_.word_bias->const_data_ptr<T>(), products);
    number_ += count;
  }

  /// Gives places to the words that have none, and returns these words.
  std::vector<int64_t> place(const std::vector<int64_t>& words) {
    std::vector<int64_t> added;
    for (const int64_t word : words) {
      if (places_[word] != ABSENT) continue;
      places_[word] = number_ + static_cast<int64_t>(added.size());
      added.push_back(word);
    }
    return added;
  }

  const Decoder& decoder_;
  int64_t capacity_;
  int64_t number_ = 0;           // of words that have a place
  std::vector<int64_t> places_;  // (V,): a word's row in what is kept
  at::Tensor kept_, embedded_;
};

/// The decoder's recurrence: from states and words to features.
template <typename T>
class Recurrence {
 public:
  Recurrence(const Decoder& decoder, const Source& source, const at::Tensor& initial, int64_t rows)
      : decoder_(decoder), source_(source), memory_(source.keys, source.products, source.padding, source.score, 1),
        word_products_(decoder, rows), width_(source.products.size(2)) {
    const auto matrix = [&](int64_t columns) { return uninitialized({rows, columns}, number_of<T>()); };
    const int64_t size = decoder.size, layers = decoder.is_min_gru() ? 2 + decoder.upper.size() : 1;
    state_ = matrix(layers * size), next_ = matrix(layers * size), top_ = matrix(size);
    queries_ = matrix(memory_.key_size()), normalized_ = matrix(size), sums_ = matrix(decoder.sums),
    features_ = matrix(decoder.maxout ? decoder.sums / 2 : decoder.sums);
    if (!decoder.is_min_gru()) gates_ = matrix(2 * size), reset_ = matrix(size), candidate_ = matrix(size);
    state_.narrow(0, 0, initial.size(0)).copy_(initial.narrow(1, 0, layers * size));
    for (int64_t layer = 0; layer < std::max<int64_t>(2, layers); layer++) {
      inputs_.push_back(matrix(layer < 2 ? width_ : 2 * size));
      if (decoder.word_first || !decoder.shifts.empty()) before_.push_back(matrix(inputs_.back().size(1)));
      if (!decoder.shifts.empty())
        before_[layer]
            .narrow(0, 0, initial.size(0))
            .narrow(1, 0, 2 * size)
            .copy_(initial.narrow(1, (layers + 2 * layer) * size, 2 * size));
    }
    if (!source.has_attention) return;
    const int64_t first = decoder.second_hop ? decoder.entering() : width_;
    values_ = values(0, first);
    if (decoder.second_hop) last_values_ = values(first, width_ - first);
  }

  /// The features (n, O) of hypotheses that continue with these words, and their attention (n, S), if there is any.
  ///
  /// Without words, nothing has been read yet. `sources` (n,) says which source each hypothesis reads; those of a
  /// source, `rows` each, are neighbors.
  Rows<const T> advance(const std::vector<int64_t>* words, const std::vector<int64_t>& sources, int64_t rows,
                        at::Tensor& attention) {
    const int64_t count = sources.size();
    rows_ = rows;
    const auto part = [&](const at::Tensor& tensor) { return rows_of<T>(tensor).part(0, count); };
    if (words) {
      word_products_.copy(*words, part(inputs_[0]));
    } else {
      inputs_[0].zero_();
    }
    if (source_.has_attention) attention = uninitialized({count, memory_.words()}, number_of<T>());
    const auto top =
        decoder_.is_min_gru() ? advance_min_gru(sources, attention) : advance_gru(words, sources, attention);
    decoder_.readout.multiply<T>(top, part(sums_), Into::replace);
    join(part(inputs_[0]), part(inputs_[1]), part(sums_), part(features_));
    if (!decoder_.shifts.empty()) std::swap(inputs_, before_);
    return part(features_);
  }

  /// Continues with these rows of the last step.
  void select(const std::vector<int64_t>& rows) {
    if (decoder_.is_min_gru()) {  // whose steps find them
      continued_ = rows;
      return;
    }
    const auto copy = [&](at::Tensor& from, at::Tensor& to) {
      const auto source = rows_of<T>(from), target = rows_of<T>(to);
      for (size_t row = 0; row < rows.size(); row++)
        std::memcpy(target[row], source[rows[row]], source.stride * sizeof(T));
      std::swap(from, to);
    };
    copy(state_, next_);
    if (decoder_.word_first) copy(inputs_[1], before_[1]);
  }

 private:
  /// Some columns of each source's products (S, 3H + W), as factors of contexts.
  std::vector<RightFactor> values(int64_t first, int64_t columns) const {
    std::vector<RightFactor> result;
    for (const at::Tensor& products : source_.products.narrow(2, first, columns).unbind())
      result.emplace_back(products, number_of<T>());
    return result;
  }

  /// Writes attention and contexts. Of two hops, the first finds what enters a recurrence, the second the rest.
  void read(const std::vector<int64_t>& sources, Rows<const T> states, at::Tensor& attention, bool is_second = false) {
    const auto contexts = rows_of<T>(inputs_[1]).part(0, states.count);
    if (!source_.has_attention) {
      const auto products = rows_of<T>(source_.products);
      for (int64_t row = 0; row < states.count; row++)
        std::memcpy(contexts[row], products[sources[row]], width_ * sizeof(T));
      return;
    }
    const auto queries = rows_of<T>(queries_).part(0, states.count), weights = rows_of<T>(attention);
    if (decoder_.query) decoder_.query->multiply<T>(states, queries, Into::replace);
    memory_.weigh(decoder_.query ? Rows<const T>(queries) : states, weights, sources.data());
    const auto& values = is_second ? last_values_ : values_;
    const auto found = is_second ? contexts.from(decoder_.entering()) : contexts;
    for_rows(states.count / rows_, rows_ * weights.stride * width_, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin * rows_; row < end * rows_; row += rows_)
        values[sources[row]].template multiply<T>(weights.part(row, rows_), found.part(row, rows_), Into::replace);
    });
  }

  /// What the readout sees of the states (n, H), after a step of the GRU if there are words.
  Rows<const T> advance_gru(const std::vector<int64_t>* words, const std::vector<int64_t>& sources,
                            at::Tensor& attention) {
    const auto part = [&](const at::Tensor& tensor) { return rows_of<T>(tensor).part(0, sources.size()); };
    if (!decoder_.word_first) read(sources, part(state_), attention);
    if (words) {
      const auto previous = part(state_), gates = part(gates_), reset = part(reset_), candidate = part(candidate_);
      decoder_.gate->multiply<T>(previous, gates, Into::replace);
      open_gates<T>(part(inputs_[0]), part(inputs_[1]), previous, gates, reset, candidate, decoder_.size);
      decoder_.candidate->multiply<T>(reset, candidate, Into::add);
      update<T>(gates, previous, candidate, part(next_), decoder_.size);
      std::swap(state_, next_);
    }
    if (decoder_.word_first) read(sources, part(state_), attention);
    if (!decoder_.norm_epsilon) return part(state_);
    normalize(part(state_), part(top_));
    return part(top_);
  }

  /// The same with minimal GRUs: over words, attention, over contexts, further layers; words have been read.
  ///
  /// A row of states has those of all layers, H each.
  Rows<const T> advance_min_gru(const std::vector<int64_t>& sources, at::Tensor& attention) {
    const int64_t count = sources.size(), size = decoder_.size;
    const auto part = [&](const at::Tensor& tensor) { return rows_of<T>(tensor).part(0, count); };
    const auto step = [&](int64_t layer) {
      Shift<T> shift;
      if (!decoder_.shifts.empty()) shift = {decoder_.shifts[layer].const_data_ptr<T>(), rows_of<T>(before_[layer])};
      const int64_t column = layer * size;
      min_gru_step<T>(part(inputs_[layer]), rows_of<T>(state_).from(column), part(next_).from(column), 0, count, size,
                      shift, continued_.empty() ? nullptr : continued_.data());
      add_output(part(next_).from(column), 2 * layer, part(top_), layer ? Into::add : Into::replace);
    };
    step(0);
    read(sources, part(top_), attention);
    step(1);
    if (decoder_.second_hop) read(sources, part(top_), attention, true);
    for (size_t layer = 0; layer < decoder_.upper.size(); layer++) {
      decoder_.upper[layer].multiply<T>(part(top_), part(inputs_[2 + layer]), Into::replace);
      add_to_each(decoder_.upper_biases[layer].const_data_ptr<T>(), part(inputs_[2 + layer]));
      step(2 + layer);
    }
    std::swap(state_, next_);
    return part(top_);
  }

  /// Writes or adds states, normalized if there are norms, of which the one from `norm` on.
  void add_output(Rows<const T> states, int64_t norm, Rows<T> top, Into into) {
    const bool normalizes = !decoder_.norms.empty();
    if (normalizes) normalize(states, rows_of<T>(normalized_).part(0, states.count));
    const Rows<const T> from = normalizes ? Rows<const T>(rows_of<T>(normalized_).part(0, states.count)) : states;
    const T *gain = normalizes ? decoder_.norms[norm].const_data_ptr<T>() : nullptr,
            *shift = normalizes ? decoder_.norms[norm + 1].const_data_ptr<T>() : nullptr;
    vectorized([=, size = decoder_.size, adds = into == Into::add]() INLINE_LAMBDA {
      for (int64_t row = 0; row < top.count; row++) {
        const T* const x = from[row];
        T* const out = top[row];
#pragma omp simd
        for (int64_t i = 0; i < size; i++) out[i] = (adds ? out[i] : T(0)) + (gain ? x[i] * gain[i] + shift[i] : x[i]);
      }
    });
  }

  /// Each state shifted and scaled to a mean of 0 and a variance of 1.
  void normalize(Rows<const T> states, Rows<T> normalized) {
    vectorized([=, size = decoder_.size, epsilon = T(*decoder_.norm_epsilon)]() INLINE_LAMBDA {
      for (int64_t row = 0; row < states.count; row++) {
        const T* const state = states[row];
        T* const out = normalized[row];
        T sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < size; i++) sum += state[i];
        const T mean = sum / size;
#pragma omp simd reduction(+ : squares)
        for (int64_t i = 0; i < size; i++) squares += (state[i] - mean) * (state[i] - mean);
        const T scale = T(1) / std::sqrt(squares / size + epsilon);
#pragma omp simd
        for (int64_t i = 0; i < size; i++) out[i] = (state[i] - mean) * scale;
      }
    });
  }

  /// The features: what words, contexts, and states add up to, or with maxout the larger of every two neighbors.
  void join(Rows<const T> words, Rows<const T> contexts, Rows<const T> states, Rows<T> features) {
    vectorized([=, first = decoder_.entering(), size = features.stride, maxout = decoder_.maxout]() INLINE_LAMBDA {
      for (int64_t row = 0; row < features.count; row++) {
        const T *x = words[row] + first, *c = contexts[row] + first, *s = states[row];
        T* out = features[row];
        if (maxout) {
#pragma omp simd
          for (int64_t i = 0; i < size; i++) {
            const T a = s[2 * i] + x[2 * i] + c[2 * i], b = s[2 * i + 1] + x[2 * i + 1] + c[2 * i + 1];
            out[i] = a > b || a != a ? a : b;  // NaN stays NaN, as in torch.maximum
          }
        } else {
#pragma omp simd
          for (int64_t i = 0; i < size; i++) out[i] = s[i] + x[i] + c[i];
        }
      }
    });
  }

  const Decoder& decoder_;
  const Source& source_;
  Memory<T> memory_;
  WordProducts<T> word_products_;
  int64_t width_;
  int64_t rows_ = 1;                               // hypotheses of a source
  std::vector<RightFactor> values_, last_values_;  // of each source, for the first hop, and for the second
  std::vector<int64_t> continued_;                 // by minimal GRUs: rows of the last step, or none at the first
  std::vector<at::Tensor> inputs_;                 // products of words and of contexts, and what enters further layers
  std::vector<at::Tensor> before_;                 // with a shift, those of the step before; else room for selecting
  at::Tensor state_, next_, gates_, reset_, candidate_, sums_, features_, queries_, top_, normalized_;
};

}  // namespace recurrent_mt
