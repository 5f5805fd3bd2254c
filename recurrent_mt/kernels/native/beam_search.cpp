// Beam search, a batch of sources in one call.
//
// What is searched for, and when a hypothesis or a sentence is finished, is as in fairseq's SequenceGenerator with its
// BeamSearch (0.12.2): two candidates for every place of the beam; one that ends is finished if it is among the first
// `beam`; a sentence is finished, and leaves the batch, when `beam` hypotheses are.
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "arguments.h"
#include "candidates.h"
#include "decoder_step.h"
#include "word_scores.h"

namespace recurrent_mt {
namespace {

using at::Tensor;
using std::optional;

/// A step's hypotheses, in rows: which word each continued with, from which row of the step before, and with which sum.
template <typename T>
struct Step {
  std::vector<int64_t> words, parents;
  std::vector<T> scores;
  Tensor attention;  // (n, S)
};

/// A hypothesis that has ended: a row of a step, followed by the end.
template <typename T>
struct Finished {
  int64_t sentence, step, row;
  T score;
};

/// The hypotheses of the sentences that are not finished.
template <typename T>
class Beams {
 public:
  Beams(const Search& search, int64_t sentences) : search_(search), found_(sentences, 0) {
    for (int64_t sentence = 0; sentence < sentences; sentence++) running_.push_back(sentence);
    ignored_.assign(sentences * search.beam, false);
  }

  const std::vector<int64_t>& running() const { return running_; }
  const std::vector<Finished<T>>& finished() const { return finished_; }

  /// From the candidates of every running sentence, best first, what has ended and what the next step continues with.
  ///
  /// `rows` is how many rows a sentence has at this step: one, and then the beam.
  Step<T> choose(const std::vector<std::vector<Candidate<T>>>& candidates, int64_t step, int64_t rows) {
    Step<T> next;
    std::vector<int64_t> still_running;
    std::vector<char> ignored;
    for (size_t place = 0; place < running_.size(); place++) {
      const int64_t sentence = running_[place];
      std::vector<const Candidate<T>*> active, ended;
      for (size_t i = 0; i < candidates[place].size(); i++) {
        const auto& candidate = candidates[place][i];
        const bool first = static_cast<int64_t>(i) < search_.beam;
        const bool skipped = first && ignored_[place * search_.beam + i];
        const bool ends = candidate.word == search_.end && candidate.score != -std::numeric_limits<T>::infinity();
        (skipped || ends ? ended : active).push_back(&candidate);
        if (first && ends && !skipped && found_[sentence] < search_.beam) {
          finished_.push_back(
              {sentence, step, static_cast<int64_t>(place) * rows + candidate.hypothesis, candidate.score});
          found_[sentence]++;
        }
      }
      if (found_[sentence] >= search_.beam || (step >= search_.longest && found_[sentence])) continue;
      still_running.push_back(sentence);
      for (int64_t i = 0; i < search_.beam; i++) {
        const bool is_active = i < static_cast<int64_t>(active.size());
        const auto& candidate = is_active ? *active[i] : *ended[i - active.size()];
        next.words.push_back(candidate.word);
        next.parents.push_back(static_cast<int64_t>(place) * rows + candidate.hypothesis);
        next.scores.push_back(candidate.score);
        ignored.push_back(!is_active);
      }
    }
    running_ = std::move(still_running);
    ignored_ = std::move(ignored);
    return next;
  }

 private:
  const Search& search_;
  std::vector<int64_t> running_, found_;
  std::vector<char> ignored_;  // places of the beam that nothing continues
  std::vector<Finished<T>> finished_;
};

template <typename T>
class BeamSearch {
 public:
  BeamSearch(const Decoder& decoder, const Source& source, const Search& search, const Tensor& initial)
      : decoder_(decoder), search_(search), beams_(search, initial.size(0)),
        recurrence_(decoder, source, initial, initial.size(0) * search.beam),
        scores_(decoder, source, search, initial.size(0) * search.beam) {}

  void run() {
    Step<T> now;
    const int64_t sentences = beams_.running().size();
    now.words.assign(sentences, search_.begin);
    now.parents.assign(sentences, 0);
    now.scores.assign(sentences, 0);
    for (int64_t step = 0; !beams_.running().empty() && step <= search_.longest; step++) {
      const int64_t rows = step ? search_.beam : 1;
      std::vector<int64_t> sources;
      for (const int64_t sentence : beams_.running()) sources.insert(sources.end(), rows, sentence);
      // If the word comes first, the first one is scored before any has been read.
      const bool reads = step || !decoder_.word_first;
      scores_.compute(recurrence_.advance(reads ? &now.words : nullptr, sources, rows, now.attention), sources, step);
      // fairseq takes one candidate less than there are continuations, so that padding is never one.
      const int64_t number = std::min(2 * search_.beam, rows * decoder_.vocabulary - 1);
      Step<T> next = beams_.choose(candidates(now, rows, number), step, rows);
      recurrence_.select(next.parents);
      steps_.push_back(std::move(now));
      now = std::move(next);
    }
  }

  /// All finished hypotheses: sentences, lengths and scores (n,); words and their log-probabilities (sum of lengths,);
  /// and their attention (sum of lengths, S), empty if there is none.
  std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> hypotheses() const {
    const auto& finished = beams_.finished();
    const int64_t number = finished.size();
    int64_t total = 0;
    for (const auto& hypothesis : finished) total += hypothesis.step + 1;
    const auto whole = at::TensorOptions().dtype(at::kLong), real = at::TensorOptions().dtype(number_of<T>());
    const bool attends = !steps_.empty() && steps_[0].attention.defined();
    Tensor sentences = at::empty({number}, whole), lengths = at::empty({number}, whole),
           scores = at::empty({number}, real), words = at::empty({total}, whole), parts = at::empty({total}, real),
           attention = at::empty({attends ? total : 0, attends ? steps_[0].attention.size(1) : 0}, real);
    int64_t first = 0;
    for (int64_t i = 0; i < number; i++) {
      const auto& hypothesis = finished[i];
      sentences.data_ptr<int64_t>()[i] = hypothesis.sentence;
      lengths.data_ptr<int64_t>()[i] = hypothesis.step + 1;
      scores.data_ptr<T>()[i] = hypothesis.score;
      trace(hypothesis, words.data_ptr<int64_t>() + first, parts.data_ptr<T>() + first,
            attends ? rows_of<T>(attention).part(first, hypothesis.step + 1) : Rows<T>{});
      first += hypothesis.step + 1;
    }
    return {sentences, lengths, scores, words, parts, attention};
  }

 private:
  std::vector<std::vector<Candidate<T>>> candidates(const Step<T>& now, int64_t rows, int64_t number) const {
    const int64_t sentences = beams_.running().size();
    std::vector<std::vector<Candidate<T>>> result(sentences);
    at::parallel_for(0, sentences, 4, [&](int64_t begin, int64_t end) {
      for (int64_t place = begin; place < end; place++) {
        Best<T> best(number);
        for (int64_t i = 0; i < rows; i++) scores_.offer(place * rows + i, i, now.scores[place * rows + i], best);
        result[place] = std::move(best).sorted();
        // Where fewer continuations are possible, fairseq also takes impossible ones.
        for (int64_t i = result[place].size(); i < number; i++)
          result[place].push_back({-std::numeric_limits<T>::infinity(), i % rows, search_.padding});
      }
    });
    return result;
  }

  /// Goes back from the end of a hypothesis to its first word.
  void trace(const Finished<T>& hypothesis, int64_t* words, T* parts, Rows<T> attention) const {
    int64_t row = hypothesis.row, word = search_.end;
    T sum = hypothesis.score;
    for (int64_t step = hypothesis.step; step >= 0; step--) {
      const Step<T>& now = steps_[step];
      words[step] = word;
      parts[step] = sum - now.scores[row];
      if (attention.data) std::memcpy(attention[step], rows_of<T>(now.attention)[row], attention.stride * sizeof(T));
      sum = now.scores[row];
      word = now.words[row];
      row = now.parents[row];
    }
  }

  const Decoder& decoder_;
  const Search& search_;
  Beams<T> beams_;
  Recurrence<T> recurrence_;
  WordScores<T> scores_;
  std::vector<Step<T>> steps_;
};

using Hypotheses = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

/// The arguments are those of `beam_search` in recurrent_mt/kernels/beam_search.py, in the order of its tuples.
Hypotheses beam_search(at::TensorList factors, at::IntArrayRef columns, const Tensor& embedding,
                       const optional<Tensor>& output_bias, const optional<Tensor>& score, bool maxout, bool word_first,
                       const Tensor& context_bias, optional<double> norm_epsilon, const optional<Tensor>& word_bias,
                       bool is_min_gru, bool second_hop, at::TensorList norms, at::TensorList upper_biases,
                       at::TensorList shifts, const Tensor& initial, const Tensor& keys, const Tensor& products,
                       const Tensor& padding_mask, bool has_attention, const optional<Tensor>& allowed, int64_t beam,
                       int64_t longest, int64_t shortest, double unknown_penalty, double temperature, int64_t begin,
                       int64_t end, int64_t padding, int64_t unknown) {
  const size_t further = upper_biases.size(), layers = is_min_gru ? 2 + further : 1;
  const int64_t size = initial.size(1) / (layers + 2 * shifts.size()), vocabulary = embedding.size(0),
                sums = products.size(2) - (is_min_gru ? 2 : 3) * size;
  // A shortlist may leave fewer words than fairseq has made the beam for.
  TORCH_CHECK_VALUE(0 < beam && beam < vocabulary, "beam must be from 1 to one less than the vocabulary, ", vocabulary,
                    ", not ", beam);
  TORCH_CHECK_VALUE(!has_attention || keys.size(1), "sources to attend to must have words");
  // Attention, whose weights sum to one, passes a bias on as it is.
  const Source source{keys.contiguous(),
                      products.add(context_bias).contiguous(),
                      padding_mask.contiguous(),
                      score,
                      allowed ? optional<Tensor>(allowed->contiguous()) : std::nullopt,
                      has_attention};
  const size_t outputs = factors.size() - 2 - score.has_value() - (is_min_gru ? further : 2);
  const auto factor = [&](size_t index, int64_t inner) { return RightFactor(factors[index], inner, columns[index]); };
  Decoder decoder{factor(0, embedding.size(1)),
                  std::nullopt,
                  std::nullopt,
                  factor(1, size),
                  {},
                  std::nullopt,
                  {},
                  upper_biases.vec(),
                  shifts.vec(),
                  embedding.contiguous(),
                  output_bias,
                  word_bias,
                  word_first,
                  second_hop,
                  norm_epsilon,
                  norms.vec(),
                  size,
                  sums,
                  vocabulary,
                  maxout};
  const int64_t features = maxout ? sums / 2 : sums;
  decoder.output = outputs == 2 ? Factors(factor(2, features), factor(3, columns[2])) : Factors(factor(2, features));
  if (score) decoder.query = factor(2 + outputs, size);
  if (is_min_gru) {
    for (size_t layer = further; layer; layer--) decoder.upper.push_back(factor(factors.size() - layer, size));
  } else {
    decoder.gate = factor(factors.size() - 2, size);
    decoder.candidate = factor(factors.size() - 1, size);
  }
  const Search search{beam, longest, shortest, unknown_penalty, temperature, begin, end, padding, unknown};
  return in_format(initial.scalar_type(), [&](auto zero) {
    BeamSearch<decltype(zero)> search_here(decoder, source, search, initial);
    search_here.run();
    return search_here.hypotheses();
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def(
      "beam_search(Tensor[] factors, int[] columns, Tensor embedding, Tensor? output_bias, Tensor? score, "
      "bool maxout, bool word_first, Tensor context_bias, float? norm_epsilon, Tensor? word_bias, bool is_min_gru, "
      "bool second_hop, Tensor[] norms, Tensor[] upper_biases, Tensor[] shifts, Tensor initial, Tensor keys, "
      "Tensor products, Tensor padding_mask, bool has_attention, Tensor? allowed, int beam, int longest, "
      "int shortest, float unknown_penalty, float temperature, int begin, int end, int padding, int unknown) -> "
      "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
      torch::dispatch(at::kCPU, &beam_search));
}

}  // namespace recurrent_mt
