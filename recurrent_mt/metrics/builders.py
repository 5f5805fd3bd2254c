"""The metrics by name, each with its builder; and words, as BLEU separates them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import _get_tokenizer


def bleu(tokenize: str | None, lowercase: bool) -> Metric:
    """BLEU (Papineni et al. 2002). ``tokenize`` is one of sacrebleu's names; None is its default, 13a."""
    # force: score text that looks tokenized without a warning; the signature says what was done.
    return BLEU(tokenize=tokenize, lowercase=lowercase, force=True)


def chrf(tokenize: str | None, lowercase: bool) -> Metric:
    """chrF2 (Popović 2015), on characters, so ``tokenize`` has no effect."""
    return CHRF(lowercase=lowercase)


def ter(tokenize: str | None, lowercase: bool) -> Metric:
    """Translation edit rate (Snover et al. 2006), which ignores case by definition; lower is better.

    With ``tokenize="zh"`` (or ``ja-mecab``, ``ko-mecab``), the words are single characters of the script.
    """
    asian = tokenize is not None and tokenize.split("-")[0] in ("zh", "ja", "ko")
    return TER(normalized=asian, asian_support=asian)


def meteor(tokenize: str | None, lowercase: bool) -> Metric:
    """METEOR (Lavie and Agarwal 2007) by nltk on BLEU's tokens; ignores case by default; see `metrics.meteor`.

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


METRICS: dict[str, Callable[[str | None, bool], Metric]] = {"bleu": bleu, "chrf": chrf, "ter": ter, "meteor": meteor}
"""Name of a metric -> its builder, which takes a tokenization and the choice of lowercasing."""


def split_words(sentences: Sequence[str], language: str) -> list[list[str]]:
    """The words of raw sentences: sacrebleu's ``zh`` for Chinese (single characters), otherwise its ``13a``."""
    tokenize = _get_tokenizer("zh" if language == "zh" else "13a")()
    return [tokenize(sentence).split() for sentence in sentences]
