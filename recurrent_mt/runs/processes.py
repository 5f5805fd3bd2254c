"""The processes that train one model together, on one machine or on several, and what they compute on."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
from collections.abc import Collection, Mapping
from ctypes.util import find_library
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

#: How a list of GPUs begins that names any: with ``""``, ``-1``, or ``NoDevFiles``, PyTorch sees none.
VISIBLE_DEVICES = re.compile(r"\s*(\d|GPU-|MIG-)")


@dataclass(frozen=True)
class Machines:
    """Machines that train together, and which of them this one is."""

    count: int  # of all
    rank: int  # of this one, from 0
    rendezvous: str  # HOST:PORT of the first, reached by all


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
