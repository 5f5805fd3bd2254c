"""Trains the system of a configuration file with fairseq-train, and prints the command that it runs.

    recurrent-mt train [OPTION...] configs/NAME.yaml task.data=DIR [KEY=VALUE...] [-- FLAG...]

KEY=VALUE overrides the file, as for fairseq-hydra-train; FLAGs go to fairseq-train unchanged. DIR may be several
shards, joined by colons.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from ..experiments.configurations import read_arguments
from .arguments import positive
from .plugin import find_plugin


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "--processes",
        type=positive,
        default=1,
        metavar="N",
        help="train on N processors or GPUs of this machine at once, started by torchrun",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the command only")
    parser.add_argument("configuration", metavar="FILE.yaml", help="file from configs/")
    # Flags after -- may look like options of this command.
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="KEY=VALUE", help="replaces what the file says")


def run(options: argparse.Namespace) -> None:
    """Prints the command, and becomes it.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if Hydra or fairseq would reject its contents.
    """
    words = list(options.words)
    end = words.index("--") if "--" in words else len(words)
    arguments = read_arguments(options.configuration, [f"common.user_dir={find_plugin()}", *words[:end]])
    command = [*start_command(options.processes), *arguments, *device_flags(options.processes), *words[end + 1 :]]
    print(f"  $ {shlex.join(command)}", flush=True)
    if not options.dry_run:
        os.execv(command[0], command)


def start_command(processes: int) -> list[str]:
    """fairseq-train; several processes take their places from the environment that torchrun makes."""
    programs = Path(sys.executable).parent
    train = str(programs / "fairseq-train")
    if processes == 1:
        return [train]
    return [str(programs / "torchrun"), "--standalone", "--nproc_per_node", str(processes), train]


def device_flags(processes: int) -> list[str]:
    """Fairseq needs --cpu if there is no GPU; several processes then talk by gloo."""
    cpu = not has_gpu()
    flags = ["--cpu"] if cpu else []
    if processes > 1:
        flags += ["--ddp-backend", "legacy_ddp", *(["--distributed-backend", "gloo"] if cpu else [])]
    return flags


def has_gpu() -> bool:
    """Whether the kernel has a driver of NVIDIA or AMD; PyTorch would take seconds to say so."""
    return Path("/dev/kfd").exists() or any(Path("/dev").glob("nvidia[0-9]*"))
