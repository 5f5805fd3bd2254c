"""Lets fairseq-train end in order when it is asked to (SIGTERM).

Python's own answer to the signal is to vanish: the processes that load data then print tracebacks about the broken
connection into the log, and nothing says what ended the training.
"""

import functools
import signal
import sys
import threading


def repair(train_module):
    """Let ``fairseq_cli.train.main`` leave with status 143, as a shell reports the signal."""
    main = train_module.main

    def stop(*_):
        train_module.logger.info("SIGTERM: training stops here; the same call goes on from checkpoint_last.pt")
        sys.exit(128 + signal.SIGTERM)

    @functools.wraps(main)
    def main_that_can_be_terminated(cfg, *args, **kwargs):
        if threading.current_thread() is not threading.main_thread():
            return main(cfg, *args, **kwargs)
        before = signal.signal(signal.SIGTERM, stop)
        try:
            return main(cfg, *args, **kwargs)
        finally:
            signal.signal(signal.SIGTERM, before)

    train_module.main = main_that_can_be_terminated
