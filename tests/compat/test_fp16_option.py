"""Without a GPU, --fp16 is refused in a sentence that names what works there."""

from __future__ import annotations

import pytest
import torch

from tests.models.building import build
from tests.training import ADAM, trainer


@pytest.fixture(autouse=True)
def without_a_gpu(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def test_what_works_without_a_gpu_is_named():
    training = trainer(build("gru_encoder"), "cross_entropy", *ADAM, "--fp16")
    message = (
        r"^--fp16 needs a GPU, and PyTorch finds none: leave it out, or train in bfloat16, with --bf16; --amp runs "
        r"without a GPU, but in float32$"
    )
    with pytest.raises(ValueError, match=message):
        training.lr_step_update()


@pytest.mark.parametrize("option", ["--bf16", "--memory-efficient-fp16", "--amp"])
def test_others_build_their_optimizers(option):
    training = trainer(build("gru_encoder"), "cross_entropy", *ADAM, option)
    training.lr_step_update()
    assert training.get_lr() == 0.01
