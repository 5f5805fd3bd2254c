"""Makes the metrics available to fairseq as ``--scoring NAME``.

fairseq has scorers of its own named ``bleu`` (on dictionary ids), ``chrf`` and ``meteor`` (which fails with a
current nltk). Ours are ``text_bleu``, ``text_chrf``, and so on. They score the strings that fairseq-generate prints, so
``--remove-bpe`` and ``--tokenizer`` decide what they see. A metric whose plain name fairseq does not use, like ``ter``,
has that name too.

Besides, ``--eval-bleu`` of fairseq's translation task, and of all derived from it, tokenizes as the target language
needs. fairseq scores every language with sacrebleu's default, 13a, which splits no Chinese: a sentence is one word,
and a validation that chooses the best checkpoint by BLEU chooses at random.
"""

import functools
import logging
from dataclasses import dataclass, field
from typing import Any, Optional
from unittest.mock import patch

import sacrebleu
from fairseq.dataclass import FairseqDataclass
from fairseq.scoring import SCORER_REGISTRY, BaseScorer, register_scorer
from fairseq.tasks.translation import TranslationTask

from recurrent_mt.metrics import METRICS, Score, check_tokenization, choose_tokenization, guess_tokenization, score

logger = logging.getLogger(__name__)


@dataclass
class TextScorerConfig(FairseqDataclass):
    """Options of every ``text_`` scorer."""

    scoring_tokenize: Optional[str] = field(  # noqa: UP045 (fairseq cannot read `str | None`)
        default=None, metadata={"help": "one of sacrebleu's tokenizers (13a, zh, char, none, …)"}
    )
    scoring_lowercase: bool = field(default=False, metadata={"help": "ignore case, with sacrebleu's option"})


#: What fairseq writes for an unknown word of a reference and of a translation, in its commands and with
#: ``--eval-bleu`` -> one character each. No tokenizer finds more than one word in it, and they do not match.
UNKNOWN_IN_REFERENCE, UNKNOWN = "\N{QUESTION EXCLAMATION MARK}", "\N{DOUBLE QUESTION MARK}"
MARKS = {
    "<<unk>>": UNKNOWN_IN_REFERENCE,
    "<unk>": UNKNOWN,
    "UNKNOWNTOKENINREF": UNKNOWN_IN_REFERENCE,
    "UNKNOWNTOKENINHYP": UNKNOWN,
}


def mark_unknown_words(text: str) -> str:
    """The text with one character for each unknown word, other ones in references."""
    for written, mark in MARKS.items():
        text = text.replace(written, mark)
    return text


class TextScorer(BaseScorer):
    """Collects strings and scores them with the metric of `metric_name`; an unknown word is one wrong word."""

    metric_name: str

    def __init__(self, cfg: Any) -> None:
        super().__init__(cfg)
        # fairseq scores when all is translated, which is late to say that a tokenizer is unknown or not installed.
        check_tokenization(cfg.scoring_tokenize)
        METRICS[self.metric_name](cfg.scoring_tokenize, cfg.scoring_lowercase)

    def add_string(self, ref: str, pred: str) -> None:
        """Adds a reference and its translation."""
        super().add_string(mark_unknown_words(ref), mark_unknown_words(pred))

    def corpus_score(self) -> Score:
        """The score of all strings added so far, with its signature."""
        # A scorer is not told the language.
        if self.cfg.scoring_tokenize is None and (tokenization := guess_tokenization(self.ref)):
            logger.warning(
                "the references have few spaces between words: --scoring-tokenize %s would score them better than "
                "sacrebleu's default, 13a",
                tokenization,
            )
        return score(
            self.metric_name,
            self.pred,
            self.ref,
            tokenize=self.cfg.scoring_tokenize,
            lowercase=self.cfg.scoring_lowercase,
        )

    def score(self) -> float:
        """The bare number, which fairseq's validation uses."""
        return self.corpus_score().value

    def result_string(self) -> str:
        """The line that fairseq-generate prints."""
        return str(self.corpus_score())


for metric in METRICS:
    for name in (f"text_{metric}", metric):
        if name not in SCORER_REGISTRY:
            # fairseq wants a class with its own name for each registration.
            scorer = type(f"TextScorer_{name}", (TextScorer,), {"metric_name": metric, "__module__": __name__})
            register_scorer(name, dataclass=TextScorerConfig)(scorer)


def tokenize_by_language(score_sentences: Any) -> Any:
    """Wraps the method that scores a batch of validation sentences."""

    @functools.wraps(score_sentences)
    def score_by_language(task: Any, *arguments: Any) -> Any:
        tokenization = find_tokenization(task.cfg.target_lang)
        if tokenization is None or task.cfg.eval_tokenized_bleu:
            return score_sentences(task, *arguments)
        # The method imports sacrebleu when it is called, and names no tokenization.
        with patch.object(
            sacrebleu, "corpus_bleu", functools.partial(score_marked, sacrebleu.corpus_bleu, tokenization)
        ):
            return score_sentences(task, *arguments)

    return score_by_language


def score_marked(corpus_bleu: Any, tokenization: str, translations: list[str], references: list[list[str]]) -> Any:
    """The score of sacrebleu where words may be characters, of which fairseq's names for unknown words share many."""
    marked = [list(map(mark_unknown_words, sentences)) for sentences in (translations, *references)]
    return corpus_bleu(marked[0], marked[1:], tokenize=tokenization)


@functools.cache
def find_tokenization(language: str) -> str | None:
    """One of sacrebleu's for a language; None for its default, and for a name that is no language's code."""
    try:
        return choose_tokenization(language)
    except ValueError as error:
        logger.warning("--eval-bleu scores with sacrebleu's tokenization 13a: %s", error)
        return None


TranslationTask._inference_with_bleu = tokenize_by_language(TranslationTask._inference_with_bleu)
