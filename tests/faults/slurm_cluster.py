"""A cluster with Slurm: two nodes as network namespaces, with real daemons of Debian's packages.

Node 0 is the controller, too. The daemons' files are in a folder of their own, and nothing of the
system's is changed. It takes root and ``apt-get install slurmctld slurmd munge iproute2``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.faults.training_process import TrainingProcess
from tests.faults.two_machines import TwoMachines
from tests.waiting import wait_until

#: What docs/guides/cluster.md says that slurm.conf needs, and what lets two nodes be one machine: each believes to have
#: more processors and memory than there is, and the controller soon misses a node.
CONFIGURATION = """\
ClusterName=test
SlurmctldHost=node0(10.77.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
SlurmdTimeout=10
MinJobAge=300
ReturnToService=2
NodeName=node0 NodeAddr=10.77.0.1 CPUs=4 RealMemory=40000
NodeName=node1 NodeAddr=10.77.0.2 CPUs=4 RealMemory=40000
PartitionName=main Nodes=node0,node1 Default=YES
"""
HOSTS = "127.0.0.1 localhost\n10.77.0.1 node0\n10.77.0.2 node1\n"
#: On a node: a name, a file of hosts, and a configuration of its own, then the command.
ON_NODE = 'hostname "$1" && mount --bind "$2/hosts" /etc/hosts && mount --bind "$2" /etc/slurm && shift 2 && exec "$@"'
DAEMONS = ("munged", "slurmctld", "slurmd")


class SlurmCluster:
    """Two nodes, up and idle, without accounting.

    Raises:
        OSError: naming what is missing here.
    """

    def __init__(self) -> None:
        for name in (*DAEMONS, "unshare", "mount", "hostname"):
            if find(name) is None:
                raise OSError(f"there is no {name}")
        self.machines = TwoMachines()
        # Not the test's folder: the names of sockets may have no more than 108 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.daemons: dict[str, TrainingProcess] = {}
        try:
            self.folder.chmod(0o755)
            self.write_files()
            self.start_daemons()
        except BaseException:
            self.take_down()
            raise

    def write_files(self) -> None:
        """The configuration of all daemons."""
        (self.folder / "hosts").write_text(HOSTS)
        (self.folder / "munge.key").write_bytes(os.urandom(1024))
        (self.folder / "munge.key").chmod(0o600)
        (self.folder / "state").mkdir()
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(folder=self.folder))
        # Without it, slurmd looks for control groups, also where nothing uses them.
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")

    def start_daemons(self) -> None:
        """Each when those that it needs answer."""
        munge = ["--force", "--foreground", f"--key-file={self.folder}/munge.key"]
        munge += [f"--{kind}-file={self.folder}/munge.{kind}" for kind in ("log", "pid", "seed")]
        self.start_daemon(0, "munged", *munge, f"--socket={self.folder}/munge.socket")
        wait_until((self.folder / "munge.socket").exists, self.daemons["munged"].process)
        self.start_daemon(0, "slurmctld", "-D")
        self.start_node(0)
        self.start_node(1)
        self.wait_for("srun", "--nodes=2", "--ntasks-per-node=1", "--immediate=5", "true")

    def start_daemon(self, node: int, name: str, *options: str, log: str = "") -> None:
        """A daemon in the foreground; what it says is in a file that ends in ``.said``."""
        said = self.folder / f"{log or name}.said"
        self.daemons[log or name] = self.start(node, [require(name), *options], said)

    def start_node(self, node: int) -> None:
        """The daemon that takes jobs on a node."""
        self.start_daemon(node, "slurmd", "-D", "-N", f"node{node}", log=f"slurmd{node}")

    def wait_for(self, *command: str) -> None:
        """Returns when a command succeeds.

        Raises:
            OSError: if a daemon ends before, with what it said last.
        """

        def succeeds() -> bool:
            for name, daemon in self.daemons.items():
                if daemon.process.poll() is not None:
                    raise OSError(f"{name} does not run here: {daemon.text[-1000:]}")
            return self.run(*command).returncode == 0

        wait_until(succeeds, pause=0.5)

    def start(self, node: int, command: Sequence[object], log: Path) -> TrainingProcess:
        """A process on a node, with Slurm's commands."""
        return self.machines.start(node, self.on_node(node, command), log)

    def on_node(self, node: int, command: Sequence[object]) -> list[str]:
        """A command line that runs a command on a node, within its namespace."""
        # Threads that have no processor of their own would spin while they wait for each other.
        words = ["env", "OMP_WAIT_POLICY=passive", *map(str, command)]
        return ["unshare", "--uts", "sh", "-c", ON_NODE, "sh", f"node{node}", str(self.folder), *words]

    def run(self, *command: object) -> subprocess.CompletedProcess[str]:
        """What a command on node 0 says."""
        log = self.folder / "command.said"
        process = self.start(0, command, log)
        return subprocess.CompletedProcess(list(command), process.wait(), process.text)

    def take_down(self) -> None:
        """Ends every process on the nodes, and removes the daemons' files."""
        self.machines.take_down()
        shutil.rmtree(self.folder)


def find(name: str) -> str | None:
    """A program, also one for administrators."""
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def require(name: str) -> str:
    """A program that has been looked for.

    Raises:
        OSError: if it is not there.
    """
    found = find(name)
    if found is None:
        raise OSError(f"there is no {name}")
    return found
