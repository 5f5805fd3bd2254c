"""Experiments and trainings on a cluster with Slurm, two nodes and real daemons; docs/log/scaling.md has what came out.

The stand-ins of tests/runs/slurm.py are for what can be tried without it, in seconds.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from recurrent_mt.runs.launcher import WORKFLOW
from tests.cli.recipes import TINY, experiment, needs_tools, values, write_corpus
from tests.commands import command_line
from tests.faults.shared_training import UPDATES, check_same, make_shards, overrides, train_alone
from tests.faults.slurm_cluster import SlurmCluster
from tests.faults.training_process import TrainingProcess, train_script
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, needs_tools]


@pytest.fixture
def cluster():
    try:
        made = SlurmCluster()
    except OSError as error:
        pytest.skip(f"no cluster with Slurm: {error}")
    yield made
    made.take_down()


def write_profile(folder: Path) -> Path:
    """The profile of this project for this cluster, but that jobs are looked at every few seconds."""
    settings = yaml.safe_load((WORKFLOW / "profiles/slurm/config.yaml").read_text())
    settings["default-resources"] |= {"slurm_partition": "main"}
    pauses = {"slurm-init-seconds-before-status-checks": 2, "max-status-checks-per-second": 1, "latency-wait": 5}
    folder.mkdir()
    # Each job takes seconds of processors that are not there to start.
    (folder / "config.yaml").write_text(yaml.safe_dump({**settings, **pauses, "jobs": 4}))
    return folder


def call_experiment(tmp_path: Path, profile: Path, **options: object) -> list[str]:
    """The call of a comparison. Its text is prepared without the cluster, where every job takes seconds to begin."""
    write_corpus(tmp_path / "corpus")
    data = {"corpus": tmp_path / "corpus", "out": tmp_path / "out", "pair": "fr-en", "segmentation": "word:40"}
    (tmp_path / "data.yaml").write_text("pair: fr-en\n")
    experiment(tmp_path / "data.yaml", **data)
    sizes = {name: value for name, value in TINY.items() if name != "updates"}
    pairs = [f"{name}={value}" for name, value in {**data, **sizes, **options}.items()]
    file = "configs/experiments/comparison.yaml"
    return command_line("recurrent-mt", "experiment", file, *pairs, "--profile", profile)


def find_trainings(cluster: SlurmCluster, out: Path) -> dict[str, tuple[str, Path]]:
    """Number, node, and folder of each training that runs."""
    # The comment is the rule with its wildcards, in which hyphens are underscores.
    said = cluster.run("squeue", "--noheader", "--states=RUNNING", "--format=%A %N %k").stdout
    found = re.findall(r"^(\d+) (\S+) rule_train_wildcards_\S+_([0-9a-f]{8})_(\d+)", said, re.MULTILINE)
    return {
        job: (node, folder)
        for job, node, identity, seed in found
        for folder in (out / "trainings").glob(f"*-{identity}/seed-{seed}")
    }


def lose_node(cluster: SlurmCluster, run: TrainingProcess) -> None:
    """Node 1 loses its power, and comes back when Slurm has missed it."""
    cluster.machines.kill(1)
    wait_until(lambda: "down" in cluster.run("sinfo", "--noheader", "--nodes=node1", "--format=%t").stdout, run.process)
    cluster.start_node(1)


def resumed_at(log: str) -> list[int]:
    """The updates at which a training was resumed."""
    return [int(update) for update in re.findall(r"Loaded checkpoint .* @ (\d+) updates", log)]


def test_a_comparison_uses_both_nodes_and_outlives_the_loss_of_one(cluster, tmp_path):
    profile = write_profile(tmp_path / "profile")
    call = call_experiment(tmp_path, profile, systems="lstm,gru_encoder-additive", seeds="1,2", updates=30)
    run = cluster.start(0, call, tmp_path / "run.log")

    def share() -> bool:
        return {node for node, _ in find_trainings(cluster, tmp_path / "out").values()} == {"node0", "node1"}

    wait_until(share, run.process, pause=1)
    running = find_trainings(cluster, tmp_path / "out")
    lost, folder = next((job, folder) for job, (node, folder) in running.items() if node == "node1")
    wait_until((folder / "checkpoints/checkpoint_last.pt").exists, run.process)
    lose_node(cluster, run)
    said = cluster.run("scontrol", "show", "job", lost).stdout
    assert "Restarts=1" in said
    assert run.wait() == 0, run.text
    (update,) = resumed_at((folder / "train.log").read_text())
    assert 0 < update < 30
    for seed in ("1", "2"):
        assert len(values(tmp_path / "out", "BLEU", seed=seed)) == 2


def test_a_training_over_its_time_limit_is_resumed_by_the_same_command(cluster, tmp_path):
    call = call_experiment(
        tmp_path, write_profile(tmp_path / "profile"), systems="lstm", seeds="1", minutes=2, processes=2
    )
    over = cluster.start(0, call, tmp_path / "over.log")
    ((job, (_, folder)),) = wait_until(lambda: find_trainings(cluster, tmp_path / "out").items(), over.process, pause=1)
    wait_until((folder / "checkpoints/checkpoint_last.pt").exists, over.process)
    # A minute is the least that Slurm takes. As the profile's limit, it might be over before the first update.
    assert cluster.run("scontrol", "update", f"JobId={job}", "TimeLimit=1").returncode == 0
    assert over.wait() == 1
    assert "SLURM status is: 'TIMEOUT'" in over.text
    assert "Training lstm, seed 1: failed" in over.text
    assert over.text.endswith("(rerun the same command to try again)\n")
    again = cluster.start(0, call, tmp_path / "again.log")
    assert again.wait() == 0, again.text
    (update,) = resumed_at((folder / "train.log").read_text())
    assert update > 0


def test_two_nodes_that_srun_starts_are_one_with_twice_the_batches(cluster, tmp_path):
    """And when one goes down, Slurm begins the job anew, and the training goes on from its last checkpoint."""
    shards = make_shards(tmp_path)
    one = train_alone(shards, tmp_path)
    meeting = ("--nodes", "2", "--node-rank", "RANK", "--rendezvous", "node0:29500", "--timeout", "120")
    call = train_script(*meeting, overrides=overrides(shards, tmp_path / "two", update_freq=1))
    each = shlex.join(map(str, call)).replace("RANK", '"$SLURM_NODEID"')
    line = shlex.join(["srun", "bash", "-c", f"exec {each}"])
    # sbatch itself says one line, at the beginning of the same log.
    log = tmp_path / "job.log"
    options = ("--wait", "--requeue", "--open-mode=append", f"--output={log}", "--nodes=2", "--ntasks-per-node=1")
    job = cluster.start(0, ["sbatch", *options, f"--wrap={line}"], log)
    job.wait_for_update(13)
    lose_node(cluster, job)
    assert job.wait() == 0, job.text
    (update,) = set(resumed_at(job.text))
    assert 0 < update < UPDATES
    check_same(tmp_path, one, job)
