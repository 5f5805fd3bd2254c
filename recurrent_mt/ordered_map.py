"""A function over a stream of items, on several processors, results in order."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Enough that no process waits for the one that reads and writes, few enough that memory stays flat.
_AHEAD = 3

# Lines handed to a process at a time: enough to outweigh the hand-over, few enough to keep memory small.
_LINES = 2000

_function: Callable[[Any], Any]


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """Like ``map``, with so many processes.

    ``Pool.imap`` and ``Executor.map`` take all items at once; here at most three a process are taken ahead of what was
    yielded, however slowly the results are read. The processes are forked: ``function`` may hold large tables, which
    they share.

    joblib 1.6 bounds what is at work and not what waits to be read, starts its processes afresh, and sends the function
    with every item.

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
    # By name, because Python 3.14 forks only those that ask for it, and a function with its tables could not be sent.
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


def map_lines(function: Callable[[str], str], lines: Iterable[str], jobs: int) -> Iterator[str]:
    """Applies a function to each line as `ordered_map` does, some thousand lines at a time."""
    if jobs == 1:
        yield from map(function, lines)
        return
    for chunk in ordered_map(lambda chunk: [function(line) for line in chunk], _chunks(lines), jobs):
        yield from chunk


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    iterator = iter(lines)
    while chunk := list(islice(iterator, _LINES)):
        yield chunk


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
