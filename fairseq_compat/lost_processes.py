"""Lets ``--heartbeat-timeout`` end processes that train together when one of them, or the network, is gone.

fairseq 0.12.2 sets no limit when the processes form their groups, so each waits for a lost one as long as PyTorch does
by itself: 30 minutes over gloo, 10 over NCCL. ``--heartbeat-timeout`` ("kill the job if no progress is made in N
seconds") is of no help: its SIGINT reaches Python only when that wait is over. What they end with then is an error of
gloo or NCCL that says neither what has happened nor what to do.
"""

import functools
import sys
from datetime import timedelta

from .module_view import ModuleView


def repair(distributed_utils):
    """Give the groups the limit of the option, and say what a lost connection means."""
    import torch

    if torch.distributed.is_available():
        _limit_waiting(distributed_utils)
        _explain_lost_connections(distributed_utils)


def _limit_waiting(distributed_utils):
    """Let ``fairseq.distributed.utils`` form all groups of a training with a limit, if the option sets one."""
    initialize, distributed = distributed_utils.distributed_init, distributed_utils.dist

    @functools.wraps(initialize)
    def initialize_with_limit(cfg):
        limit, limited = _limit(cfg), {}
        if limit is not None:
            # The gradients go through a group of their own, which PyTorch gives no limit of the first.
            forms = (distributed.init_process_group, distributed.new_group)
            limited = {form.__name__: functools.partial(form, timeout=timedelta(seconds=limit)) for form in forms}
        distributed_utils.dist = ModuleView(distributed, **limited)
        return initialize(cfg)

    distributed_utils.distributed_init = initialize_with_limit


def _explain_lost_connections(distributed_utils):
    """Let ``fairseq.distributed.utils.distributed_main`` end with a message instead of a traceback."""
    run = distributed_utils.distributed_main

    @functools.wraps(run)
    def run_and_explain(i, main, cfg, kwargs):
        try:
            return run(i, main, cfg, kwargs)
        except (RuntimeError, KeyboardInterrupt) as error:
            # The option's own SIGINT takes effect as soon as the wait is over.
            cause = error.__context__ if isinstance(error, KeyboardInterrupt) else error
            if not _is_lost_connection(cause):
                raise
            distributed_utils.logger.error(_message(cfg, cause))
            sys.exit(1)

    distributed_utils.distributed_main = run_and_explain


def _limit(cfg):
    """Return the seconds of ``--heartbeat-timeout``, or None without it; `cfg` may be of either of fairseq's kinds."""
    limit = getattr(getattr(cfg, "distributed_training", cfg), "heartbeat_timeout", -1)
    return limit if limit > 0 else None


def _is_lost_connection(error):
    """Whether gloo, NCCL, or the store through which the processes meet has failed."""
    import torch

    return isinstance(error, torch.distributed.DistError) or (isinstance(error, RuntimeError) and "gloo" in str(error))


def _message(cfg, cause):
    group, limit = cfg.distributed_training, _limit(cfg)
    waited = f"{limit} seconds (--heartbeat-timeout)" if limit else "PyTorch's limit (--heartbeat-timeout sets one)"
    return (
        f"process {group.distributed_rank} of {group.distributed_world_size} has lost the other processes: one of them "
        f"has ended, or a machine or the network has not answered for {waited}. Started again, all continue from the "
        f"last checkpoint. PyTorch says: {str(cause).strip().splitlines()[0]}"
    )
