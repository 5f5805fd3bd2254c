"""A function over the lines of a stream on several processors, in order and in flat memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor

#: Lines handed to a processor at a time: enough to outweigh the hand-over, few enough to keep memory small.
CHUNK = 2000

_function: Callable[[str], str] | None = None


def map_lines(make: Callable[[], Callable[[str], str]], lines: Iterable[str], jobs: int = 1) -> Iterator[str]:
    """Applies a function to each line.

    Args:
        make: called once in each process, returns the function; it and its arguments must be picklable.
        lines: any number of them; at most ``2 * jobs`` chunks are in memory.
        jobs: processes; with 1, everything happens in this one.

    Yields:
        The results, in the order of the lines.
    """
    if jobs == 1:
        yield from map(make(), lines)
        return
    with ProcessPoolExecutor(jobs, initializer=_prepare, initargs=(make,)) as pool:
        pending: deque[Future[list[str]]] = deque()
        for chunk in _chunks(lines):
            pending.append(pool.submit(_apply, chunk))
            if len(pending) >= 2 * jobs:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    for line in lines:
        chunk.append(line)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _prepare(make: Callable[[], Callable[[str], str]]) -> None:
    global _function
    _function = make()


def _apply(chunk: list[str]) -> list[str]:
    assert _function
    return [_function(line) for line in chunk]
