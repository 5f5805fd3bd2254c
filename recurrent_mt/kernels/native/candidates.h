// The best continuations of a sentence's hypotheses.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "vectorized.h"

namespace recurrent_mt {

/// A hypothesis of a sentence, continued by a word; its score is the sum of log-probabilities.
template <typename T>
struct Candidate {
  T score;
  int64_t hypothesis;
  int64_t word;

  /// Higher scores come first; among equal ones, earlier hypotheses, then smaller words.
  bool operator<(const Candidate& other) const {
    if (score != other.score) return score > other.score;
    return hypothesis != other.hypothesis ? hypothesis < other.hypothesis : word < other.word;
  }
};

/// Keeps the best of all candidates that are offered.
template <typename T>
class Best {
 public:
  explicit Best(int64_t number) : number_(number) {}

  /// The score that the next candidate has to exceed.
  T threshold() const { return full() ? heap_.front().score : -std::numeric_limits<T>::infinity(); }

  void offer(const Candidate<T>& candidate) {
    if (!(candidate.score > threshold())) return;
    if (full()) {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
    }
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end());
  }

  /// Best first.
  std::vector<Candidate<T>> sorted() && {
    std::sort_heap(heap_.begin(), heap_.end());
    return std::move(heap_);
  }

 private:
  bool full() const { return static_cast<int64_t>(heap_.size()) >= number_; }

  int64_t number_;
  std::vector<Candidate<T>> heap_;  // its first element is the worst
};

}  // namespace recurrent_mt
