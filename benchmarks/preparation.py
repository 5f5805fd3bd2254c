"""Time, memory, and disk of every step from text to binarized data, by the recipe itself.

    python -m benchmarks.preparation CORPUS --out DIR [--repeat N] [KEY=VALUE...]

CORPUS holds train, valid, and test, .fr and .en. With --repeat, the training text is taken so many times, each time
with other names and numbers, the same on both sides of a pair, so that few lines are the same. KEY=VALUE goes to
scripts/prepare_fr_en.sh. Rerun the same command to resume.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

REPOSITORY = Path(__file__).resolve().parents[1]
LANGUAGES = ("fr", "en")
SPLITS = ("train", "valid", "test")
#: Snakemake's own commands begin so; Bash sources the file below before each of them.
PREFIX = "set -euo pipefail; "
HOOK = f"""\
if [[ -z ${{MEASURED:-}} && ${{BASH_EXECUTION_STRING:-}} == {PREFIX.split()[0]}* ]]; then
    export MEASURED=yes
    exec {sys.executable} -m benchmarks.preparation --step "$BASH_EXECUTION_STRING"
fi
"""
#: What a command is called in the table: the first that it has of these.
TOOL = re.compile(
    r"recurrent-mt [\w-]+(?: (?:split|segment|copy|train|encode|local)\b)?|subword_nmt\.\w+|fairseq-\w+|awk|cat"
)
NAME = re.compile(r"\b[A-Z][a-zé]{3,}\b")
NUMBER = re.compile(r"\b\d+\b")
SECONDS_BETWEEN_READINGS = 0.5
FOLDERS = ("raw", "clean", "text", "data")


def main(arguments: Sequence[str] | None = None) -> int:
    """Makes the text, runs the recipe, prints the table; or, for the recipe, runs and measures one step."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["--step"]:
        return measure_step(arguments[1], Path(os.environ["MEASURES"]))
    parser = argparse.ArgumentParser(prog="python -m benchmarks.preparation", description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, metavar="CORPUS", help="folder of text")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="gets the text and the run folder")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="times that the training text is taken (1)")
    parser.add_argument("options", nargs="*", metavar="KEY=VALUE", help="of scripts/prepare_fr_en.sh")
    options = parser.parse_intermixed_args(arguments)
    out: Path = options.out.resolve()
    from recurrent_mt.runs.corpora import checksum
    from recurrent_mt.runs.experiment import identify

    files = [options.corpus / f"{split}.{language}" for split in SPLITS for language in LANGUAGES]
    text = out / f"text-{options.repeat}-{identify([checksum(file) for file in files])}"
    if not text.is_dir():
        make_text(options.corpus, text, options.repeat)
    (out / "hook.sh").write_text(HOOK)
    call = ["bash", str(REPOSITORY / "scripts/prepare_fr_en.sh"), f"corpus={text}", f"out={out / 'run'}"]
    paths = f"{REPOSITORY}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    # Those of another text or of other options are steps of another run.
    measures = out / f"steps-{identify([text.name, sorted(options.options)])}.jsonl"
    variables = {"BASH_ENV": str(out / "hook.sh"), "MEASURES": str(measures), "PYTHONPATH": paths}
    environment = {"VENV": sys.prefix, "SETUP": "no", **os.environ, **variables}
    status = subprocess.run([*call, *options.options], env=environment).returncode
    # Not above, in the way of every step: it imports PyTorch, and what starts a process counts as held by it.
    from .case import processor

    print(f"\n{processor()}, {os.cpu_count()} cores\n")
    print("\n".join(table(measures.read_text().splitlines())))
    for folder in FOLDERS:
        print(f"{folder}: {size(out / 'run' / folder):,} bytes")
    return status


def make_text(corpus: Path, out: Path, repeat: int) -> None:
    """Writes the text for the recipe."""
    partial = out.with_name(f"{out.name}.partial")
    partial.mkdir(parents=True, exist_ok=True)
    for split in SPLITS[1:]:
        for language in LANGUAGES:
            (partial / f"{split}.{language}").write_bytes((corpus / f"{split}.{language}").read_bytes())
    sides = [(corpus / f"train.{language}").read_text(encoding="utf-8").split("\n")[:-1] for language in LANGUAGES]
    files = [(partial / f"train.{language}").open("w", encoding="utf-8", newline="\n") for language in LANGUAGES]
    for pair in vary_pairs(list(zip(*sides, strict=True)), repeat):
        for file, line in zip(files, pair, strict=True):
            file.write(f"{line}\n")
    for file in files:
        file.close()
    partial.rename(out)


def vary_pairs(pairs: Sequence[tuple[str, str]], repeat: int) -> Iterator[tuple[str, str]]:
    """The pairs, and then again with other names and numbers, and one of each before every sentence."""
    generator = random.Random(1)
    common = [
        (
            set(NAME.findall(source)) & set(NAME.findall(target)),
            set(NUMBER.findall(source)) & set(NUMBER.findall(target)),
        )
        for source, target in pairs
    ]
    names = sorted({name for found, _ in common for name in found}) or ["Europe"]
    yield from pairs
    for _ in range(repeat - 1):
        for pair, (known, numbers) in zip(pairs, common, strict=True):
            other = {name: generator.choice(names) for name in sorted(known)}
            other |= {number: str(generator.randint(1, 10 ** min(len(number), 9))) for number in sorted(numbers)}
            begin = f"{generator.choice(names)} {generator.randint(1, 99_999)}: "
            source, target = (begin + replace_words(side, other) for side in pair)
            yield source, target


def replace_words(text: str, other: Mapping[str, str]) -> str:
    """A text with other words in the place of some."""
    return re.sub(r"\w+", lambda word: other.get(word[0], word[0]), text) if other else text


def measure_step(line: str, out: Path) -> int:
    """Runs a command of the recipe, and adds to a file what it took; returns its status."""
    begin = time.monotonic()
    process = subprocess.Popen(["bash", "-c", line])
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: process.send_signal(received))
    together = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal together
        while not done.wait(SECONDS_BETWEEN_READINGS):
            with suppress(psutil.Error):
                own = psutil.Process(process.pid)
                together = max(together, sum(map(held, [own, *own.children(recursive=True)])))

    threading.Thread(target=watch, daemon=True).start()
    status = process.wait()
    done.set()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    record = {
        "tool": name_of(line),
        "wall": time.monotonic() - begin,
        "cpu": used.ru_utime + used.ru_stime,
        "largest": used.ru_maxrss * 1024,
        "together": together,
        "status": status,
    }
    with out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    return status if status >= 0 else 128 - status


def held(process: psutil.Process) -> int:
    """Bytes of memory, those that processes share divided among them; 0 of one that has ended."""
    try:
        return process.memory_full_info().pss
    except psutil.Error:
        return 0


def name_of(line: str) -> str:
    """The tool of a command line."""
    found = TOOL.search(line.removeprefix(PREFIX))
    return found[0] if found else line[:40]


def table(records: Iterable[str]) -> Iterator[str]:
    """A Markdown table, a line for each tool: seconds are sums, memory is the most of any call."""
    tools: dict[str, list[dict[str, float]]] = {}
    for record in map(json.loads, records):
        if record["status"] == 0:
            tools.setdefault(record["tool"], []).append(record)
    yield "| step | calls | wall seconds | processor seconds | largest process | all processes |"
    yield "|---|---:|---:|---:|---:|---:|"
    for tool, calls in tools.items():
        wall, cpu = (sum(call[name] for call in calls) for name in ("wall", "cpu"))
        largest, together = (max(call[name] for call in calls) / 1e6 for name in ("largest", "together"))
        yield f"| `{tool}` | {len(calls)} | {wall:.0f} | {cpu:.0f} | {largest:.0f} MB | {together:.0f} MB |"


def size(folder: Path) -> int:
    """Bytes of all files below a folder, which may be a link."""
    return sum(path.stat().st_size for path in folder.resolve().rglob("*") if path.is_file() and not path.is_symlink())


if __name__ == "__main__":
    sys.exit(main())
