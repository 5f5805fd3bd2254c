"""Repairs of fairseq's optimizers and moving averages in narrow formats, and of averages of shared matrices."""

from types import SimpleNamespace

from ..replacements import around

#: Under which name the state of an optimizer has its float32 weights, in the order of the parameters.
MASTERS = "master_weights"


@around("fairseq.optim.fp16_optimizer", "_FP16OptimizerMixin.state_dict")
def state_with_masters(get_state, self):
    """Save the float32 weights that ``--bf16`` and ``--fp16`` update.

    fairseq 0.12.2 saves the narrow ones alone: a training that is resumed forgets all that they round off, which is
    most of what small updates have added up.
    """
    return {**get_state(self), MASTERS: [master.detach() for master in _masters(self)]}


@around("fairseq.optim.fp16_optimizer", "_FP16OptimizerMixin.load_state_dict")
def load_with_masters(load, self, state, optimizer_overrides=None):
    """Go on with the float32 weights of a checkpoint, where they are those of its model."""
    saved = state.get(MASTERS, [])
    load(self, {name: value for name, value in state.items() if name != MASTERS}, optimizer_overrides)
    masters = _masters(self)
    if len(saved) != len(masters):
        return
    for master, value in zip(masters, saved, strict=True):
        value = value.to(master.device)
        narrow = value.to(self.fp16_params[0].dtype).to(master.dtype)
        # They only complete what the model says: where someone has changed it since, they are of another one.
        if narrow.shape == master.shape and narrow.equal(master.detach()):
            master.data.copy_(value)


def _masters(optimizer):
    """The copy in float32: one for each parameter, or one for each device in which all of them follow each other."""
    masters = optimizer.fp32_params
    return list(masters.values()) if isinstance(masters, dict) else list(masters)


@around("fairseq.models.ema.ema", "EMA.__init__")
def start_in_float32(start, self, model, config, *args, **kwargs):
    """Keep averages of 32 bits.

    Those of a model in 16 bits have 16 bits, too, in fairseq 0.12.2, unless ``--ema-fp32`` is given: what an update
    adds to them is mostly less than they can hold, so they stand still, next to the random numbers of the start.
    """
    # The trainer has the same options, and saves the averages in 32 bits if they say so.
    config.ema_fp32 |= any(value.is_floating_point() and value.itemsize < 4 for value in model.parameters())
    start(self, model, config, *args, **kwargs)


@around("fairseq.models.ema.ema", "EMA._step_internal")
def average_once(step, self, new_model, updates=None):
    """Average each parameter once.

    In fairseq 0.12.2, a matrix that two parts of a model share, as embeddings and output do with
    ``--share-decoder-input-output-embed``, is averaged under each of its names, and forgets twice as fast as others.
    """
    averages = self.fp32_params if self.config.ema_fp32 else self.model.state_dict()
    seen, again = set(), set()
    for name, average in averages.items():
        # What a module keeps besides tensors; fairseq leaves it as it is.
        if isinstance(average, dict):
            continue
        place = average.data_ptr(), average.shape
        if average.numel() and place in seen:
            again.add(name)
        seen.add(place)
    state = {name: value for name, value in new_model.state_dict().items() if name not in again}
    # All that the step reads of a model.
    return step(self, SimpleNamespace(state_dict=lambda: state), updates)
