"""Commands of this environment as separate processes, without the seconds that importing PyTorch takes in each.

`run` starts a command as a user does. `run_warm` starts it as a fork of a process that has imported fairseq, once for
all tests of a pytest worker: memory, standard streams, working directory, environment and exit status are the command's
own. What begins before fairseq is imported is tested with `run` alone: the import itself, the repairs that Python loads
when it starts, the hash seed. Every command is run that way at least once. `call` starts nothing: it calls a tool of
recurrent-mt in this process, for tests that look at what it prints and writes.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import multiprocessing
import multiprocessing.forkserver
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from unittest import mock

from recurrent_mt.cli.command import main

REPOSITORY = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent


def environment(**variables: str) -> dict[str, str]:
    """This process's environment, one thread, with these variables set."""
    return {**os.environ, "OMP_NUM_THREADS": "1", **variables}


def call(*words: object) -> subprocess.CompletedProcess:
    """What ``recurrent-mt`` with these words prints and returns. Standard input and the log are this process's."""
    line = [str(word) for word in words]
    environment = dict(os.environ)
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(io.StringIO()) as errors:
        try:
            status = main(line)
        except SystemExit as end:
            status = end.code
        finally:
            os.environ.clear()
            os.environ.update(environment)
    return subprocess.CompletedProcess(line, status, output.getvalue(), errors.getvalue())


def command_line(command: str, *arguments: object) -> list[str]:
    """A command line that starts a console command of this environment."""
    # recurrent-mt without its console script: that is made when the project is installed, and the copy here may be new.
    found = [sys.executable, "-m", "recurrent_mt"] if command == "recurrent-mt" else [str(BIN / command)]
    return [*found, *map(str, arguments)]


def run(
    command: str, *arguments: object, text: str = "", cwd: Path = REPOSITORY, **variables: str
) -> subprocess.CompletedProcess:
    """Starts a command in a new interpreter, and waits for it.

    Args:
        command: the name of a console command of this environment.
        arguments: written out as they are.
        text: what it reads from standard input.
        cwd: its working directory.
        variables: of its environment.
    """
    return subprocess.run(
        command_line(command, *arguments),
        input=text,
        capture_output=True,
        text=True,
        env=environment(**variables),
        cwd=cwd,
    )


def run_warm(
    command: str, *arguments: object, text: str = "", cwd: Path = REPOSITORY, **variables: str
) -> subprocess.CompletedProcess:
    """Like `run`, for a command of fairseq or recurrent-mt, in a process that has already imported fairseq."""
    line = [command, *map(str, arguments)]
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
        streams[0].write_text(text)
        process = _server().Process(target=_become, args=(line, streams, cwd, environment(**variables)))
        process.start()
        try:
            process.join()
        finally:
            process.kill()
        output, errors = (stream.read_text() for stream in streams[1:])
    return subprocess.CompletedProcess(line, process.exitcode, output, errors)


@cache
def _server() -> multiprocessing.context.ForkServerContext:
    """The process that `run_warm` forks. It ends with this one."""
    context = multiprocessing.get_context("forkserver")
    # PyTorch imports the second, for seconds, when it makes the first optimizer; tools that draw import the third.
    context.set_forkserver_preload(["fairseq", "torch._dynamo", "matplotlib.figure"])
    with mock.patch.dict(os.environ, OMP_NUM_THREADS="1"):
        multiprocessing.forkserver.ensure_running()
    return context


def _become(line: list[str], streams: list[Path], cwd: Path, variables: Mapping[str, str]) -> None:
    """Does in a fork what a new process does with this command line."""
    if "fairseq" not in sys.modules:
        raise ImportError("the server of warm commands has not imported fairseq")
    for number, (stream, flags) in enumerate(zip(streams, (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY))):
        os.dup2(os.open(stream, flags | os.O_CREAT), number)
    # The other two are unchanged; multiprocessing has closed this one.
    sys.stdin = os.fdopen(0, closefd=False)
    # multiprocessing has made its own way of starting processes the default: fairseq's data loaders would each import
    # PyTorch again, for seconds.
    multiprocessing.set_start_method(None, force=True)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(cwd)
    sys.argv = line
    if line[0].startswith("fairseq-"):
        sys.exit(_load_command(line[0])())
    sys.exit(main(line[1:]))


def _load_command(name: str) -> Callable[[], object]:
    """The function of a command ``fairseq-NAME``, and the log set up as its module or else fairseq does when loaded.

    The first to do so has its way, and most of the modules do before they import fairseq.
    """
    handlers, logging.root.handlers = logging.root.handlers, []
    module = importlib.import_module(f"fairseq_cli.{name.removeprefix('fairseq-').replace('-', '_')}")
    logging.root.handlers = logging.root.handlers or handlers
    return module.cli_main
