"""Trains the system of a configuration file with fairseq-train, and prints the command that it runs.

    recurrent-mt train [OPTION...] configs/NAME.yaml task.data=DIR [KEY=VALUE...] [-- FLAG...]

KEY=VALUE overrides the file, as for fairseq-hydra-train; FLAGs go to fairseq-train unchanged. DIR may be several
shards, joined by colons.

With --nodes, the same call runs on every machine, but for --node-rank, in a folder that all of them see; each says what
to run on the others. Over gloo (without GPUs), the processes talk through the network interface that leads to the
rendezvous; GLOO_SOCKET_IFNAME=NAME in the environment chooses another. NCCL finds its own, or NCCL_SOCKET_IFNAME says.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from ctypes.util import find_library
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path

from ..arguments import positive
from ..plugin_finder import find_plugin
from ..runs.folder import OUTCOME, PEAK_MEMORY, TRAIN_LOG
from ..runs.outcomes import judge, was_interrupted
from ..runs.rates import choose_rate
from ..runs.train_log import read_peak_memory
from ..runs.training_command import assign, read_arguments
from ..text_files import write_text
from ..versions import describe_versions

OPTIONS_ANYWHERE = True
AFTER_DASHES = "flags"  # what gets the words after --
SECONDS_BETWEEN_READINGS = 2.0
#: The unit in which the kernel counts children's memory.
UNIT = 1 if sys.platform == "darwin" else 1024
#: How a list of GPUs begins that names any: with ``""``, ``-1``, or ``NoDevFiles``, PyTorch sees none.
VISIBLE_DEVICES = re.compile(r"\s*(\d|GPU-|MIG-)")
HIGH_WATER = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


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
    """Prints the command, and becomes it.

    Raises:
        FileNotFoundError: if there is no such file, or no folder of its data.
        ValueError: if Hydra or fairseq would reject its contents.
    """
    machines = find_machines(options)
    arguments = read_arguments(options.configuration, [assign("common.user_dir", find_plugin()), *options.words])
    train = str(Path(sys.executable).parent / "fairseq-train")
    arguments += options.flags
    begin = start_processes(train, options.processes, machines, options.timeout, flags=arguments)
    command = [*begin, *arguments]
    for line in describe_others(options) if machines else ():
        print(f"  {line}")
    print(f"  $ {shlex.join(command)}", flush=True)
    if not options.dry_run:
        check_data(arguments[0])
        os.execv(command[0], command)


def check_data(data: str) -> None:
    """Raises FileNotFoundError for a folder that is not there, of which fairseq would show a traceback."""
    for folder in [] if data.startswith("-") else data.split(os.pathsep):
        if not Path(folder).is_dir():
            raise FileNotFoundError(f"there is no folder {folder}: task.data=DIR is what fairseq-preprocess has made")


def find_machines(options: argparse.Namespace) -> Machines | None:
    """The machines that the options name, None if it is one; ends the tool where an option is missing or too many."""
    if options.nodes == 1:
        if options.node_rank is not None or options.rendezvous:
            options.parser.error("--node-rank and --rendezvous are for several machines: give --nodes N as well")
        if options.timeout and options.processes == 1:
            options.parser.error("--timeout is for several processes: one has no other to wait for")
        return None
    if options.node_rank is None or options.rendezvous is None:
        options.parser.error(f"--nodes {options.nodes} needs --node-rank and --rendezvous")
    if not 0 <= options.node_rank < options.nodes:
        options.parser.error(f"--node-rank {options.node_rank} is not between 0 and {options.nodes - 1}")
    return Machines(options.nodes, options.node_rank, options.rendezvous)


def describe_others(options: argparse.Namespace) -> Iterator[str]:
    """What to run on each of the other machines, and in a job of Slurm for all of them at once."""
    *_, port = split_rendezvous(options.rendezvous)
    for rank in range(options.nodes):
        if rank != options.node_rank:
            call = shlex.join(repeat_call(options, str(rank), options.rendezvous))
            yield f"on machine {rank}, in this folder: {call}"
    # Slurm says both when the job has its machines; one task for each of them, as torchrun starts the processes.
    first = '"$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)"'
    each = shlex.join(repeat_call(options, "RANK", f"HOST:{port}"))
    each = each.replace("--node-rank RANK", '--node-rank "$SLURM_NODEID"').replace(f"HOST:{port}", f"{first}:{port}", 1)
    srun = ["srun", "--nodes", str(options.nodes), "--ntasks-per-node", "1", "bash", "-c", f"exec {each}"]
    yield f"or, in a job of Slurm, for all: {shlex.join(srun)}"


def repeat_call(options: argparse.Namespace, rank: str, rendezvous: str) -> list[str]:
    """This call, for another machine."""
    call = [str(Path(sys.executable).parent / "recurrent-mt"), "train", "--nodes", str(options.nodes)]
    call += ["--node-rank", rank, "--rendezvous", rendezvous, "--processes", str(options.processes)]
    call += ["--timeout", str(options.timeout)] if options.timeout else []
    return [*call, options.configuration, *options.words, *(["--", *options.flags] if options.flags else [])]


@dataclass(frozen=True)
class Machines:
    """Machines that train together, and which of them this one is.

    Attributes:
        count: of all.
        rank: of this one, from 0.
        rendezvous: HOST:PORT of the first, reached by all.
    """

    count: int
    rank: int
    rendezvous: str


def start_processes(
    train: str,
    processes: int,
    machines: Machines | None = None,
    timeout: int | None = None,
    *,
    flags: Collection[str] = (),
) -> list[str]:
    """How a command line with fairseq-train begins.

    Args:
        train: the file of fairseq-train.
        processes: that train together on each machine. They take their places from the environment that torchrun makes;
            where there is no GPU, they talk by gloo.
        machines: None if this is the only one.
        timeout: seconds after which the processes no longer wait for each other; None for PyTorch's own limits.
        flags: of fairseq-train, which may leave a GPU alone.

    Raises:
        ValueError: if the machines' rendezvous is none that all of them can reach.
    """
    if processes == 1 and machines is None:
        return [train]
    gloo = not has_gpu(flags)
    flags = ["--ddp-backend", "legacy_ddp", *(["--distributed-backend", "gloo"] if gloo else [])]
    flags += ["--heartbeat-timeout", str(timeout)] if timeout else []
    begin = [str(Path(sys.executable).parent / "torchrun")]
    if machines is None:
        return [*begin, "--standalone", "--nproc_per_node", str(processes), train, *flags]
    host, port = split_rendezvous(machines.rendezvous)
    interface = find_interface(host, port)
    if gloo and "GLOO_SOCKET_IFNAME" not in os.environ:
        begin = [shutil.which("env") or "env", f"GLOO_SOCKET_IFNAME={interface}", *begin]
    begin += ["--nnodes", str(machines.count), "--node_rank", str(machines.rank)]
    begin += ["--master_addr", host, "--master_port", str(port)]
    # How long the machines wait for each other at the start.
    begin += ["--rdzv_conf", f"timeout={timeout}"] if timeout else []
    return [*begin, "--nproc_per_node", str(processes), train, *flags]


def share_threads(environment: Mapping[str, str], processes: int) -> dict[str, str]:
    """An environment in which each of several processes has its share of the threads that a training may have.

    Snakemake gives a job as many as the processors that are its own, and every process would start all of them.
    """
    shared = dict(environment)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        if shared.get(name, "").isdecimal():
            shared[name] = str(max(1, int(shared[name]) // processes))
    return shared


def has_gpu(flags: Collection[str] = (), devices: Path = Path("/dev")) -> bool:
    """Whether fairseq will compute on a GPU of NVIDIA or AMD; PyTorch would take seconds to say so.

    Args:
        flags: what fairseq is called with; ``--cpu`` leaves a GPU alone.
        devices: where the kernel's drivers are.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if "--cpu" in flags or (visible is not None and not VISIBLE_DEVICES.match(visible)):
        return False
    # In WSL2, one device stands for a GPU of any maker: PyTorch can use it if NVIDIA's driver has brought its library.
    wsl = (devices / "dxg").exists() and find_library("cuda") is not None
    return wsl or (devices / "kfd").exists() or any(devices.glob("nvidia[0-9]*"))


def split_rendezvous(rendezvous: str) -> tuple[str, int]:
    """The host and the port of HOST:PORT.

    Raises:
        ValueError: if it is not of this form.
    """
    host, _, port = rendezvous.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise ValueError(f"--rendezvous {rendezvous} is not HOST:PORT, such as 192.168.0.1:29500")
    return host, int(port)


def find_interface(host: str, port: int) -> str:
    """The network interface of this machine that leads to a host, for gloo.

    Left to itself, gloo takes the address that this machine's own name stands for, and in most ``/etc/hosts`` that is
    one which no other machine reaches.

    Raises:
        ValueError: if none leads there, or if the host's name stands for a loopback address.
    """
    # Comes with Snakemake: whoever only scores translations of others need not have it.
    import psutil

    try:
        family, _, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(address)  # sends nothing
            own = probe.getsockname()[0]
    except OSError as error:
        raise ValueError(f"--rendezvous {host}:{port}: nothing leads from this machine to {host}: {error}") from error
    if ip_address(own).is_loopback and not is_loopback(host):
        raise ValueError(
            f"--rendezvous {host}:{port}: on this machine, {host} is a loopback address, which no other machine "
            "reaches; give the address by which the others know it"
        )
    found = psutil.net_if_addrs().items()
    return next(name for name, entries in found if own in {entry.address.partition("%")[0] for entry in entries})


def is_loopback(host: str) -> bool:
    """Whether a host, as it is written, is this machine for every machine."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class Training:
    """Runs fairseq-train for one training of an experiment, and keeps what it says in FOLDER/train.log.

    A log is continued where training is. FOLDER/peak-memory gets the most bytes that the largest process has held at once,
    as the kernel counts them; a greater number already there stays, so that calls that resume each other leave the peak of
    all. FOLDER/outcome says how the training ended, and with what commit and libraries, unless it was stopped from outside
    or by a full disk: a failure is an outcome, too. The operating system must be Linux or macOS.
    """  # noqa: E501 (lines of the terminal)

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder of the training")
        parser.add_argument(
            "--processes", type=positive, default=1, metavar="N", help="number of processes to train with (torchrun)"
        )
        # Whatever follows belongs to the command.
        parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="command with its arguments")

    @staticmethod
    def run(options: argparse.Namespace) -> int:
        """Runs the command, and returns its status if it was stopped.

        Raises:
            OSError: if it cannot be started, or if a file cannot be written.
        """
        if not options.command:
            options.parser.error("give a command to run")
        folder: Path = options.folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / OUTCOME).unlink(missing_ok=True)
        program, *arguments = options.command
        begin = start_processes(shutil.which(program) or program, options.processes, flags=arguments)
        command = [*begin, *arguments]
        log = folder / TRAIN_LOG
        end_line(log)
        with log.open("ab") as file:
            start = file.tell()
            environment = share_threads(os.environ, options.processes)
            status = measure(command, folder / PEAK_MEMORY, file.fileno(), environment)
        if was_interrupted(log, status, start=start):
            return status
        replace(judge(log, status, start=start), versions=describe_versions()).write(folder / OUTCOME)
        return 0


def end_line(log: Path) -> None:
    """A log that was cut off in mid-line must not swallow this call's first line."""
    if log.is_file() and log.stat().st_size:
        with log.open("rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":
                file.write(b"\n")


def measure(command: list[str], peak: Path, output: int, environment: Mapping[str, str]) -> int:
    """The status of a command, or 128 + N if signal N ended it or this process; its peak of memory goes to a file."""
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
    stopped: list[int] = []

    def stop(number: int, _: object) -> None:
        stopped.append(number)
        # A terminal has sent this one to the command, too.
        if number != signal.SIGINT:
            process.send_signal(number)

    # Whoever stops this process stops the command with it, and the command decides what to do about it.
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, stop)
    status = None
    while status is None:
        try:
            status = process.wait(timeout=SECONDS_BETWEEN_READINGS)
            used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * UNIT
        except subprocess.TimeoutExpired:
            used = read_high_water(process.pid)
        keep_greater(peak, used)
    # torchrun says of all signals that stop it only that it has failed.
    if status > 0 and stopped:
        return 128 + stopped[0]
    return status if status >= 0 else 128 - status


def read_high_water(process: int) -> int:
    """The most bytes that a running process has held; 0 if the kernel does not say."""
    try:
        found = HIGH_WATER.search(Path(f"/proc/{process}/status").read_text(encoding="utf-8"))
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def keep_greater(file: Path, used: int) -> None:
    """Writes the number unless the file has a greater one."""
    if used > (read_peak_memory(file) or 0):
        write_text(file, f"{used}\n")


class Outcome:
    """Writes why a step of an experiment failed, by its log and status: the steps that do not need it go on.

    A step that was stopped from outside, or by a full disk, has no outcome: this command then ends with its status.
    """

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="file to write")
        parser.add_argument("--log", type=Path, required=True, help="log of the step")
        parser.add_argument("--status", type=int, required=True, help="status that it ended with")

    @staticmethod
    def run(options: argparse.Namespace) -> int:
        if was_interrupted(options.log, options.status):
            return int(options.status)
        judge(options.log, options.status).write(options.file)
        return 0


class ChooseRate:
    """Chooses a model's learning rate by validation loss, once, and prints the seed of the search and the rate.

    FOLDER has a training run in seed-S/R for each rate; the choice is kept in FOLDER/choice.json.
    """

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("folder")
        parser.add_argument("--seed", type=int, required=True, help="seed of the training runs")
        parser.add_argument("--rates", required=True, help="comma-separated, as in the folder names")

    @staticmethod
    def run(options: argparse.Namespace) -> None:
        choice = choose_rate(options.folder, seed=options.seed, rates=options.rates.split(","))
        print(choice.seed, choice.chosen)
