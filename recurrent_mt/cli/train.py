"""Trains the system of a configuration file with fairseq-train, and prints the command that it runs.

    recurrent-mt train [OPTION...] configs/NAME.yaml task.data=DIR [KEY=VALUE...] [-- FLAG...]

KEY=VALUE overrides the file, as for fairseq-hydra-train; FLAGs go to fairseq-train unchanged. DIR may be several
shards, joined by colons.

With --nodes, the same call runs on every machine, but for --node-rank, in a folder that all of them see. Over gloo
(without GPUs), the processes talk through the network interface that leads to the rendezvous;
GLOO_SOCKET_IFNAME=NAME in the environment chooses another. NCCL finds its own, or NCCL_SOCKET_IFNAME says.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from ..arguments import positive
from ..plugin_finder import find_plugin
from ..runs.processes import Machines, start_processes
from ..runs.training_command import assign, read_arguments

OPTIONS_ANYWHERE = True
AFTER_DASHES = "flags"  # what gets the words after --


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--processes",
        type=positive,
        default=1,
        metavar="N",
        help="train on N processors or GPUs of each machine at once, started by torchrun",
    )
    parser.add_argument(
        "--nodes", type=positive, default=1, metavar="N", help="machines that train together, each with this call (1)"
    )
    parser.add_argument("--node-rank", type=int, metavar="R", help="which of them this one is, from 0")
    parser.add_argument(
        "--rendezvous", metavar="HOST:PORT", help="machine 0 and a free port of it, as all machines reach them"
    )
    parser.add_argument(
        "--timeout",
        type=positive,
        metavar="SECONDS",
        help="end when another process or machine has not answered for so long; must be more than a validation or the "
        "writing of a checkpoint takes (PyTorch's limits: 10 minutes at the start, later 30 over gloo, 10 over NCCL)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the command without running it")
    parser.add_argument("configuration", metavar="FILE.yaml", help="file from configs/")
    parser.add_argument("words", nargs="*", metavar="KEY=VALUE", help="override an option of the file")
    parser.add_argument("flags", nargs="*", metavar="FLAG", help="after --, flags of fairseq-train")


def run(options: argparse.Namespace) -> None:
    """Prints the command, and becomes it."""
    machines = find_machines(options)
    arguments = read_arguments(options.configuration, [assign("common.user_dir", find_plugin()), *options.words])
    train = str(Path(sys.executable).parent / "fairseq-train")
    arguments += options.flags
    begin = start_processes(train, options.processes, machines, options.timeout, flags=arguments)
    command = [*begin, *arguments]
    print(f"  $ {shlex.join(command)}", flush=True)
    if not options.dry_run:
        os.execv(command[0], command)


def find_machines(options: argparse.Namespace) -> Machines | None:
    """The machines that the options name, None if it is one; ends the tool where an option is missing or too many."""
    if options.nodes == 1:
        if options.node_rank is not None or options.rendezvous:
            options.parser.error("--node-rank and --rendezvous are for several machines: give --nodes N as well")
        return None
    if options.node_rank is None or options.rendezvous is None:
        options.parser.error(f"--nodes {options.nodes} needs --node-rank and --rendezvous")
    return Machines(options.nodes, options.node_rank, options.rendezvous)
