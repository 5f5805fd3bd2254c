"""--store-ema averages a matrix that parts of a model share as it does all others."""

from __future__ import annotations

import pytest
import torch
from fairseq.dataclass.configs import EMAConfig
from fairseq.models.ema.ema import EMA

from tests.models.building import build, task


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("in_float32", [False, True])
def test_each_parameter_moves_as_far(half: bool, in_float32: bool):
    shared = {"encoder_embed_dim": 8, "decoder_out_embed_dim": 8, "share_all_embeddings": True}
    model = build("gru_encoder", task(source_words=13, joined=True), share_decoder_input_output_embed=True, **shared)
    model = model.half() if half else model
    averages = EMA(model, EMAConfig(store_ema=True, ema_decay=0.75, ema_fp32=in_float32))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert before["encoder.embed_tokens.weight"].equal(before["decoder.output_projection.weight"])
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for _ in range(2):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(before[names[id(parameter)]] + 1)
        averages.step(model, 1)
    moved = {name: (value - before[name]).float().mean() for name, value in averages.get_model().state_dict().items()}
    assert {round(float(distance), 2) for distance in moved.values()} == {round(1 - 0.75**2, 2)}


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
def test_averages_of_16_bits_move_however_little(precision: torch.dtype):
    model = torch.nn.Linear(3, 2).to(precision)
    averages = EMA(model, EMAConfig(store_ema=True, ema_decay=0.9999))
    before = averages.get_model().weight.float()
    with torch.no_grad():
        model.weight += 1
    for _ in range(1000):
        averages.step(model, 1)
    assert (averages.get_model().weight - before).allclose(torch.tensor(1 - 0.9999**1000), atol=0.005)


class Versioned(torch.nn.Linear):
    """A layer whose state has more than tensors."""

    def get_extra_state(self) -> dict[str, int]:
        return {"version": 2}

    def set_extra_state(self, state: dict[str, int]) -> None:
        assert state == {"version": 2}


def test_what_is_no_tensor_is_not_averaged():
    model = Versioned(3, 2)
    averages = EMA(model, EMAConfig(store_ema=True, ema_decay=0.75))
    before = model.weight.detach().clone()
    with torch.no_grad():
        model.weight += 1
    averages.step(model, 1)
    assert averages.get_model().weight.allclose(before + 0.25)
