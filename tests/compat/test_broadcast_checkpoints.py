"""What one process has read of a checkpoint reaches the others, with safe loading left on."""

from __future__ import annotations

import argparse

import torch
from fairseq.distributed import utils
from omegaconf import OmegaConf


def test_a_checkpoint_with_its_configuration_reaches_another_process(monkeypatch):
    state = {
        "cfg": OmegaConf.create({"model": {"_name": "gru_encoder", "lr": [0.1]}, "bpe": None}),
        "args": argparse.Namespace(arch="lstm"),
        "model": {"weight": torch.arange(6.0).reshape(2, 3)},
        "optimizer_history": [{"num_updates": 3}],
    }
    sent = []
    monkeypatch.setattr(utils, "get_rank", lambda group: 0)
    monkeypatch.setattr(utils, "broadcast", lambda tensor, src, group: sent.append(tensor.clone()))
    utils.broadcast_object(state, src_rank=0, group=None, dist_device=torch.device("cpu"))

    messages = iter(sent)
    monkeypatch.setattr(utils, "get_rank", lambda group: 1)
    monkeypatch.setattr(utils, "broadcast", lambda tensor, src, group: tensor.copy_(next(messages).view_as(tensor)))
    received = utils.broadcast_object(None, src_rank=0, group=None, dist_device=torch.device("cpu"))
    assert received["cfg"] == {"model": {"_name": "gru_encoder", "lr": [0.1]}, "bpe": None}
    assert torch.equal(received["model"]["weight"], state["model"]["weight"])
    assert (received["args"].arch, received["optimizer_history"]) == ("lstm", [{"num_updates": 3}])
