"""Lets several processes that train together end without an abort.

fairseq 0.12.2 leaves its process group to the interpreter's exit. There gloo's threads may still run, which C++ answers
with "terminate called without an active exception": now and then, on a busy machine, a training that has finished ends
with status 134, and torchrun reports that it failed.
"""

import functools


def repair(distributed_utils):
    """Let ``fairseq.distributed.utils.distributed_main`` close the process group once all have come to its end."""
    import torch

    run = distributed_utils.distributed_main

    @functools.wraps(run)
    def run_and_close(*args, **kwargs):
        run(*args, **kwargs)
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()

    distributed_utils.distributed_main = run_and_close
