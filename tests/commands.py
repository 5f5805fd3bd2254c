"""Commands of this environment as processes of their own, without the seconds that each would import PyTorch for.

`run` starts a command as a user does. `run_warm` starts it as a fork of a process that has imported fairseq, once for
all tests of a pytest worker: memory, standard streams, working directory, environment and exit status are the command's
own. What begins before fairseq is imported is tested with `run` alone: the import itself, the repairs that Python loads
when it starts, the hash seed. Every command is run that way at least once.
"""

from __future__ import annotations

import importlib
import logging
import multiprocessing
import multiprocessing.forkserver
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from unittest import mock

REPOSITORY = Path(__file__).resolve().parents[1]
TIMEOUT = 300


def environment(**variables: str) -> dict[str, str]:
    """This process's environment, one thread, with these variables set."""
    return {**os.environ, "OMP_NUM_THREADS": "1", **variables}


def run(
    command: str | Path, *arguments: object, text: str = "", cwd: Path = REPOSITORY, **variables: str
) -> subprocess.CompletedProcess:
    """Starts a command, or a Python script, in a new interpreter, and waits for it.

    Args:
        command: the name of a console command of this environment, or the path of a Python script.
        arguments: written out as they are.
        text: what it reads from standard input.
        cwd: its working directory.
        variables: of its environment.
    """
    line = [sys.executable, command] if isinstance(command, Path) else [Path(sys.executable).with_name(command)]
    return subprocess.run(
        [*line, *map(str, arguments)],
        input=text,
        capture_output=True,
        text=True,
        env=environment(**variables),
        cwd=cwd,
        timeout=TIMEOUT,
    )


def run_warm(
    command: str | Path, *arguments: object, text: str = "", cwd: Path = REPOSITORY, **variables: str
) -> subprocess.CompletedProcess:
    """As `run`, for a command of fairseq or a script, in a process that has imported fairseq already."""
    line = [str(command), *map(str, arguments)]
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
        streams[0].write_text(text)
        process = _server().Process(target=_become, args=(line, streams, cwd, environment(**variables)))
        process.start()
        process.join(TIMEOUT)
        if process.is_alive():
            process.kill()
            raise subprocess.TimeoutExpired(line, TIMEOUT)
        output, errors = (stream.read_text() for stream in streams[1:])
    return subprocess.CompletedProcess(line, process.exitcode, output, errors)


@cache
def _server() -> multiprocessing.context.ForkServerContext:
    """The process that `run_warm` forks. It ends with this one."""
    context = multiprocessing.get_context("forkserver")
    # PyTorch imports the second, for seconds, when it makes the first optimiser; scripts that draw import the third.
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
    # The other two are as they were; this one multiprocessing has closed.
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
    sys.path.insert(0, str(Path(line[0]).parent))
    runpy.run_path(line[0], run_name="__main__")


def _load_command(name: str) -> Callable[[], object]:
    """The function of a command ``fairseq-NAME``, and the log set up as its module or else fairseq does when loaded.

    The first to do so has its way, and most of the modules do before they import fairseq.
    """
    handlers, logging.root.handlers = logging.root.handlers, []
    module = importlib.import_module(f"fairseq_cli.{name.removeprefix('fairseq-').replace('-', '_')}")
    logging.root.handlers = logging.root.handlers or handlers
    return module.cli_main
