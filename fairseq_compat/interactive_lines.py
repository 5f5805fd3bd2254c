"""Counts the lines that ``fairseq-interactive`` reads.

It says how many there were, so that a log without its last sentences is noticed; and which line it is that is too long,
not only which of a buffer.

And it speaks up where what follows a tab would be misread: fairseq 0.12.2 searches for ``<unk>`` where a constraint has
a word that the dictionary lacks; without ``--constraints``, it translates the constraints as a part of the sentence.
"""

import functools

from .batch_limits import SentenceLengthError


def repair(interactive):
    """Count the lines that ``fairseq_cli.interactive`` reads."""
    buffered_read, make_batches = interactive.buffered_read, interactive.make_batches
    before = 0

    @functools.wraps(buffered_read)
    def read_and_count(*args, **kwargs):
        nonlocal before
        before = 0
        for lines in buffered_read(*args, **kwargs):
            yield lines
            before += len(lines)
        interactive.logger.info(f"Read {before:,} lines")

    @functools.wraps(make_batches)
    def make_named_batches(lines, cfg, task, max_positions, encode_fn):
        for number, line in enumerate(lines, before + 1):
            _, *constraints = line.split("\t")
            if cfg.generation.constraints:
                for constraint in constraints:
                    _check_constraint(constraint, number, task.target_dictionary, encode_fn)
            elif constraints:
                interactive.logger.warning(
                    f"the input, line {number}: what follows the tab is translated as a part of the sentence: with "
                    "--constraints, it is what the translation must contain"
                )
        try:
            yield from make_batches(lines, cfg, task, max_positions, encode_fn)
        except SentenceLengthError as error:
            raise SentenceLengthError(error.text, before + error.number, error.reason) from None

    interactive.buffered_read = read_and_count
    interactive.make_batches = make_named_batches


def _check_constraint(constraint, number, dictionary, encode_fn):
    """Raises ValueError if a translation cannot contain it."""
    words = dictionary.encode_line(encode_fn(constraint), add_if_not_exist=False, append_eos=False)
    if (words == dictionary.unk()).any():
        raise ValueError(
            f"the input, line {number}: the constraint {constraint!r} has a word that is not in the target dictionary: "
            "leave it out"
        )
