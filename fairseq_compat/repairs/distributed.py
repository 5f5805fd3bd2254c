"""Repairs of ``fairseq.distributed.utils``: how several processes wait for each other, and end."""

import functools
import sys
from datetime import timedelta

from torch import distributed

from ..replacements import ModuleView, around


@around("fairseq.distributed.utils", "distributed_init")
def limit_waiting(initialize, cfg):
    """Form all groups of a training with the limit of ``--heartbeat-timeout``, if it sets one.

    fairseq 0.12.2 sets no limit, so each process waits for a lost one as long as PyTorch does by itself: 30 minutes
    over gloo, 10 over NCCL. ``--heartbeat-timeout`` ("kill the job if no progress is made in N seconds") is of no help:
    its SIGINT reaches Python only when that wait is over.
    """
    import fairseq.distributed.utils

    limit, limited = _limit(cfg), {}
    if limit is not None:
        # The gradients go through a group of their own, which PyTorch gives no limit of the first.
        forms = (distributed.init_process_group, distributed.new_group)
        limited = {form.__name__: functools.partial(form, timeout=timedelta(seconds=limit)) for form in forms}
    fairseq.distributed.utils.dist = ModuleView(distributed, **limited)
    return initialize(cfg)


@around("fairseq.distributed.utils", "distributed_main")
def end_together(run, i, main, cfg, kwargs):
    """Close the process group once all have come to their end; end with a message where a connection is lost.

    fairseq 0.12.2 leaves its process group to the interpreter's exit. There gloo's threads may still run, which C++
    answers with "terminate called without an active exception": now and then, on a busy machine, a training that has
    finished ends with status 134, and torchrun reports that it failed. And an error of gloo or NCCL says neither what
    has happened nor what to do.
    """
    from fairseq.distributed.utils import logger

    try:
        run(i, main, cfg, kwargs)
        if distributed.is_initialized():
            distributed.destroy_process_group()
    except (RuntimeError, KeyboardInterrupt) as error:
        # The option's own SIGINT takes effect as soon as the wait is over.
        cause = error.__context__ if isinstance(error, KeyboardInterrupt) else error
        if not _is_lost_connection(cause):
            raise
        logger.error(_message(cfg, cause))
        sys.exit(1)


def _limit(cfg):
    """Return the seconds of ``--heartbeat-timeout``, or None without it; `cfg` may be of either of fairseq's kinds."""
    limit = getattr(getattr(cfg, "distributed_training", cfg), "heartbeat_timeout", -1)
    return limit if limit > 0 else None


def _is_lost_connection(error):
    """Whether gloo, NCCL, or the store through which the processes meet has failed."""
    return isinstance(error, distributed.DistError) or (isinstance(error, RuntimeError) and "gloo" in str(error))


def _message(cfg, cause):
    group, limit = cfg.distributed_training, _limit(cfg)
    waited = f"{limit} seconds (--heartbeat-timeout)" if limit else "PyTorch's limit (--heartbeat-timeout sets one)"
    return (
        f"process {group.distributed_rank} of {group.distributed_world_size} has lost the other processes: one of them "
        f"has ended, or a machine or the network has not answered for {waited}. Started again, all continue from the "
        f"last checkpoint. PyTorch says: {str(cause).strip().splitlines()[0]}"
    )
