"""Lets ``fairseq-interactive`` say how many lines it has read, so that a log without its last sentences is noticed."""

import functools


def repair(interactive):
    """Count the lines that ``fairseq_cli.interactive`` reads."""
    buffered_read = interactive.buffered_read

    @functools.wraps(buffered_read)
    def read_and_count(*args, **kwargs):
        count = 0
        for lines in buffered_read(*args, **kwargs):
            yield lines
            count += len(lines)
        interactive.logger.info(f"Read {count:,} lines")

    interactive.buffered_read = read_and_count
