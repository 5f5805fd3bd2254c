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

from ..experiments.configurations import assign, read_arguments
from ..option_types import positive
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
    flag = next((word for word in words[:end] if word.startswith("-")), None)
    if flag:
        options.parser.error(f"{flag}: this tool's options come before FILE.yaml, those of fairseq-train after --")
    arguments = read_arguments(options.configuration, [assign("common.user_dir", find_plugin()), *words[:end]])
    train = str(Path(sys.executable).parent / "fairseq-train")
    command = [*start_processes(train, options.processes), *arguments, *words[end + 1 :]]
    print(f"  $ {shlex.join(command)}", flush=True)
    if not options.dry_run:
        os.execv(command[0], command)


def start_processes(train: str, processes: int) -> list[str]:
    """How a command line with fairseq-train begins.

    Args:
        train: the file of fairseq-train.
        processes: that train together. They take their places from the environment that torchrun makes; where there is
            no GPU, they talk by gloo.
    """
    if processes == 1:
        return [train]
    torchrun = [str(Path(sys.executable).parent / "torchrun"), "--standalone", "--nproc_per_node", str(processes)]
    backend = [] if has_gpu() else ["--distributed-backend", "gloo"]
    return [*torchrun, train, "--ddp-backend", "legacy_ddp", *backend]


def has_gpu(devices: Path = Path("/dev")) -> bool:
    """Whether the kernel has a driver of NVIDIA or AMD; PyTorch would take seconds to say so."""
    return (devices / "kfd").exists() or any(devices.glob("nvidia[0-9]*"))
