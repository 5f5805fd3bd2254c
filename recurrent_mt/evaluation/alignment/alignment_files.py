"""Reads soft alignments: out of fairseq-generate's logs, and of given translations."""

from __future__ import annotations

from os import PathLike

import numpy as np

from ...text_files import FileError, read_json_lines
from ..generate_log import Sentence, read_generate_log
from ..subwords import END_OF_SENTENCE
from .soft_alignment import SoftAlignment

FIELDS = {"sentence": int, "source": list, "target": list, "weights": list}


def read_alignment_log(path: str | PathLike[str]) -> list[SoftAlignment]:
    """The alignments of the best translations in a log of ``fairseq-generate --print-alignment soft``.

    The log must hold the tokens as the model saw them: with ``--post-process`` (``--remove-bpe``) fairseq prints words,
    but weights of their pieces.

    Raises:
        FileError: if the log is damaged, or a sentence has no soft alignment or one of other tokens.
    """
    return [_from_log(path, sentence) for sentence in read_generate_log(path).sentences]


def _from_log(path: str | PathLike[str], sentence: Sentence) -> SoftAlignment:
    hypothesis = sentence.hypotheses[0]
    if sentence.source is None or hypothesis.alignment is None:
        message = f"sentence {sentence.number} has no S or no A line: translate with --print-alignment soft"
        raise FileError(path, message, line=sentence.line)
    source = (*sentence.source.split(), END_OF_SENTENCE)
    target = (*hypothesis.tokens.split(), END_OF_SENTENCE)
    try:
        weights = np.array([row.split(",") for row in hypothesis.alignment.split()], dtype=float)
    except ValueError as error:
        message = (
            f"the A line of sentence {sentence.number} is no soft alignment: translate with --print-alignment soft"
        )
        raise FileError(path, message, line=sentence.line) from error
    if weights.shape != (len(target), len(source)):
        message = (
            f"sentence {sentence.number} has {len(target)} target and {len(source)} source tokens, </s> included, but "
            f"weights of shape {weights.shape}: translate without --post-process (--remove-bpe), merge pieces here"
        )
        raise FileError(path, message, line=sentence.line)
    try:
        return SoftAlignment(sentence.number, source, target, weights)
    except ValueError as error:
        message = (
            f"sentence {sentence.number}: {error}; fairseq's own lstm mixes up the weights of padded batches: "
            "translate with --batch-size 1"
        )
        raise FileError(path, message, line=sentence.line) from error


def read_alignment_lines(path: str | PathLike[str]) -> list[SoftAlignment]:
    """Reads what :func:`user_dir.checkpoints.alignments.forced_alignments` found, one sentence a line.

    Raises:
        FileError: naming the line that is no alignment or not the next sentence.
    """
    alignments: list[SoftAlignment] = []
    for line, record in read_json_lines(path, FIELDS):
        if record["sentence"] != len(alignments):
            message = f"sentence {record['sentence']} where sentence {len(alignments)} is expected: lines were lost"
            raise FileError(path, message, line=line)
        try:
            weights = np.array(record["weights"], dtype=float).reshape(len(record["target"]), -1)
            alignments.append(
                SoftAlignment(record["sentence"], tuple(record["source"]), tuple(record["target"]), weights)
            )
        except (TypeError, ValueError) as error:
            raise FileError(path, str(error), line=line) from error
    return alignments
