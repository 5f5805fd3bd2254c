"""Averages after the same updates, whether a training was interrupted or not.

fairseq 0.12.2 counts the updates of ``--ema-update-freq`` in the process: a training that is resumed between two steps
of ``--store-ema`` makes all later ones after other updates.
"""

import functools


def repair(ema_module):
    """Let ``fairseq.models.ema.ema.EMA`` count from the updates of the training, which checkpoints have."""
    step = ema_module.EMA.step

    @functools.wraps(step)
    def step_after_the_same(self, new_model, updates=None):
        if updates is not None and self.config.ema_update_freq > 1:
            self.update_freq_counter = (updates - 1) % self.config.ema_update_freq
        return step(self, new_model, updates)

    ema_module.EMA.step = step_after_the_same
