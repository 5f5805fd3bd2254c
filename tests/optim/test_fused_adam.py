"""``--optimizer fused_adam`` against fairseq's own Adam."""

from argparse import Namespace

import pytest
import torch
from fairseq.optim.adam import Adam, FairseqAdam

from user_dir.optim import FairseqFusedAdam, FusedAdam

OPTIONS = {"lr": 3e-3, "betas": (0.9, 0.98), "eps": 1e-4}


def parameters(dtype=torch.float32):
    generator = torch.Generator().manual_seed(3)
    shapes = [(17, 5), (40,), (3, 3, 3)]
    return [torch.nn.Parameter(torch.randn(shape, generator=generator, dtype=dtype)) for shape in shapes]


def train(optimizer, weights, steps, *, skip_last_every=3):
    """Steps along made-up gradients; the last parameter has none in some of them."""
    generator = torch.Generator().manual_seed(4)
    for step in range(steps):
        for weight in weights:
            weight.grad = torch.randn(weight.shape, generator=generator).to(weight) * 10.0 ** (step % 4 - 2)
        if step % skip_last_every == 1:
            weights[-1].grad = None
        optimizer.step()


@pytest.mark.parametrize(("dtype", "decay"), [(torch.float32, 0.1), (torch.float64, 0.0), (torch.bfloat16, 0.1)])
def test_the_weights_are_those_of_fairseqs_adam(dtype, decay):
    ours, theirs = parameters(dtype), parameters(dtype)
    train(FusedAdam(ours, weight_decay=decay, **OPTIONS), ours, 40)
    train(Adam(theirs, weight_decay=decay, **OPTIONS), theirs, 40)
    for a, b in zip(ours, theirs):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-6)


STRIDES = {
    "gradient": lambda numbers: (numbers, numbers.t().contiguous().t()),
    "expanded": lambda numbers: (numbers, numbers[:1].expand_as(numbers)),
    "parameter": lambda numbers: (numbers.t().contiguous().t(), numbers),
}


@pytest.mark.parametrize("strides", STRIDES)
def test_strides_do_not_matter(strides):
    start, grad = STRIDES[strides](torch.arange(24.0).view(4, 6) / 10 - 1)
    ours, theirs = (torch.nn.Parameter(start.clone(memory_format=torch.preserve_format)) for _ in range(2))
    for kind, weight in ((FusedAdam, ours), (Adam, theirs)):
        optimizer = kind([weight], **OPTIONS)
        for _ in range(3):
            weight.grad = grad
            optimizer.step()
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)


def test_training_goes_on_from_the_state_of_fairseqs_adam():
    ours, theirs = parameters(), parameters()
    before, after = Adam(ours, **OPTIONS), FusedAdam(ours, **OPTIONS)
    train(before, ours, 5)
    after.load_state_dict(before.state_dict())
    train(after, ours, 5)
    whole = Adam(theirs, **OPTIONS)
    train(whole, theirs, 5)
    train(whole, theirs, 5)
    for a, b in zip(ours, theirs):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-6)


def test_its_options_are_those_of_fairseqs_adam():
    config = Namespace(lr=[0.25], adam_betas="(0.8, 0.9)", adam_eps=1e-3, weight_decay=0.5, fp16_adam_stats=False)
    found, expected = (make(config, parameters()).optimizer_config for make in (FairseqFusedAdam, FairseqAdam))
    assert found == expected and found["betas"] == (0.8, 0.9)
