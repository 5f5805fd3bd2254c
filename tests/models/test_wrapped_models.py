"""Models inside what PyTorch wraps around them: activation checkpointing, and several processes."""

import pytest
import torch
from fairseq.distributed import ModuleProxyWrapper
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from tests.models.building import ARCHITECTURES, build, sample, task
from user_dir.criterions import ChunkedCrossEntropyCriterion, SummedCrossEntropyCriterion

BATCH = sample([4, 1, 6], [5, 2, 7])


@pytest.fixture
def one_process(tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path / 'rendezvous'}", rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def gradients(model, criterion, wrapped=None):
    loss, _, _ = criterion(task(), sentence_avg=False)(wrapped or model, BATCH)
    loss.backward()
    return [parameter.grad for parameter in model.parameters()]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_gradients_under_non_reentrant_checkpointing_are_the_same(architecture):
    plain, checkpointed = build(architecture), build(architecture)
    layer = checkpointed.encoder.layer
    run = layer.forward
    layer.forward = lambda *inputs: checkpoint(run, *inputs, use_reentrant=False)
    for expected, found in zip(*(gradients(model, ChunkedCrossEntropyCriterion) for model in (plain, checkpointed))):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("criterion", [ChunkedCrossEntropyCriterion, SummedCrossEntropyCriterion])
def test_distributed_data_parallel_may_look_for_unused_parameters(criterion, one_process):
    """fairseq's ``--ddp-backend pytorch_ddp --find-unused-parameters``: what the forward pass uses has gradients."""
    plain, wrapped = build("gru_encoder"), build("gru_encoder")
    expected = gradients(plain, criterion)
    proxy = ModuleProxyWrapper(DistributedDataParallel(wrapped, find_unused_parameters=True))
    for a, b in zip(gradients(wrapped, criterion, proxy), expected):
        torch.testing.assert_close(a, b)
