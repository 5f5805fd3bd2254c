"""A beam search that waits for sentences: fairseq-interactive as a process that keeps its model."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.util import Finalize

from .evaluation.generate_log import RECORD

#: Lines of what fairseq said that are shown when it fails.
LOG_END = 15
#: What a sentence took, which no other program of fairseq prints.
SECONDS = re.compile(r"W-\d+\t")
#: How our repair of fairseq names a sentence that is too long.
REFUSED = re.compile(r"the input, line (\d{1,18}): ")


class SearchError(RuntimeError):
    """A search that failed; ``said`` has the last lines of what it said."""

    def __init__(self, message: str, said: str) -> None:
        # Both, so that it can be sent to another process.
        super().__init__(message, said)
        self.said = said

    def __str__(self) -> str:
        return str(self.args[0])


class SearchProcess:
    """A process of fairseq-interactive, started when there is something to translate.

    Args:
        command: of fairseq-interactive, which reads standard input.
        buffer_size: as in the command: so many sentences are translated together.
        variables: of the environment, besides this process's own.
    """

    def __init__(self, command: Sequence[str], buffer_size: int, variables: dict[str, str]) -> None:
        self._command = command
        self._buffer_size = buffer_size
        # Without buffering, lines of standard output and of standard error stay whole.
        self._variables = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1", **variables}
        self._process: subprocess.Popen[str] | None = None
        self._done = 0

    def translate(self, sentences: Sequence[str], first: int = 1) -> list[str]:
        """The best translation of each sentence.

        Fewer than the size of a buffer are the last that this process translates: fairseq-interactive takes a part of a
        buffer only at the end of its input.

        Raises:
            SearchError: if the process ends, or leaves out a sentence. It names the lines, whose first has the number
                ``first``.
        """
        process = self.start()
        # At the same time, since it might have more to say than a pipe holds before it reads.
        sender = threading.Thread(target=self._send, args=[process, sentences], daemon=True)
        sender.start()
        texts, said = self._receive(process, len(sentences), first)
        if len(texts) == len(sentences):
            sender.join()
            self._done += len(sentences)
            if len(sentences) < self._buffer_size:
                self.close()
            return texts
        self._process = None
        refused = [int(found[1]) - 1 - self._done for line in said if (found := REFUSED.search(line))]
        is_known = refused and 0 <= refused[-1] < len(sentences)
        place = f"line {first + refused[-1]}" if is_known else f"lines {first} to {first + len(sentences) - 1}"
        raise SearchError(f"{place}: fairseq-interactive failed with status {process.wait()}", "".join(said))

    def start(self) -> subprocess.Popen[str]:
        """Starts the process unless it runs, so that it can load its model while sentences are prepared."""
        if self._process:
            return self._process
        process = subprocess.Popen(
            self._command,
            env=self._variables,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._process, self._done = process, 0
        # The processes of a pool end without what `atexit` registers.
        Finalize(None, self.close, exitpriority=0)
        return process

    def _send(self, process: subprocess.Popen[str], sentences: Sequence[str]) -> None:
        assert process.stdin is not None
        with suppress(OSError):  # it has ended; `_receive` sees that, too
            process.stdin.writelines(f"{sentence}\n" for sentence in sentences)
            process.stdin.flush()
            if len(sentences) < self._buffer_size:
                process.stdin.close()

    def _receive(self, process: subprocess.Popen[str], count: int, first: int) -> tuple[list[str], deque[str]]:
        """Reads so many translations, and the last lines of what else was said; fewer if the process ends.

        Raises:
            SearchError: if it leaves out a sentence.
        """
        texts: list[str] = []
        said: deque[str] = deque(maxlen=LOG_END)
        assert process.stdout is not None
        for line in process.stdout:
            record = RECORD.fullmatch(line.rstrip("\n"))
            if record is None:
                if not SECONDS.match(line):
                    said.append(line)
            elif record[1] == "D" and (number := int(record[2])) >= self._done + len(texts):
                if number > self._done + len(texts):
                    process.kill()
                    raise SearchError(f"line {first + len(texts)}: fairseq-interactive left it out", "".join(said))
                # Others of the same sentence, if an n-best list is asked for, are worse.
                texts.append(record[3].partition("\t")[2])
                if len(texts) == count:
                    break
        return texts, said

    def close(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        assert process.stdin is not None and process.stdout is not None
        with suppress(OSError):  # it may have ended
            process.stdin.close()
        for _ in process.stdout:
            pass
        process.stdout.close()
        process.wait()
