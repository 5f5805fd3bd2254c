"""scripts/train.sh: a configuration file, the fairseq command it stands for, and the result."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from recurrent_mt.runs.processes import Machines, find_interface, has_gpu, split_rendezvous, start_processes
from tests.cli import toy
from tests.commands import call

SMALL_CONFIGURATIONS = sorted(path.stem for path in (toy.REPOSITORY / "configs").glob("*-small.yaml"))


def train_script(*arguments):
    environment = {**os.environ, "VENV": str(Path(sys.prefix)), "SETUP": "no", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        ["bash", toy.REPOSITORY / "scripts/train.sh", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=toy.REPOSITORY,
    )
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout + done.stderr


def synthetic_corpus(folder, *, train):
    """The synthetic corpus with this many sentences to train on, binarized."""
    sizes = ("--train", train, "--valid", 50, "--test", 50, "--max-words", 20)
    toy.run("recurrent-mt", "synthetic-corpus", "--out", folder / "text", *sizes)
    toy.preprocess(folder / "text", folder / "bin", "--nwordssrc", 500, "--nwordstgt", 500)
    return folder / "bin"


def losses(output):
    records = re.findall(r"\| train_inner \| (\{.*\})", output)
    return [float(json.loads(record)["loss"]) for record in records]


def overrides(data, save, updates):
    return [
        *(f"task.data={data}", "task.source_lang=src", "task.target_lang=tgt", f"optimization.max_update={updates}"),
        *(f"checkpoint.save_dir={save}", "common.log_format=json", "common.log_interval=1"),
    ]


def test_one_file_trains_with_overrides_and_flags(tmp_path_factory, tmp_path, monkeypatch):
    become = Mock()
    monkeypatch.setattr("os.execv", become)
    shown = call(
        *("train", toy.REPOSITORY / "configs/rnnsearch-30-small.yaml"),
        *overrides(toy.learned(tmp_path_factory) / "data", tmp_path, 4),
        *(f"model.{side}_{size}=32" for side in ("encoder", "decoder") for size in ("embed_dim", "hidden_size")),
        *("--", "--no-progress-bar"),
    ).stdout
    program, (same, *arguments) = become.call_args.args
    assert shown == f"  $ {shlex.join([program, *arguments])}\n" and "--encoder-hidden-size 32" in shown
    assert program == same and Path(program).name == "fairseq-train"
    done = toy.run("fairseq-train", *arguments)
    made = losses(done.stdout + done.stderr)
    assert made[-1] < made[0]
    assert (tmp_path / "checkpoint_last.pt").exists()


def test_a_dry_run_shows_the_command_and_what_is_missing_is_named(tmp_path):
    configuration = toy.REPOSITORY / "configs/grconv-30.yaml"
    done = call("train", "--dry-run", configuration, f"task.data={tmp_path}", "pair=zh-en")
    shown = done.stdout + done.stderr
    assert not done.returncode and "--arch grconv_encoder" in shown and "--source-lang zh --target-lang en" in shown
    done = call("train", "nowhere.yaml")
    assert done.returncode == 1 and "no configuration nowhere.yaml" in done.stderr
    assert "required: FILE.yaml" in call("train").stderr


@pytest.mark.parametrize("name", ["mü'ller", "a,b (c)", "two=2  x\\"])
def test_a_path_may_have_any_characters(name, tmp_path, monkeypatch):
    monkeypatch.setattr("recurrent_mt.cli.train.find_plugin", lambda: tmp_path / name / "user_dir")
    configuration = shutil.copytree(toy.REPOSITORY / "configs", tmp_path / name) / "grconv-30.yaml"
    places = [f"task.data={tmp_path / name}:b", f"checkpoint.save_dir={name}/c", "pair=fr-en"]
    done = call("train", "--dry-run", configuration, *places)
    assert not done.returncode, done.stderr
    words = shlex.split(done.stdout)
    assert words[words.index("--user-dir") + 1] == str(tmp_path / name / "user_dir")
    assert words[words.index("--save-dir") + 1] == f"{name}/c"
    assert words[2] == f"{tmp_path / name}:b"


def test_options_may_come_after_the_file_and_those_of_fairseq_train_come_after_dashes():
    file = toy.REPOSITORY / "configs/rnnsearch-50-small.yaml"
    words = ("pair=fr-en", "task.data=D")
    before, after, between = (
        call("train", *options)
        for options in (
            ("--dry-run", file, *words, "--", "--fp16"),
            (file, *words, "--dry-run", "--", "--fp16"),
            (file, words[0], "--dry-run", words[1], "--", "--fp16"),
        )
    )
    assert before.stdout == after.stdout == between.stdout and before.stdout.endswith(" --fp16\n")
    refused = call("train", file, *words, "--dry-run", "--fp16")
    assert refused.returncode == 2 and "unrecognized arguments: --fp16" in refused.stderr
    assert "[FLAG ...]" in refused.stderr


@pytest.mark.parametrize(
    ("devices", "found"),
    [(["null"], False), (["nvidiactl"], False), (["nvidia0", "nvidiactl"], True), (["kfd"], True)],
)
def test_a_gpu_of_one_maker_is_found_without_the_driver_of_the_other(devices, found, tmp_path, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for name in devices:
        (tmp_path / name).touch()
    assert has_gpu(devices=tmp_path) == found


@pytest.mark.parametrize(("library", "found"), [("libcuda.so.1", True), (None, False)])
def test_in_wsl2_a_gpu_is_found_by_the_library_of_its_driver(library, found, tmp_path, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr("recurrent_mt.runs.processes.find_library", {"cuda": library}.get)
    assert not has_gpu(devices=tmp_path)
    (tmp_path / "dxg").touch()
    assert has_gpu(devices=tmp_path) == found


@pytest.mark.parametrize(
    ("visible", "flags", "found"),
    [
        *((text, [], False) for text in ("", " ", "-1", "NoDevFiles")),
        *((text, [], True) for text in ("0", " 1,0", "GPU-8932f937", "MIG-GPU-8932f937/1/2")),
        *((text, ["--cpu"], False) for text in (None, "0")),
        (None, ["--bf16"], True),
    ],
)
def test_a_gpu_that_is_hidden_or_left_alone_is_none(visible, flags, found, tmp_path, monkeypatch):
    (tmp_path / "nvidia0").touch()
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert has_gpu(flags, tmp_path) == found


@pytest.mark.parametrize(("gpu", "backend"), [(True, []), (False, ["--distributed-backend", "gloo"])])
def test_processes_talk_by_gloo_where_there_is_no_gpu(gpu, backend, monkeypatch):
    monkeypatch.setattr("recurrent_mt.runs.processes.has_gpu", lambda flags: gpu and "--cpu" not in flags)
    assert start_processes("fairseq-train", 1) == ["fairseq-train"]
    torchrun, *words = start_processes("fairseq-train", 2)
    assert Path(torchrun).name == "torchrun" and words[:3] == ["--standalone", "--nproc_per_node", "2"]
    assert words[3:] == ["fairseq-train", "--ddp-backend", "legacy_ddp", *backend]
    assert start_processes("fairseq-train", 2, flags=["--cpu"])[-1] == "gloo"
    _, *words = start_processes("fairseq-train", 2, timeout=60)
    assert words[3:] == ["fairseq-train", "--ddp-backend", "legacy_ddp", *backend, "--heartbeat-timeout", "60"]


@pytest.mark.parametrize("gpu", [True, False])
def test_gloo_is_told_which_interface_leads_to_the_other_machines(gpu, monkeypatch):
    monkeypatch.setattr("recurrent_mt.runs.processes.has_gpu", lambda flags: gpu)
    monkeypatch.setattr("recurrent_mt.runs.processes.find_interface", lambda host, port: f"to-{host}-{port}")
    monkeypatch.delenv("GLOO_SOCKET_IFNAME", raising=False)
    machines = Machines(count=3, rank=2, rendezvous="10.0.0.1:29500")
    line = " ".join(start_processes("fairseq-train", 1, machines, timeout=60))
    assert ("env GLOO_SOCKET_IFNAME=to-10.0.0.1-29500 " in line) is not gpu
    where = "--nnodes 3 --node_rank 2 --master_addr 10.0.0.1 --master_port 29500"
    assert f"torchrun {where} --rdzv_conf timeout=60 --nproc_per_node 1 fairseq-train " in line
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "mine")
    assert "GLOO_SOCKET_IFNAME" not in " ".join(start_processes("fairseq-train", 1, machines))


def test_a_rendezvous_must_be_reached_by_all_machines(monkeypatch):
    assert split_rendezvous("[::1]:29500") == ("[::1]", 29500)
    loopback = find_interface("127.0.0.1", 29500)
    assert loopback == find_interface("localhost", 29500) and loopback.startswith("lo")
    for text in ("10.0.0.1", ":29500", "10.0.0.1:", "10.0.0.1:port", "10.0.0.1:65536"):
        with pytest.raises(ValueError, match=f"--rendezvous {text} is not HOST:PORT, such as"):
            split_rendezvous(text)
    known = [(socket.AF_INET, socket.SOCK_DGRAM, 17, "", ("127.0.1.1", 29500))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: known)
    with pytest.raises(ValueError, match="on this machine, node0 is a loopback address, which"):
        find_interface("node0", 29500)
    monkeypatch.setattr(socket, "getaddrinfo", Mock(side_effect=socket.gaierror("not known")))
    with pytest.raises(ValueError, match="node0:29500: nothing leads from this machine to node0: not known"):
        find_interface("node0", 29500)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--nodes", 2, "--node-rank", 0), "--nodes 2 needs --node-rank and --rendezvous"),
        (("--node-rank", 0), "give --nodes N as well"),
        (("--rendezvous", "h:1"), "give --nodes N as well"),
    ],
)
def test_options_of_several_machines_come_together(options, message):
    done = call("train", "--dry-run", *options, toy.REPOSITORY / "configs/grconv-30.yaml", "task.data=D")
    assert done.returncode == 2 and message in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL_CONFIGURATIONS)
def test_a_small_configuration_learns(name, tmp_path):
    """The papers' Adadelta is slow to start: what counts here is that the loss keeps falling."""
    assert len(SMALL_CONFIGURATIONS) == 6
    data = synthetic_corpus(tmp_path, train=3000)
    made = losses(train_script(f"configs/{name}.yaml", *overrides(data, tmp_path, 120)))
    assert made[-1] < made[len(made) // 2] < made[0]
    assert made[-1] < 0.8 * made[0]
