"""Averages each parameter once with ``--store-ema``, and in float32.

In fairseq 0.12.2, a matrix that two parts of a model share, as embeddings and output do with
``--share-decoder-input-output-embed``, is averaged once under each of its names, and forgets twice as fast as others.
The averages of a model in 16 bits have 16 bits, too, unless ``--ema-fp32`` is given: what an update adds to them is
mostly less than they can hold, so they stand still, next to the random numbers of the start.
"""

import functools


def repair(ema_module):
    """Let ``fairseq.models.ema.ema.EMA`` see a shared parameter under its first name alone, and keep 32 bits."""
    start, step = ema_module.EMA.__init__, ema_module.EMA._step_internal

    @functools.wraps(start)
    def start_in_float32(self, model, config, *args, **kwargs):
        # The trainer has the same options, and saves the averages in 32 bits if they say so.
        config.ema_fp32 |= any(value.is_floating_point() and value.itemsize < 4 for value in model.parameters())
        start(self, model, config, *args, **kwargs)

    @functools.wraps(step)
    def step_once(self, new_model, updates=None):
        averages = self.fp32_params if self.config.ema_fp32 else self.model.state_dict()
        return step(self, _FirstNames(new_model, averages), updates)

    ema_module.EMA.__init__ = start_in_float32
    ema_module.EMA._step_internal = step_once


class _FirstNames:
    """A model whose state has one name for each average."""

    def __init__(self, model, averages):
        self._model = model
        seen = set()
        self._others = set()
        for name, average in averages.items():
            # What a module keeps besides tensors; fairseq leaves it as it is.
            if isinstance(average, dict):
                continue
            place = average.data_ptr(), average.shape
            if average.numel() and place in seen:
                self._others.add(name)
            seen.add(place)

    def state_dict(self):
        """Return what the average's step reads of a model."""
        return {name: value for name, value in self._model.state_dict().items() if name not in self._others}
