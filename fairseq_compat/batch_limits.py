"""Says which line is too long for a batch, before an epoch of work is lost, and leaves such lines out if asked to.

fairseq 0.12.2 compares validation and test sets with the model's limits, but not with ``--max-tokens``: one longer line
ends training at its first validation, "sentence at index 3 of size 700 exceeds max_tokens limit of 600!", before the
epoch is saved and whatever ``--skip-invalid-size-inputs-valid-test`` says. Which set that is, is not said either, nor
which one is empty.
"""

import functools

from .position_limits import SIDES, UNLIMITED

#: In fairseq's own words, which its users and its tests look for.
SKIPPING = "skip this example with --skip-invalid-size-inputs-valid-test"


def repair(module):
    """Wrap ``get_batch_iterator`` of all tasks, and let training look at its validation sets when it begins."""
    if module.__name__ == "fairseq_cli.train":
        module.train = _checking_validation_sets(module.train)
    else:
        module.FairseqTask.get_batch_iterator = _within_limits(module.FairseqTask.get_batch_iterator)


def _within_limits(get_batch_iterator):
    @functools.wraps(get_batch_iterator)
    def get_batches_within_limits(
        self,
        dataset,
        max_tokens=None,
        max_sentences=None,
        max_positions=None,
        ignore_invalid_inputs=False,
        *args,
        **kwargs,
    ):
        if not ignore_invalid_inputs:
            require_lengths(self, dataset, max_tokens, max_positions)
        limits = _limits(max_tokens, max_positions)
        batches = get_batch_iterator(
            self, dataset, max_tokens, max_sentences, limits, ignore_invalid_inputs, *args, **kwargs
        )
        split = _split_of(self, dataset)
        # A sampler that is called for each epoch has not made its batches yet.
        if split is not None and not callable(batches.batch_sampler) and len(batches) == 0:
            raise ValueError(f"{split}: none of its {len(dataset)} sentences can be used")
        return batches

    return get_batches_within_limits


def _checking_validation_sets(train):
    @functools.wraps(train)
    def train_with_usable_validation_sets(cfg, trainer, task, epoch_itr):
        options = cfg.dataset
        if not options.disable_validation:
            for split in options.valid_subset.split(","):
                if split not in task.datasets:
                    continue
                if len(task.datasets[split]) == 0:
                    raise ValueError(f"{split} has no sentences: give it some, or --disable-validation")
                if not options.skip_invalid_size_inputs_valid_test:
                    from fairseq.utils import resolve_max_positions

                    positions = resolve_max_positions(task.max_positions(), trainer.get_model().max_positions())
                    require_lengths(task, task.datasets[split], options.max_tokens_valid, positions)
        return train(cfg, trainer, task, epoch_itr)

    return train_with_usable_validation_sets


def require_lengths(task, dataset, max_tokens, max_positions):
    """Raise ValueError, with split, line, length, and option, if a sentence exceeds either limit."""
    import numpy

    limits = _limits(max_tokens, max_positions)
    # Several data sets in one have a dictionary of limits, and lines that are not counted through.
    if limits is None or isinstance(limits, dict):
        return
    _, refused = dataset.filter_indices_by_size(numpy.arange(len(dataset)), limits)
    if len(refused) == 0:
        return
    first = int(min(refused))
    size = dataset.size(first)
    if max_tokens is not None and max(size if isinstance(size, tuple) else (size,)) > max_tokens:
        limit = f"--max-tokens {max_tokens}"
    else:
        limit = f"the model takes ({_written(max_positions)}, see --max-source-positions and --max-target-positions)"
    others = f", and {len(refused) - 1} other lines" if refused[1:] else ""
    raise SentenceLengthError(
        _split_of(task, dataset) or "the input",
        first,
        f"{_written(size)} tokens, the end of the sentence included, are more than {limit}{others}. "
        f"Raise the limit, or {SKIPPING}",
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


def _limits(max_tokens, max_positions):
    from fairseq.utils import resolve_max_positions

    return resolve_max_positions(max_positions, max_tokens)


def _split_of(task, dataset):
    return next((name for name, loaded in task.datasets.items() if loaded is dataset), None)
