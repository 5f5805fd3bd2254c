"""A skip in time: what enters a step, and what is remembered of a sentence's end."""

import pytest
import torch

from recurrent_mt.kernels.packing import make_packing
from recurrent_mt.layers.gru import GRU
from recurrent_mt.layers.gru_cell import GRUVariant
from recurrent_mt.layers.time_skip import last_states
from tests.kernels.batches import random


def test_three_steps_of_a_skip_are_those_worked_out_by_hand():
    """With z = 1 every step keeps what entered it, so with g = 1/4 and K = 2, h_t = h_{t−1}/4 + 3/4 h_{t−2}."""
    layer = GRU(1, 1, variant=GRUVariant(time_skip=2)).double()
    inputs = torch.tensor([[0.0, 50.0, 0.0]] * 3, dtype=torch.float64)
    with torch.no_grad():
        layer.time_skip.bias.fill_(torch.logit(torch.tensor(0.25, dtype=torch.float64)))
        states = layer.run(inputs, torch.tensor([[[1.0], [2.0]]], dtype=torch.float64), [1, 1, 1])
    first = 2 / 4 + 3 / 4
    second = first / 4 + 2 * 3 / 4
    assert states.flatten().tolist() == pytest.approx([first, second, second / 4 + first * 3 / 4])


def test_the_last_states_reach_back_before_the_start():
    span, lengths = 3, [4, 1, 0, 2]
    mask = torch.arange(4) >= torch.tensor(lengths)[:, None]
    packing = make_packing(mask)
    padded, initial = random(4, 4, 5), random(4, span, 5)
    result = packing.unsort(last_states(packing.pack(padded), packing.sort(initial), packing.batch_sizes))
    for row, length in enumerate(lengths):
        expected = torch.cat([initial[row], padded[row, :length]])[-span:]
        torch.testing.assert_close(result[row], expected)
