"""Commands of this environment, in three ways: the first that shows what a test looks at is the right one.

`call` calls a tool of recurrent-mt in this process: for what it prints, writes, and returns.
`run_warm` is for fairseq's commands, which leave much behind in a process: it starts one as a fork of a process that
has imported fairseq and the plug-in once, for all workers of pytest (`start_server`); memory, standard streams, working
directory, environment and exit status are the command's own. So is Snakemake, where an experiment starts it by
`run_engine`; and so are the slow ones of the commands that Snakemake starts, which it finds in `warm_environment`.
`run` starts a new interpreter, as a user does, which takes seconds: for what begins before fairseq is imported, such as
the repairs that Python loads when it starts. Every command of a recipe is run that way at least once, if only by a slow
one.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import importlib
import inspect
import io
import logging
import multiprocessing
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Mapping
from functools import cache, partial
from multiprocessing.connection import Connection
from pathlib import Path

from recurrent_mt.cli.command import main
from tests import warm_command

REPOSITORY = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
PLUGIN = REPOSITORY / "user_dir"
#: What warm commands import besides the plug-in, which takes a while. PyTorch imports the second when it makes the
#: first optimizer; tools that draw, the third.
IMPORTED = (
    *("fairseq", "torch._dynamo", "matplotlib.figure", "fairseq.trainer"),
    *("fairseq.model_parallel.megatron_trainer", "fairseq.quantization_utils"),
    *("recurrent_mt.metrics", "recurrent_mt.text_form", "recurrent_mt.evaluation.tables"),
    *("nltk.lm", "sacremoses", "langcodes", "recurrent_mt.cli.clean"),
    *(f"recurrent_mt.layers.{file.stem}" for file in sorted((REPOSITORY / "recurrent_mt/layers").glob("[!_]*.py"))),
)
#: Commands that take longer to import what they need than to ask the server, and which of their first arguments say so.
#: fairseq-train is not among them: `recurrent-mt training` measures the memory of the process that it starts.
SLOW = {
    "fairseq-generate": "*",
    "fairseq-preprocess": "*",
    "recurrent-mt": "align|compare|hypotheses|limit-lengths|report|structure",
}
fork = multiprocessing.get_context("fork")


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
    """Like `run`, for a command of fairseq or recurrent-mt, or Snakemake, in a process that has already imported it."""
    line = [command, *map(str, arguments)]
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
        streams[0].write_text(text)
        status = warm_command.wait(_server(), line, [*map(str, streams)], str(cwd), environment(**variables))
        output, errors = (stream.read_text() for stream in streams[1:])
    return subprocess.CompletedProcess(line, status, output, errors)


def run_engine(command: list[str], variables: Mapping[str, str]) -> tuple[int, bool]:
    """Takes the place of the launcher's, which starts Snakemake in a new interpreter: here by `run_warm`."""
    path = f"{warm_environment() / 'bin'}{os.pathsep}{variables['PATH']}"
    done = run_warm("snakemake", *command[command.index("snakemake") + 1 :], **{**variables, "PATH": path})
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    return done.returncode, False


def start_server() -> Callable[[], None]:
    """Starts the process that `run_warm` forks, for this process and those that it starts.

    It imports nothing before the first of them asks, and ends with this process, however that ends.

    Returns:
        what ends it before.
    """
    folder = tempfile.TemporaryDirectory()
    os.environ[warm_command.ADDRESS] = folder.name
    _write_environment(warm_environment())
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(warm_command.locate())
        listener.listen()
        number = listener.fileno()
        program = f"import sys; sys.path[:] = {sys.path}; from tests.commands import _start; _start({number})"
        line = [sys.executable, "-c", program]
        server = subprocess.Popen(line, stdin=subprocess.PIPE, pass_fds=[number], env=environment(), cwd=REPOSITORY)

    def stop() -> None:
        server.stdin.close()
        folder.cleanup()

    return stop


def warm_environment() -> Path:
    """A copy of this virtual environment in which the slow commands are asked of the server."""
    return Path(os.environ[warm_command.ADDRESS], "environment")


def interpreter() -> str:
    """The command line of a Python, without its arguments, that has imported what the server has."""
    return _ask("python")


def _ask(command: str) -> str:
    """A command line that asks the server for a command; the command's arguments are added."""
    return shlex.join([str(BIN / "python"), "-IS", warm_command.__file__, command])


def _write_environment(folder: Path) -> None:
    """Writes `warm_environment`: links, and a script for each of the slow commands."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    for name in ("lib", "pyvenv.cfg"):
        (folder / name).symlink_to(BIN.parent / name)
    for program in BIN.iterdir():
        # Python finds its environment by the first link.
        (programs / program.name).symlink_to(program.resolve() if program.name == "python" else program)
    for name, pattern in SLOW.items():
        (programs / name).unlink(missing_ok=True)
        text = f'#!/bin/sh\ncase $1 in {pattern}) exec {_ask(name)} "$@";; esac\n'
        (programs / name).write_text(f'{text}exec {shlex.join(command_line(name))} "$@"\n')
        (programs / name).chmod(0o755)


@cache
def _server() -> Connection:
    """The server's fork for this process."""
    return warm_command.connect()


def _start(listening: int) -> None:
    """Imports everything when the first process connects, and serves those that connect until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Its number: multiprocessing closes the object in a fork.
    stdin = 0
    if stdin in select.select([listening, stdin], [], [])[0]:
        return
    _import_everything()
    with socket.socket(fileno=listening) as listener:
        while stdin not in select.select([listener, stdin], [], [])[0]:
            client = Connection(listener.accept()[0].detach())
            fork.Process(target=_serve_one, args=(client, listener)).start()
            client.close()


def _import_everything() -> None:
    """What commands import and learn before they begin their own work."""
    from fairseq.utils import import_user_module

    for module in IMPORTED:
        importlib.import_module(module)
    import_user_module(Namespace(user_dir=str(PLUGIN)))
    # Snakemake looks for its plug-ins when it makes its parser; the project's own is there.
    sys.path.append(str(REPOSITORY / "workflow"))
    with contextlib.suppress(ImportError):
        importlib.import_module("snakemake.cli").get_argument_parser()
        importlib.import_module("smart_open")
    spare_hydra()
    _parse_options()
    gc.freeze()


def spare_hydra() -> None:
    """Spares Hydra what takes most of the time of a call, and gives the same each time.

    It uses the one store of configurations, whose nodes it copies anyway, instead of a copy of the hundreds that
    fairseq puts into it. And the same override, such as the default of an option, is parsed once, as is a reference to
    the value of another option. Of its callers, whose names it needs, no source is read.
    """
    from hydra._internal import utils
    from hydra.core.config_store import ConfigStore
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from omegaconf import base

    ConfigStore.__deepcopy__ = lambda store, memo: store
    utils.inspect = Namespace(**{**vars(inspect), "stack": partial(inspect.stack, 0)})
    base.parse = cache(base.parse)
    parse = OverridesParser.parse_rule
    parsed = cache(lambda text, rule: parse(OverridesParser.create(), text, rule))
    # A copy: Hydra adds what loads configurations.
    OverridesParser.parse_rule = lambda parser, text, rule: copy.copy(parsed(text, rule))


def _parse_options() -> None:
    """Parses the options of a training and of a search once: the parser of hydra's grammar has learned them then."""
    from fairseq import options as parsers
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    training = ("--arch", "transformer", "--optimizer", "adam", "--save-dir", "/a-folder/b.c")
    for parser, line in (
        (parsers.get_training_parser(), training),
        (parsers.get_interactive_generation_parser(), ("--path", "/a-folder/b.c")),
    ):
        convert_namespace_to_omegaconf(parsers.parse_args_and_arch(parser, ["data", *line, "--user-dir", str(PLUGIN)]))


def _serve_one(client: Connection, listener: socket.socket) -> None:
    """Runs the commands of one process, one after the other, until it ends."""
    listener.close()
    with contextlib.suppress(EOFError):
        while True:
            command = fork.Process(target=_become, args=(client, *client.recv()))
            command.start()
            client.send(command.pid)
            command.join()
            client.send(command.exitcode)


def _become(client: Connection, line: list[str], streams: list[str], cwd: str, variables: Mapping[str, str]) -> None:
    """Does in a fork what a new process does with this command line."""
    client.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, (stream, flags) in enumerate(zip(streams, (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY))):
        # Appended, as where a shell says >>.
        os.dup2(os.open(stream, flags | os.O_CREAT | os.O_APPEND), number)
    # The other two are unchanged; multiprocessing has closed this one.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout.reconfigure(line_buffering="PYTHONUNBUFFERED" in variables)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(cwd)
    sys.argv = line
    if line[0].startswith("fairseq-"):
        sys.exit(_load_command(line[0])())
    if line[0] == "python":
        # pytest-xdist's, whose program comes last.
        sys.exit(exec(line[-1], {"__name__": "__main__"}))
    if line[0] == "snakemake":
        sys.exit(importlib.import_module("snakemake.cli").main())
    sys.exit(main(line[1:]))


def _load_command(name: str) -> Callable[[], object]:
    """The function of a command ``fairseq-NAME``, and the log set up as its module or else fairseq does when loaded.

    The first to do so has its way, and most of the modules do before they import fairseq.
    """
    handlers, logging.root.handlers = logging.root.handlers, []
    module = importlib.import_module(f"fairseq_cli.{name.removeprefix('fairseq-').replace('-', '_')}")
    logging.root.handlers = logging.root.handlers or handlers
    return module.cli_main
