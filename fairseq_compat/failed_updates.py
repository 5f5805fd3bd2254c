"""Names the update, the parameters, and the remedy when training fails numerically.

If a gradient is not a number, fairseq 0.12.2 says "gradients are Nan/Inf" below a dump of all of them. It does not
mention a loss that grows without bound but stays finite: at ``--lr 1e6``, a recurrent model trains to the end with a
loss of 1e20.
"""

import functools

#: Warn about a loss this many times that of a process's first update, and again each time it grows this many times
#: more.
GROWTH = 10


def repair(trainer_module):
    """Wrap ``fairseq.trainer.Trainer.train_step``."""
    train_step = trainer_module.Trainer.train_step

    @functools.wraps(train_step)
    def train_step_that_reports(self, samples, raise_oom=False):
        update = self.get_num_updates() + 1
        try:
            logged = train_step(self, samples, raise_oom)
        except FloatingPointError as error:
            failure = _failure(self.get_model())
            if failure is None:
                raise
            message = (
                f"update {update}: {failure}: {_remedy(self)}. The model before this update is crash.pt in --save-dir"
            )
            raise FloatingPointError(message) from error
        if logged and "loss" in logged:
            _warn_of_growth(self, update, float(logged["loss"]), trainer_module.logger)
        return logged

    trainer_module.Trainer.train_step = train_step_that_reports


def _failure(model):
    """Say which parameters have a gradient that is not finite; None if there is none."""
    parameters = [(name, p.grad) for name, p in model.named_parameters() if p.grad is not None]
    names = [name for name, gradient in parameters if not gradient.isfinite().all()]
    if not names:
        return None
    others = f" and of {len(names) - 1} other parameters" if names[1:] else ""
    return f"the gradient of {names[0]}{others} is not a finite number"


def _remedy(trainer):
    clip_norm = trainer.cfg.optimization.clip_norm
    verb = "lower" if clip_norm > 0 else "set"
    return f"lower --lr (now {trainer.get_lr():g}) or {verb} --clip-norm (now {clip_norm:g}; 0 is off)"


def _warn_of_growth(trainer, update, loss, logger):
    first, limit = getattr(trainer, "_growing_loss", (None, None))
    if first is not None and loss <= limit:
        return
    trainer._growing_loss = (loss if first is None else first, GROWTH * max(loss, 1))
    if first is not None and trainer.is_data_parallel_master:
        message = "update %d: the loss is %.3g and was %.3g when this call began: training diverges; %s"
        logger.warning(message, update, loss, first, _remedy(trainer))
