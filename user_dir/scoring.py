"""Makes the metrics available to fairseq as ``--scoring NAME``.

fairseq has scorers of its own named ``bleu`` (on dictionary ids), ``chrf`` and ``meteor`` (which fails with a
current nltk). Ours are ``text_bleu``, ``text_chrf``, and so on. They score the strings that fairseq-generate prints, so
``--remove-bpe`` and ``--tokenizer`` decide what they see. A metric whose plain name fairseq does not use, like ``ter``,
has that name too.
"""

import logging
from dataclasses import dataclass, field
from typing import Optional

from fairseq.dataclass import FairseqDataclass
from fairseq.scoring import SCORER_REGISTRY, BaseScorer, register_scorer

from recurrent_mt.metrics import METRICS, Score, guess_tokenization, score

logger = logging.getLogger(__name__)


@dataclass
class TextScorerConfig(FairseqDataclass):
    """Options of every ``text_`` scorer."""

    scoring_tokenize: Optional[str] = field(  # noqa: UP045 (fairseq cannot read `str | None`)
        default=None, metadata={"help": "one of sacrebleu's tokenizers (13a, zh, char, none, …)"}
    )
    scoring_lowercase: bool = field(default=False, metadata={"help": "ignore case, with sacrebleu's option"})


class TextScorer(BaseScorer):
    """Collects strings and scores them with the metric of `metric_name`."""

    metric_name: str

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
