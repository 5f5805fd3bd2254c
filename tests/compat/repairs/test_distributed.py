"""Processes that train together end together, and say so where one of them is lost."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
import torch
from fairseq.dataclass.configs import FairseqConfig
from fairseq.distributed import utils
from omegaconf import OmegaConf

TIMED_OUT = "[gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 7000ms for recv operation to complete"


@pytest.fixture
def configuration(tmp_path):
    """Of a process that trains in a group of its own."""
    vars(utils.get_global_group).clear()  # fairseq keeps the group of an earlier test
    whole = OmegaConf.structured(FairseqConfig)
    whole.common.cpu, whole.model = True, None
    own = whole.distributed_training
    own.distributed_init_method, own.distributed_backend = f"file://{tmp_path}/meeting", "gloo"
    own.distributed_world_size, own.distributed_rank, own.distributed_no_spawn, own.distributed_port = 1, 0, True, -1
    yield whole
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
    vars(utils.get_global_group).clear()


@pytest.mark.parametrize(("option", "seconds"), [(7, 7), (-1, 1800)])
def test_the_option_limits_the_group_of_all_and_the_group_of_the_gradients(option, seconds, configuration):
    configuration.distributed_training.heartbeat_timeout = option
    limits = []

    def train(_):
        groups = (torch.distributed.group.WORLD, utils.get_data_parallel_group())
        limits.extend(group._get_backend(torch.device("cpu")).options._timeout for group in groups)

    utils.call_main(configuration, train)
    assert limits == [timedelta(seconds=seconds)] * 2


@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize("error", [RuntimeError(TIMED_OUT), torch.distributed.DistBackendError("NCCL: timed out")])
def test_a_lost_connection_ends_in_one_line(error, interrupted, configuration, caplog):
    configuration.distributed_training.heartbeat_timeout = 7

    def train(_):
        try:
            raise error
        finally:
            if interrupted:  # by the option's own signal, which Python sees when the wait is over
                raise KeyboardInterrupt

    with pytest.raises(SystemExit) as end:
        utils.call_main(configuration, train)
    assert end.value.code == 1
    (message,) = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert "process 0 of 1 has lost the other processes" in message and str(error) in message
    assert "has not answered for 7 seconds (--heartbeat-timeout). Started again, all continue from the last" in message


@pytest.mark.parametrize("error", [RuntimeError("shapes do not match"), KeyboardInterrupt()])
def test_other_errors_stay_what_they_are(error, configuration, caplog):
    def train(_):
        raise error

    with pytest.raises(type(error)) as raised:
        utils.call_main(configuration, train)
    assert raised.value is error and "lost" not in caplog.text


def test_the_group_of_processes_ends_with_what_they_do_together(configuration):
    during = []
    utils.call_main(configuration, lambda _: during.append(torch.distributed.is_initialized()))
    assert during == [True] and not torch.distributed.is_initialized()
