"""What belongs to past epochs does not stay in memory until Python happens to find it."""

import gc
import weakref

from fairseq_compat.repairs.trainer import let_go_of_past_epochs


class Epoch:
    def __init__(self):
        self.itself = self


def test_a_past_epoch_is_gone_when_the_next_begins():
    gc.disable()
    try:
        past = weakref.ref(Epoch())
        assert past() is not None
        assert let_go_of_past_epochs(lambda _: past(), None) is None
    finally:
        gc.enable()
