"""A function over a stream of items, on several processors, results in order."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Enough that no process waits for the one that reads and writes, few enough that memory stays flat.
_AHEAD = 3

_function: Callable[[Any], Any]


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """Like ``map``, with so many processes.

    ``Pool.imap`` and ``Executor.map`` take all items at once; here only a few are taken ahead. The processes are
    forked: ``function`` may hold large tables, which they share.

    Args:
        function: what to do; it and what it holds is not sent with each item.
        items: taken in this process, in order.
        jobs: processes; with 1 everything is done in this one.

    Raises:
        RuntimeError: a process died.
    """
    if jobs == 1:
        yield from map(function, items)
        return
    with ProcessPoolExecutor(jobs, get_context("fork"), _start, (function,)) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(_call, item))
                if len(waiting) >= _AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise RuntimeError("a process died, perhaps for want of memory: use fewer --jobs") from error
        finally:
            pool.shutdown(cancel_futures=True)


def _start(function: Callable[[Any], Any]) -> None:
    """Keeps the function, leaves Ctrl-C to the parent, and ends when the parent is killed."""
    global _function
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _call(item: Any) -> Any:
    return _function(item)
