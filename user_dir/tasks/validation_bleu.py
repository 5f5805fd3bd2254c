"""``--eval-bleu`` with the tokenization of the target language, for fairseq's translation task and all derived from it.

fairseq scores every language with sacrebleu's default, 13a, which splits no Chinese: a sentence is one word, and a
validation that chooses the best checkpoint by BLEU chooses at random.
"""

from __future__ import annotations

import functools
import logging
from typing import Any
from unittest.mock import patch

import sacrebleu
from fairseq.tasks.translation import TranslationTask

from recurrent_mt.metrics import choose_tokenization

logger = logging.getLogger(__name__)


def tokenize_by_language(score_sentences: Any) -> Any:
    """Wraps the method that scores a batch of validation sentences."""

    @functools.wraps(score_sentences)
    def score_by_language(task: Any, *arguments: Any) -> Any:
        tokenization = find_tokenization(task.cfg.target_lang)
        if tokenization is None or task.cfg.eval_tokenized_bleu:
            return score_sentences(task, *arguments)
        # The method imports sacrebleu when it is called, and names no tokenization.
        with patch.object(sacrebleu, "corpus_bleu", functools.partial(sacrebleu.corpus_bleu, tokenize=tokenization)):
            return score_sentences(task, *arguments)

    return score_by_language


@functools.cache
def find_tokenization(language: str) -> str | None:
    """One of sacrebleu's for a language; None for its default, and for a name that is no language's code."""
    try:
        return choose_tokenization(language)
    except ValueError as error:
        logger.warning("--eval-bleu scores with sacrebleu's tokenization 13a: %s", error)
        return None


TranslationTask._inference_with_bleu = tokenize_by_language(TranslationTask._inference_with_bleu)
