"""Runs the tools that clean and select, and reads and writes their files."""

from pathlib import Path

from tests.commands import call

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"


def run(name, *arguments, check=True):
    done = call(name, *arguments)
    assert not check or done.returncode == 0, done.stderr
    return done


def write_lines(path, lines):
    path.write_bytes(b"".join(line.encode() + b"\n" for line in lines))
    return path


def write_pairs(folder, name, pairs, languages=("fr", "en")):
    """The files of both sides."""
    folder.mkdir(exist_ok=True, parents=True)
    return [write_lines(folder / f"{name}.{language}", side) for language, side in zip(languages, zip(*pairs))]


def read_lines(path):
    return path.read_bytes().decode().split("\n")[:-1]
