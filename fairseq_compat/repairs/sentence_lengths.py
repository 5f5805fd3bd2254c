"""Sentences that are longer than a batch or than a model takes: which, and how long."""

#: What stands for no limit: a number, so that other programs can read the checkpoint.
UNLIMITED = 10**9
#: fairseq's number of positions.
POSITIONS = 1024
SIDES = ("source", "target")


def require_lengths(task, dataset, max_tokens, max_positions):
    """Raise ValueError, with split, line, and length, if a sentence exceeds either limit."""
    import numpy
    from fairseq.utils import resolve_max_positions

    limits = resolve_max_positions(max_positions, max_tokens)
    # Several data sets in one have a dictionary of limits, and lines that are not counted through.
    if limits is None or isinstance(limits, dict):
        return
    _, refused = dataset.filter_indices_by_size(numpy.arange(len(dataset)), limits)
    if len(refused) == 0:
        return
    first = int(min(refused))
    split = next((name for name, loaded in task.datasets.items() if loaded is dataset), "the input")
    raise SentenceLengthError(
        split,
        first,
        f"{_written(dataset.size(first))} tokens, the end of the sentence included, are more than {_written(limits)}: "
        "raise --max-tokens, --max-source-positions, or --max-target-positions, or skip this example with "
        "--skip-invalid-size-inputs-valid-test",
    )


class SentenceLengthError(ValueError):
    """A sentence that is too long.

    Attributes:
        text: where it is: a split, or the input.
        number: of the sentence, from 0.
        reason: what is said about it.
    """

    def __init__(self, text, number, reason):
        super().__init__(f"{text}, line {number + 1}: {reason}")
        self.text = text
        self.number = number
        self.reason = reason


def _written(sizes):
    """``5 source and 7 target``; a single number as it is."""
    if not (isinstance(sizes, (tuple, list)) and len(sizes) == len(SIDES)):
        return str(sizes)
    known = ((size, side) for size, side in zip(sizes, SIDES) if size and size < UNLIMITED)
    return " and ".join(f"{int(size):,} {side}" for size, side in known)


def longest_sentence(dataset, max_positions):
    """Return the tokens of the longest sentence that is not too long for the model."""
    import numpy

    indices = numpy.arange(len(dataset))
    if max_positions is not None:
        indices, _ = dataset.filter_indices_by_size(indices, max_positions)
    return int(max(map(dataset.num_tokens, indices), default=0))
