"""Counts the lines that ``fairseq-interactive`` reads.

It says how many there were, so that a log without its last sentences is noticed; and which line it is that is too long,
not only which of a buffer.
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
    def make_named_batches(*args, **kwargs):
        try:
            yield from make_batches(*args, **kwargs)
        except SentenceLengthError as error:
            raise SentenceLengthError(error.text, before + error.number, error.reason) from None

    interactive.buffered_read = read_and_count
    interactive.make_batches = make_named_batches
