"""Runs the tools that clean and select as they are called, and reads and writes their files."""

from pathlib import Path

from tests.commands import command_line, run_warm

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"


def command(name, *arguments):
    return command_line("recurrent-mt", name, *arguments)


def run(name, *arguments, check=True):
    done = run_warm("recurrent-mt", name, *arguments)
    assert not check or done.returncode == 0, done.stderr
    return done


def write_lines(path, lines):
    path.write_bytes(b"".join(line.encode() + b"\n" for line in lines))
    return path


def read_lines(path):
    return path.read_bytes().decode().split("\n")[:-1]
