// The scores of all words of the vocabulary, for the hypotheses of a step.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "candidates.h"
#include "decoder_step.h"
#include "functions.h"

namespace recurrent_mt {

/// What is asked for; see fairseq's options of the same names.
struct Search {
  int64_t beam, longest, shortest;
  double unknown_penalty, temperature;
  int64_t begin, end, padding, unknown;
};

/// The scores of words for some hypotheses, from which the best candidates are taken.
template <typename T>
class WordScores {
 public:
  WordScores(const Decoder& decoder, const Source& source, const Search& search, int64_t rows)
      : decoder_(decoder), source_(source), search_(search), blocks_((decoder.vocabulary + BLOCK - 1) / BLOCK),
        scores_(uninitialized({rows, decoder.vocabulary}, number_of<T>())),
        largest_(uninitialized({rows, blocks_}, number_of<T>())), shift_(rows) {}

  /// Scores all words for the features (n, O), each of a hypothesis of one of the sources (n,).
  void compute(Rows<const T> features, const std::vector<int64_t>& sources, int64_t step) {
    const auto scores = rows_of<T>(scores_).part(0, features.count);
    decoder_.output.template multiply<T>(features, scores);
    for_rows(features.count, 4 * decoder_.vocabulary, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; row++) finish_row(row, sources[row], step);
    });
  }

  /// Offers the continuations of a hypothesis, in a row, that has this score so far.
  void offer(int64_t row, int64_t hypothesis, T score, Best<T>& best) const {
    const T* const scores = rows_of<T>(scores_)[row];
    const T* const largest = rows_of<T>(largest_)[row];
    const auto sum = [score, shift = shift_[row]](T word_score) { return score + (word_score + shift); };
    for (int64_t block = 0; block < blocks_; block++) {
      if (!(sum(largest[block]) > best.threshold())) continue;
      const int64_t last = std::min((block + 1) * BLOCK, decoder_.vocabulary);
      for (int64_t word = block * BLOCK; word < last; word++) best.offer({sum(scores[word]), hypothesis, word});
    }
  }

 private:
  static constexpr int64_t BLOCK = 64;  // words that are passed over together if none of them is good enough

  /// Finds what turns a row's scores into log-probabilities, and the largest score of every block.
  void finish_row(int64_t row, int64_t source, int64_t step) {
    constexpr T never = -std::numeric_limits<T>::infinity();
    T* const scores = rows_of<T>(scores_)[row];
    T* const largest = rows_of<T>(largest_)[row];
    const T* const bias = decoder_.output_bias ? decoder_.output_bias->const_data_ptr<T>() : nullptr;
    const T scale = T(1) / T(search_.temperature);
    T* const shift = &shift_[row];
    const int64_t vocabulary = decoder_.vocabulary, blocks = blocks_;
    const bool* const allowed =
        source_.allowed ? source_.allowed->template const_data_ptr<bool>() + source * vocabulary : nullptr;
    vectorized([=]() INLINE_LAMBDA {
      for (int64_t first = 0; first < vocabulary; first += BLOCK) {
        const int64_t last = vocabulary - first < BLOCK ? vocabulary : first + BLOCK;
        if (bias) {
#pragma omp simd
          for (int64_t word = first; word < last; word++) scores[word] += bias[word];
        }
        if (allowed) {
#pragma omp simd
          for (int64_t word = first; word < last; word++) scores[word] = allowed[word] ? scores[word] : never;
        }
        if (scale != T(1)) {
#pragma omp simd
          for (int64_t word = first; word < last; word++) scores[word] *= scale;
        }
        largest[first / BLOCK] = largest_of(scores + first, last - first);
      }
      const T most = largest_of(largest, blocks);
      *shift = -most - static_cast<T>(std::log(sum_of_exponentials(scores, vocabulary, most)));
    });
    scores[search_.padding] = never;
    scores[search_.unknown] -= T(search_.unknown_penalty);
    if (step >= search_.longest) {
      const T end = scores[search_.end];
      std::fill_n(scores, vocabulary, never);
      std::fill_n(largest, blocks, never);
      scores[search_.end] = end;
    } else if (step < search_.shortest) {
      scores[search_.end] = never;
    }
    for (const int64_t word : {search_.padding, search_.unknown, search_.end}) {
      const int64_t first = word / BLOCK * BLOCK;
      largest[word / BLOCK] = largest_of(scores + first, std::min(BLOCK, vocabulary - first));
    }
  }

  const Decoder& decoder_;
  const Source& source_;
  const Search& search_;
  int64_t blocks_;
  at::Tensor scores_, largest_;
  std::vector<T> shift_;
};

}  // namespace recurrent_mt
