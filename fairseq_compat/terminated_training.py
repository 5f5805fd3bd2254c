"""Lets fairseq-train shut down cleanly when asked to (SIGTERM).

Python's own response to the signal is to vanish: the processes that load data then print tracebacks about the broken
connection to the log, and nothing says what ended the training.
"""

import functools
import os
import signal
import sys
import threading

RETRY_SECONDS = 0.1
#: As a shell reports the signal.
STATUS = 128 + signal.SIGTERM


def repair(train_module):
    """Let ``fairseq_cli.train.main`` exit with status 143."""
    main = train_module.main

    @functools.wraps(main)
    def main_that_can_be_terminated(cfg, *args, **kwargs):
        if threading.current_thread() is not threading.main_thread():
            return main(cfg, *args, **kwargs)
        report = sys.unraisablehook
        asked = False

        def stop(*_):
            nonlocal asked
            asked = True
            train_module.logger.info(
                "SIGTERM: training stops here; rerun the same command to resume from checkpoint_last.pt"
            )
            sys.exit(STATUS)

        def stop_again(unraisable):
            # Python ignores what is raised while an object is deleted, and training would go on.
            if issubclass(unraisable.exc_type, SystemExit):
                threading.Timer(RETRY_SECONDS, os.kill, (os.getpid(), signal.SIGTERM)).start()
            else:
                report(unraisable)

        before = signal.signal(signal.SIGTERM, stop)
        sys.unraisablehook = stop_again
        try:
            return main(cfg, *args, **kwargs)
        except Exception:
            # PyTorch cannot close a file whose writing is interrupted, and its error takes the place of the exit.
            if asked:
                sys.exit(STATUS)
            raise
        finally:
            sys.unraisablehook = report
            signal.signal(signal.SIGTERM, before)

    train_module.main = main_that_can_be_terminated
