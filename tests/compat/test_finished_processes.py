"""Processes that train together leave no group behind, which could abort them as they end."""

import torch
from fairseq.dataclass.configs import FairseqConfig
from fairseq.distributed import utils
from omegaconf import OmegaConf


def test_the_group_of_processes_ends_with_what_they_do_together(tmp_path):
    configuration = OmegaConf.structured(FairseqConfig)
    configuration.common.cpu, configuration.model = True, None
    own = configuration.distributed_training
    own.distributed_init_method, own.distributed_backend = f"file://{tmp_path}/meeting", "gloo"
    own.distributed_world_size, own.distributed_rank, own.distributed_no_spawn, own.distributed_port = 1, 0, True, -1
    during = []
    utils.call_main(configuration, lambda _: during.append(torch.distributed.is_initialized()))
    assert during == [True] and not torch.distributed.is_initialized()
