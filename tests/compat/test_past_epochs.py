"""What belongs to past epochs does not stay in memory until Python happens to find it."""

import gc
import weakref
from types import SimpleNamespace

from fairseq_compat.past_epochs import repair


class Epoch:
    def __init__(self):
        self.itself = self


class Trainer:
    def get_train_iterator(self, epoch, past=None):
        return epoch, past()


def test_a_past_epoch_is_gone_when_the_next_begins():
    module = SimpleNamespace(Trainer=type("Trainer", (Trainer,), {}))
    repair(module)
    gc.disable()
    try:
        past = weakref.ref(Epoch())
        assert past() is not None
        assert module.Trainer().get_train_iterator(2, past=past) == (2, None)
    finally:
        gc.enable()
