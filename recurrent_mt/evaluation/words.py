"""Words of translations beside those of references: which come out right, which are repeated, which are missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas

from .tables import (
    ALL,
    Cell,
    Record,
    Table,
    format_number,
    mark_best,
    mean_cell,
    metric_cells,
    pivot,
    pivot_cells,
    reading_notes,
    select,
)

#: Group of words to the least frequency in training of those in it.
FREQUENCIES = {"never seen": 0, "1": 1, "2–4": 2, "5–9": 5, "10–99": 10, "100–999": 100, "1000 or more": 1000}
BY_FREQUENCY = "frequency in training"
F_MEASURE, PRECISION, RECALL = (f"{name} of words, %" for name in ("F-measure", "precision", "recall"))

#: Words among that many most frequent ones of the references count as function words.
FUNCTION_WORDS = 50
LONGEST_REPEAT = 4
LONGEST_NGRAM = 4
LENGTH_RATIO, REPEATED, SURPLUS, DROPPED = "length ratio", "repeated, %", "surplus, %", "dropped, %"
REPEATED_IN_REFERENCES = "repeated in references, %"
CONTENT_IN_REFERENCES = "content words in references, %"

WORDS_NOTE = "Words are those that BLEU counts: of Chinese, characters."

Sentences = Sequence[Sequence[str]]


def score_words(
    system: str,
    translations: Sentences,
    references: Sentences,
    training_counts: Mapping[str, int],
) -> Iterator[Record]:
    """F-measure, precision and recall of words by how often they occur in training, clipped as in BLEU's unigrams.

    Args:
        system: its name.
        translations: words of each translation.
        references: words of each reference, tokenized alike.
        training_counts: of each word in the training text's target side.

    Raises:
        ValueError: if the sides differ in length.
    """
    groups = [[0, 0, 0] for _ in FREQUENCIES]
    for translation, reference in zip(translations, references, strict=True):
        found, wanted = Counter(translation), Counter(reference)
        for word in found | wanted:
            group = groups[sum(training_counts.get(word, 0) >= low for low in FREQUENCIES.values()) - 1]
            for place, count in enumerate((min(found[word], wanted[word]), found[word], wanted[word])):
                group[place] += count
    for label, (matches, translated, expected) in zip(FREQUENCIES, groups, strict=True):
        for metric, share, count in (
            (F_MEASURE, to_percent(2 * matches, translated + expected), expected),
            (PRECISION, to_percent(matches, translated), translated),
            (RECALL, to_percent(matches, expected), expected),
        ):
            yield Record(system, metric, share, by=BY_FREQUENCY, bucket=label, n=count)


def word_table(records: pandas.DataFrame) -> Table:
    """F-measure by training frequency, one column a system."""
    chosen = select(records, metric=F_MEASURE)
    grid = pivot_cells(chosen, "bucket", "system", lambda one: mean_cell(one, ".1f"))
    counts = pivot(chosen, "bucket", "system", "n").iloc[:, 0]
    rows = [[Cell(f"{count:,.0f}"), *mark_best(row)] for count, row in zip(counts, grid.to_numpy().tolist())]
    header = [BY_FREQUENCY, "words in references", *grid.columns]
    notes = ["Case is ignored.", WORDS_NOTE, *reading_notes(records, "", metric=F_MEASURE, by=BY_FREQUENCY)]
    return Table("F-measure of words, in percent", header, list(grid.index), rows, notes, best_of="row")


def score_content(system: str, translations: Sentences, references: Sentences) -> Iterator[Record]:
    """Counts repetitions and losses over a whole test set; punctuation and the most frequent words are not content.

    - Length ratio: words of the translations to words of the references.
    - Repeated: translated words that say again what is right before them: the second of two equal neighboring stretches
      of one to four words. The same of the references, in which people repeat words, too.
    - Surplus: translated content words that are above their number in the reference, though it has them.
    - Dropped: content words of the references that the translation lacks.

    Arguments as of `score_words`.
    """
    counts = Counter(word for sentence in references for word in sentence)
    # Of equally frequent words, the first by code points: the order of sentences does not matter.
    ignored = set(sorted(counts, key=lambda word: (-counts[word], word))[:FUNCTION_WORDS])
    surplus = dropped = translated = expected = 0
    for translation, reference in zip(translations, references, strict=True):
        found, wanted = (count_content(sentence, ignored) for sentence in (translation, reference))
        surplus += sum(count - wanted[word] for word, count in found.items() if 0 < wanted[word] < count)
        dropped += (wanted - found).total()
        translated += found.total()
        expected += wanted.total()
    words, reference_words = (sum(map(len, side)) for side in (translations, references))
    repeated, repeated_in_references = (sum(map(count_repeated, side)) for side in (translations, references))
    for metric, value in {
        LENGTH_RATIO: divide(words, reference_words),
        REPEATED: to_percent(repeated, words),
        REPEATED_IN_REFERENCES: to_percent(repeated_in_references, reference_words),
        SURPLUS: to_percent(surplus, translated),
        DROPPED: to_percent(dropped, expected),
        CONTENT_IN_REFERENCES: to_percent(expected, reference_words),
    }.items():
        yield Record(system, metric, value, n=len(references))


def count_content(sentence: Sequence[str], ignored: set[str]) -> Counter[str]:
    """Words that carry meaning."""
    return Counter(word for word in sentence if word not in ignored and any(map(str.isalnum, word)))


def count_repeated(sentence: Sequence[str]) -> int:
    """How many words belong to a stretch of up to `LONGEST_REPEAT` words that equals the stretch right before it."""
    repeated: set[int] = set()
    for width in range(1, LONGEST_REPEAT + 1):
        for start in range(width, len(sentence) - width + 1):
            if sentence[start - width : start] == sentence[start : start + width]:
                repeated.update(range(start, start + width))
    return len(repeated)


def content_table(records: pandas.DataFrame) -> Table:
    """Length, repetition and loss, one row a system."""
    forms = {LENGTH_RATIO: ".3f", REPEATED: ".1f", SURPLUS: ".1f", DROPPED: ".1f"}
    chosen = select(records, by=ALL)
    reference, content = (
        select(chosen, metric=metric)["value"].iloc[0] for metric in (REPEATED_IN_REFERENCES, CONTENT_IN_REFERENCES)
    )
    grid = metric_cells(chosen, forms)
    note = (
        "Length ratio: words in the translations to words in the references. "
        "Repeated: words that repeat the one to four words right before them, of all words in the translations "
        f"({format_number(reference, '.1f')}% in the references). "
        f"Content words: all but the {FUNCTION_WORDS} most frequent words of the references and signs without a letter "
        f"or digit; {format_number(content, '.1f')}% of the words in the references. "
        "Surplus: extra copies of content words that the reference has, too, of all content words in the translations. "
        "Dropped: content words of the reference that are missing from the translation, of all in the references."
    )
    notes = [note, WORDS_NOTE, *reading_notes(records, "", metric=LENGTH_RATIO, by=ALL)]
    rows, header = grid.to_numpy().tolist(), ["System", *forms]
    return Table("Length, repeated words, and missing words", header, list(grid.index), rows, notes)


@dataclass(frozen=True)
class Ngram:
    """Words in a row, and how often each of two systems has them where the reference has them, too."""

    words: tuple[str, ...]
    matches: int  # of the system
    other_matches: int  # of that which it is compared with
    expected: int  # in the references

    @property
    def share(self) -> float:
        """The system's share of the matches of both, smoothed so that what is rare decides little: 0.5 of none."""
        return (self.matches + 1) / (self.matches + self.other_matches + 2)


def compare_ngrams(translations: Sentences, others: Sentences, references: Sentences) -> list[Ngram]:
    """The n-grams of up to `LONGEST_NGRAM` words that either gets right more often, by their smoothed share.

    An n-gram is right as often as in the reference, at most, as in BLEU. The measure is that of compare-mt (Neubig et
    al. 2019), which adds one to either count. Of equal shares the longest is first.

    Returns:
        those with the highest share first, which are the system's own; the other's own are last.
    """
    found: tuple[Counter[tuple[str, ...]], ...] = Counter(), Counter(), Counter()
    for translation, other, reference in zip(translations, others, references, strict=True):
        mine, theirs, wanted = map(count_ngrams, (translation, other, reference))
        for total, counts in zip(found, (mine & wanted, theirs & wanted, wanted)):
            total.update(counts)
    matches, other_matches, expected = found
    different = [words for words in matches | other_matches if matches[words] != other_matches[words]]
    ngrams = [Ngram(words, matches[words], other_matches[words], expected[words]) for words in different]
    return sorted(ngrams, key=lambda one: (-one.share, -len(one.words), one.words))


def count_ngrams(sentence: Sequence[str]) -> Counter[tuple[str, ...]]:
    """The n-grams of up to `LONGEST_NGRAM` words."""
    widths = range(1, LONGEST_NGRAM + 1)
    return Counter(tuple(sentence[end - width : end]) for width in widths for end in range(width, len(sentence) + 1))


def choose_ngrams(ngrams: Iterable[Ngram], count: int) -> list[Ngram]:
    """The first that are right more than once and more often than the other system has them.

    What stands within one that is chosen, and has the same counts, would only repeat it.
    """
    chosen: list[Ngram] = []
    for one in ngrams:
        if one.matches > max(1, one.other_matches) and not any(is_within(one, other) for other in chosen):
            chosen.append(one)
        if len(chosen) == count:
            break
    return chosen


def is_within(one: Ngram, other: Ngram) -> bool:
    """Whether an n-gram's words stand in a row in another that has the same counts."""
    if (one.matches, one.other_matches) != (other.matches, other.other_matches):
        return False
    width = len(one.words)
    return any(other.words[start : start + width] == one.words for start in range(len(other.words) - width + 1))


def ngram_table(ngrams: Sequence[Ngram], system: str, other: str) -> Table:
    """What a system gets right more often than another."""
    rows = [[Cell(str(count)) for count in (one.matches, one.other_matches, one.expected)] for one in ngrams]
    header = ["n-gram", system, other, "in references"]
    return Table(f"{system} more often than {other}", header, [" ".join(one.words) for one in ngrams], rows)


def divide(part: int, whole: int) -> float | None:
    """A ratio, None of nothing."""
    return part / whole if whole else None


def to_percent(part: int, whole: int) -> float | None:
    """A ratio in percent, None of nothing."""
    return 100 * (part / whole) if whole else None
