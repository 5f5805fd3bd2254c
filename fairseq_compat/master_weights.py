"""Lets a training with ``--bf16`` or ``--fp16`` go on with the weights that it had.

Such a training computes with narrow weights and updates a copy of them in float32. fairseq 0.12.2 saves the narrow ones
alone: a training that is resumed forgets all that they round off, which is most of what small updates have added up.
"""

import functools

#: Under which name a state of the optimizer has them, in the order of the parameters.
KEY = "master_weights"


def repair(fp16_optimizer):
    """Let the optimizers of ``fairseq.optim.fp16_optimizer`` that have such a copy save and load it."""
    mixin = fp16_optimizer._FP16OptimizerMixin
    state_dict, load_state_dict = mixin.state_dict, mixin.load_state_dict

    @functools.wraps(state_dict)
    def state_with_masters(self):
        return {**state_dict(self), KEY: [master.detach() for master in _masters(self)]}

    @functools.wraps(load_state_dict)
    def load_with_masters(self, state, optimizer_overrides=None):
        saved = state.get(KEY, [])
        state = {name: value for name, value in state.items() if name != KEY}
        load_state_dict(self, state, optimizer_overrides)
        masters = _masters(self)
        if len(saved) != len(masters):
            return
        for master, value in zip(masters, saved, strict=True):
            value = value.to(master.device)
            narrow = value.to(self.fp16_params[0].dtype).to(master.dtype)
            # They only complete what the model says: where someone has changed it since, they are of another one.
            if narrow.shape == master.shape and narrow.equal(master.detach()):
                master.data.copy_(value)

    mixin.state_dict, mixin.load_state_dict = state_with_masters, load_with_masters


def _masters(optimizer):
    """The copy in float32: one for each parameter, or one for each device in which all of them follow each other."""
    masters = optimizer.fp32_params
    return list(masters.values()) if isinstance(masters, dict) else list(masters)
