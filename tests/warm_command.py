"""Asks the server of `tests.commands` for a command; run as a script, takes the command's place.

It imports next to nothing: Python starts, asks, and waits in 40 ms.
"""

import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection

#: The variable that names the folder with the socket of the server.
ADDRESS = "WARM_COMMANDS"


def locate() -> str:
    """The socket of the server."""
    return f"{os.environ[ADDRESS]}/socket"


def connect() -> Connection:
    """A fork of the server, which runs one command after the other."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(locate())
        return Connection(client.detach())


def wait(
    server: Connection, line: Sequence[str], streams: Sequence[str], cwd: str, variables: Mapping[str, str]
) -> int:
    """Runs a command line, and returns its status: -N if signal N has ended it.

    Args:
        server: the fork that runs it.
        line: the name of the command, and its arguments.
        streams: paths of its standard input, output, and error.
        cwd: its working directory.
        variables: its environment.
    """
    server.send((line, streams, cwd, variables))
    process = server.recv()
    try:
        return server.recv()
    except BaseException:
        os.kill(process, signal.SIGKILL)
        server.recv()
        raise


if __name__ == "__main__":
    # A terminal sends this one to the command, too, which decides what to do about it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    streams = [f"/proc/{os.getpid()}/fd/{number}" for number in range(3)]
    with connect() as fork:
        status = wait(fork, sys.argv[1:], streams, os.getcwd(), dict(os.environ))
    sys.exit(status if status >= 0 else 128 - status)
