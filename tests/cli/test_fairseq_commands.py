"""The stock fairseq commands with the plug-in, as a user calls them, on a task that a small model learns in seconds."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from fairseq_compat.repairs.unknown_words import Alignment, replace_unk
from recurrent_mt.kernels import native
from tests.cli import toy
from tests.commands import call
from tests.once import build_once

MODELS = {
    "gru_encoder": ["--arch", "gru_encoder", "--encoder-bidirectional"],
    "grconv_encoder": [
        *("--arch", "grconv_encoder", "--decoder-attention", "none", "--encoder-hidden-size", "48", "--lr", "0.003"),
        # With seed 1 the loss jumps up near the last update: how far it has come down again depends on rounding.
        *("--seed", "2"),
    ],
}


def logged(log, key):
    """The values of a key in the JSON lines of fairseq-train's log, in order."""
    if not isinstance(log, str):
        log = log.stdout + log.stderr
    records = re.findall(r"\| (?:train_inner|train|valid) \| (\{.*\})", log)
    return [float(record[key]) for record in map(json.loads, records) if key in record]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return toy.learned(tmp_path_factory)


@pytest.fixture(scope="module")
def data(corpus):
    return corpus / "data"


@pytest.fixture(scope="module")
def trained(corpus, data, tmp_path_factory):
    """One trained model of each kind: what its training printed, and the folder of its checkpoints."""

    def build(folder):
        done = toy.train(data, folder, *MODELS["grconv_encoder"], "--max-update", "150")
        return done.stdout + done.stderr, folder

    grconv = build_once(tmp_path_factory, "toy-grconv", build)
    return {"gru_encoder": ((corpus / "log").read_text(), corpus / "save"), "grconv_encoder": grconv}


@pytest.mark.parametrize("name", MODELS)
def test_a_trained_model_translates_the_toy_task(name, data, trained):
    log, save = trained[name]
    losses = logged(log, "loss")
    assert losses[-1] < losses[0] / 2
    done = toy.generate(data, save / "checkpoint_best.pt")
    hypotheses, references = toy.lines(done.stdout, "H"), toy.lines(done.stdout, "T")
    assert hypotheses.keys() == references.keys() == set(range(20))
    right = sum(hypotheses[i] == references[i] for i in references)
    # Attention learns the task; a fixed vector of this size and age need only have learned some of it.
    assert right >= (12 if name == "gru_encoder" else 2), done.stdout


def test_validate_agrees_with_training(data, trained):
    log, save = trained["gru_encoder"]
    done = toy.run(
        *("fairseq-validate", data, "--user-dir", toy.PLUGIN, "--path", save / "checkpoint_last.pt"),
        *("--task", "translation", "--cpu", "--max-tokens", "600"),
        fresh=True,
    )
    loss = float(re.search(r"loss ([\d.]+)", (done.stdout + done.stderr).split("valid on")[-1]).group(1))
    assert loss == pytest.approx(logged(log, "valid_loss")[-1], abs=2e-3)


def test_print_alignment_points_at_the_translated_word(data, trained):
    """The target is the reversed source, so the alignment of a correct translation is known."""
    path = trained["gru_encoder"][1] / "checkpoint_best.pt"
    done = toy.generate(data, path, "--print-alignment", "hard")
    hypotheses, references, alignments = (toy.lines(done.stdout, letter) for letter in "HTA")
    right = total = 0
    for index, reference in references.items():
        length = len(reference.split())
        if hypotheses[index] == reference:
            pairs = [tuple(map(int, pair.split("-"))) for pair in alignments[index].split()]
            assert [target for _, target in pairs] == list(range(length))
            right += sum(source == length - 1 - target for source, target in pairs)
            total += length
    assert total > 20 and right > 0.9 * total


def test_an_ensemble_translates_interactively_empty_lines_and_unseen_words_too(data, trained):
    paths = ":".join(str(save / "checkpoint_best.pt") for _, save in trained.values())
    text = "w1 w2 w3\n\nw5\nnever seen w1\n"
    done = toy.run(
        *("fairseq-interactive", data, "--user-dir", toy.PLUGIN, "--path", paths, "--cpu", "--beam", "2"),
        text=text,
    )
    hypotheses = toy.lines(done.stdout, "H")
    assert hypotheses.keys() == {0, 1, 2, 3}
    assert hypotheses[0] == "W3 W2 W1" and hypotheses[2] == "W5"


@pytest.mark.parametrize(("command", "options"), [("fairseq-generate", ()), ("fairseq-interactive", ("--remove-bpe",))])
def test_a_log_without_its_last_sentence_is_refused(command, options, data, trained, tmp_path):
    """What fairseq prints on standard output has no number of sentences, unless it was translated interactively."""
    model = ("--user-dir", toy.PLUGIN, "--path", trained["gru_encoder"][1] / "checkpoint_best.pt", "--cpu")
    done = toy.run(command, data, *model, "--no-progress-bar", "--nbest", "2", *options, text="w1 w2\nw3\nw4 w5 w6\n")
    lines = done.stdout.splitlines(keepends=True)
    last = max(toy.lines(done.stdout, "H"))
    log = tmp_path / "log"
    log.write_text("".join(lines))
    assert call("hypotheses", log, "--out", tmp_path / "text").returncode == 0
    assert len((tmp_path / "text").read_text().splitlines()) == last + 1
    log.write_text("".join(line for line in lines if not re.match(rf"[STHDPW]-{last}\t", line)))
    done = call("hypotheses", log, "--out", tmp_path / "less")
    assert done.returncode and "lines were lost" in done.stderr and not (tmp_path / "less").exists()


def test_a_resumed_training_has_the_same_losses(data, tmp_path):
    options = [*MODELS["gru_encoder"], "--dropout", "0.2"]
    whole = toy.train(data, tmp_path / "whole", *options, "--max-update", "12")
    toy.train(data, tmp_path / "parts", *options, "--max-update", "7")
    rest = toy.train(data, tmp_path / "parts", *options, "--max-update", "12")
    assert len(logged(rest, "loss")) < len(logged(whole, "loss"))
    assert logged(rest, "loss")[-1] == logged(whole, "loss")[-1]
    assert logged(rest, "valid_loss")[-1] == logged(whole, "valid_loss")[-1]


def test_bleu_can_choose_the_best_checkpoint_during_training(data, tmp_path):
    process = toy.train(
        *(data, tmp_path, *MODELS["gru_encoder"], "--max-update", "2", "--eval-bleu"),
        *("--eval-bleu-args", '{"beam": 2, "max_len_b": 10}'),
        *("--best-checkpoint-metric", "bleu", "--maximize-best-checkpoint-metric"),
    )
    assert len(logged(process, "valid_bleu")) >= 1
    assert (tmp_path / "checkpoint_best.pt").exists()


def test_bfloat16_trains_and_translates(data, tmp_path):
    process = toy.train(data, tmp_path, *MODELS["gru_encoder"], "--max-update", "12", "--bf16")
    losses = logged(process, "loss")
    assert losses[-1] < 0.8 * losses[0]
    assert len(toy.lines(toy.generate(data, tmp_path / "checkpoint_best.pt").stdout, "H")) == 20


def test_time_steps_without_kernels_train_and_translate(data, tmp_path):
    options = ("--encoder-transition-depth", "2", "--decoder-transition-depth", "2", "--skip-time", "2")
    process = toy.train(data, tmp_path, *MODELS["gru_encoder"], *options, "--max-update", "15")
    assert "--decoder-transition-depth: these layers run in PyTorch operations" in process.stdout + process.stderr
    losses = logged(process, "loss")
    assert losses[-1] < 0.8 * losses[0]
    done = toy.generate(data, tmp_path / "checkpoint_best.pt", "--task", "native_translation")
    assert len(toy.lines(done.stdout, "H")) == 20
    assert (native.reason_unavailable() or "skips in time") in done.stdout + done.stderr


#: Attention in three places, and what switches it on.
PLACES = {
    "encoder": ("--encoder-self-attention-heads", "4"),
    "decoder": ("--decoder-self-attention-heads", "4"),
    "between": ("--decoder-attention", "additive"),
}


def grid():
    """The eight choices of these places; by default only all of them."""
    for switches in itertools.product([False, True], repeat=len(PLACES)):
        places = tuple(itertools.compress(PLACES, switches))
        yield pytest.param(places, id="-".join(places) or "nowhere", marks=() if all(switches) else pytest.mark.slow)


@pytest.mark.parametrize("places", list(grid()))
def test_a_model_with_attention_in_these_places_trains_and_translates(places, data, tmp_path):
    options = [word for place in places for word in PLACES[place]]
    if "between" not in places:
        options += ["--decoder-attention", "none"]
    losses = logged(toy.train(data, tmp_path, *MODELS["gru_encoder"], *options, "--max-update", 12), "loss")
    assert losses[-1] < 0.9 * losses[0]
    parameters = torch.load(tmp_path / "checkpoint_last.pt")["model"]
    attentive = {name.split(".")[0] for name in parameters if ".self_attention." in name}
    assert attentive == {"encoder", "decoder"}.intersection(places)
    done = toy.generate(data, tmp_path / "checkpoint_last.pt")
    assert toy.lines(done.stdout, "H").keys() == toy.lines(done.stdout, "T").keys() == set(range(20))


@pytest.fixture(scope="module", params=["gru_encoder", pytest.param("lstm", marks=pytest.mark.slow)])
def few_words(request, corpus, tmp_path_factory):
    """Text and a checkpoint: two words are not in the target dictionary, which the model writes as <unk>."""
    arguments = MODELS.get(request.param) or ["--arch", request.param, "--encoder-bidirectional"]

    def build(folder):
        raw = ("--dataset-impl", "raw")
        toy.preprocess(corpus, folder / "raw", "--nwordstgt", 10, *raw)
        toy.train(folder / "raw", folder / "save", *arguments, "--max-update", "60", *raw)
        return folder

    return build_once(tmp_path_factory, f"few-words-{request.param}", build)


COPYING = ("--replace-unk", "--print-alignment", "hard")


def test_replace_unk_copies_the_attended_word(few_words):
    data, dictionary = few_words / "raw", few_words / "copy.txt"
    dictionary.write_text("".join(f"{word} copied-{word}\n" for word in toy.WORDS))
    options = ("--replace-unk", dictionary, "--print-alignment", "hard", "--dataset-impl", "raw")
    done = toy.generate(data, few_words / "save/checkpoint_best.pt", *options)
    hypotheses, sources, alignments = (toy.lines(done.stdout, letter) for letter in "HSA")
    known = {word for word in (data / "dict.tgt.txt").read_text().split() if word.startswith("W")}
    assert len(known) == 6 and hypotheses.keys() == set(range(20))
    copies = 0
    for index, hypothesis in hypotheses.items():
        pairs = [map(int, pair.split("-")) for pair in alignments[index].split()]
        aligned = {target: sources[index].split()[position] for position, target in pairs}
        for target, word in enumerate(hypothesis.split()):
            assert word in known or word == f"copied-{aligned[target]}"
            copies += word not in known
    assert copies > 3


@pytest.mark.parametrize(
    ("few_words", "buffer"),
    [
        ("gru_encoder", 3),
        pytest.param("gru_encoder", 1, marks=pytest.mark.slow),
        pytest.param("lstm", 1, marks=pytest.mark.slow),
        pytest.param("lstm", 3, marks=pytest.mark.slow),
    ],
    indirect=["few_words"],
)
def test_replace_unk_copies_subwords_and_words_that_the_model_does_not_know(buffer, few_words):
    """The source is printed without them: copied is what was typed."""
    text = ["new@@ w1 w2@@ w3 w4", "w5", "other@@ s w6@@ w7 w0", "w0 w1 w2 w3 w4 w5 w6 w7"]

    def translate(*options):
        model = ("--user-dir", toy.PLUGIN, "--path", few_words / "save/checkpoint_best.pt", "--cpu")
        batches = ("--batch-size", buffer, "--buffer-size", buffer, *options)
        return toy.run("fairseq-interactive", few_words / "raw", *model, *batches, text="\n".join(text)).stdout

    tokens, alignments = (toy.lines(translate(*COPYING[1:]), letter) for letter in "HA")
    found = toy.lines(translate(*COPYING, "--remove-bpe"), "H")
    expected, copies = {}, 0
    for number, hypothesis in tokens.items():
        pairs = [tuple(map(int, pair.split("-"))) for pair in alignments[number].split()]
        copied = replace_unk(hypothesis, text[number], Alignment(pairs, symbol="@@ "), {}, "<unk>")
        expected[number] = f"{copied} ".replace("@@ ", "").rstrip()
        copies += hypothesis.split().count("<unk>")
    assert found == expected and copies > 3


def test_replace_unk_needs_alignments(few_words):
    options = ("--dataset-impl", "raw", "--replace-unk")
    done = toy.generate(few_words / "raw", few_words / "save/checkpoint_best.pt", *options, check=False)
    assert "--replace-unk looks up source words in the alignment: add --print-alignment hard" in failure(done)


def test_hydra_trains_from_a_file_of_configs(data, tmp_path):
    toy.run(
        *("fairseq-hydra-train", "--config-dir", toy.REPOSITORY / "configs", "--config-name", "recommended-small"),
        *(f"common.user_dir={toy.PLUGIN}", f"task.data={data}", "task.source_lang=src", "task.target_lang=tgt"),
        *("common.cpu=true", "optimization.max_update=2"),
        *(f"model.{side}_{size}=16" for side in ("encoder", "decoder") for size in ("embed_dim", "hidden_size")),
        "model.decoder_out_embed_dim=16",
        *(f"checkpoint.save_dir={tmp_path / 'save'}", f"hydra.run.dir={tmp_path / 'hydra'}"),
    )
    done = toy.generate(data, tmp_path / "save/checkpoint_last.pt")
    assert len(toy.lines(done.stdout, "H")) == 20


def test_from_pretrained_in_a_fresh_process(data, trained):
    program = f"""
from user_dir.models import GRUEncoderModel
model = GRUEncoderModel.from_pretrained({str(trained["gru_encoder"][1])!r}, "checkpoint_best.pt", {str(data)!r})
print("TRANSLATION:", model.translate("w1 w2 w3", beam=3))
"""
    done = toy.run("python", "-c", program, fresh=True)
    assert "TRANSLATION: W3 W2 W1" in done.stdout


def failure(process):
    """The error output of a process that must have failed."""
    assert process.returncode
    return process.stdout + process.stderr


def test_an_unknown_option_value_is_named(data, tmp_path):
    process = toy.train(
        data, tmp_path, "--arch", "gru_encoder", "--decoder-attention", "cosine", "--max-update", "1", check=False
    )
    assert "argument --decoder-attention: invalid choice: 'cosine'" in failure(process)


def test_a_checkpoint_of_another_architecture_is_not_loaded(data, trained, tmp_path):
    shutil.copy(trained["gru_encoder"][1] / "checkpoint_last.pt", tmp_path)
    process = toy.train(data, tmp_path, *MODELS["grconv_encoder"], "--max-update", "200", check=False)
    text = failure(process)
    assert f"{tmp_path}/checkpoint_last.pt holds another model than these options make" in text
    assert "--arch gru_encoder → grconv_encoder" in text


def test_a_missing_dictionary_is_named(data, tmp_path):
    copy = tmp_path / "bin"
    shutil.copytree(data, copy)
    (copy / "dict.tgt.txt").unlink()
    process = toy.train(copy, tmp_path / "save", *MODELS["gru_encoder"], "--max-update", "1", check=False)
    assert str(copy / "dict.tgt.txt") in failure(process)


def test_a_sentence_over_the_position_limit_is_named(corpus, data, trained):
    path = trained["gru_encoder"][1] / "checkpoint_best.pt"
    process = toy.generate(data, path, "--max-source-positions", "4", check=False)
    lengths = [len(line.split()) + 1 for line in (corpus / "test.src").read_text().splitlines()]
    first = next(number for number, length in enumerate(lengths) if length > 4)
    size = f"{lengths[first]} source and {lengths[first]} target tokens, the end of the sentence included"
    assert f"test, line {first + 1}: {size}, are more than the model takes (4 source, see" in failure(process)
    skipped = toy.generate(data, path, "--max-source-positions", "4", "--skip-invalid-size-inputs-valid-test")
    assert 0 < len(toy.lines(skipped.stdout, "H")) < 20


def test_a_line_longer_than_a_batch_is_translated_with_the_others(few_words):
    """Neither our models nor fairseq's lstm have positions."""
    text = ["w1 w2", "w3 " * 2001, "w4", "w5 w6"]
    done = toy.run(
        *("fairseq-interactive", few_words / "raw", "--user-dir", toy.PLUGIN, "--cpu", "--beam", 1, "--max-len-b", 5),
        *("--path", few_words / "save/checkpoint_best.pt", "--max-tokens", 300, "--buffer-size", 2),
        text="\n".join(text),
    )
    assert toy.lines(done.stdout, "H").keys() == {0, 1, 2, 3}


def test_a_test_set_with_a_long_line_is_translated_and_a_typed_one_is_named(corpus, trained, data, tmp_path):
    path = trained["gru_encoder"][1] / "checkpoint_best.pt"
    for side, word in (("src", "w1"), ("tgt", "W1")):
        (tmp_path / f"test.{side}").write_text(f"{word}\n" + f"{word} " * 2001 + "\n")
    toy.run(
        *("fairseq-preprocess", "-s", "src", "-t", "tgt", "--testpref", tmp_path / "test", "--destdir", tmp_path),
        *("--srcdict", data / "dict.src.txt", "--tgtdict", data / "dict.tgt.txt"),
    )
    done = toy.generate(tmp_path, path, "--max-len-b", 5, "--max-tokens", 300)
    assert toy.lines(done.stdout, "H").keys() == {0, 1}
    model = ("--user-dir", toy.PLUGIN, "--path", path, "--cpu", "--max-source-positions", 4, "--buffer-size", 2)
    done = toy.run("fairseq-interactive", data, *model, text="w1\nw2\nw3\nw1 w2 w3 w4\n", check=False)
    assert "the input, line 4: 5 source tokens" in failure(done)


@pytest.mark.slow
def test_the_commands_of_the_readme_run_in_another_folder_and_end(tmp_path):
    toy.write_corpus(tmp_path, train=100)
    for text in tmp_path.glob("*.*"):
        text.rename(text.with_suffix({".src": ".fr", ".tgt": ".en"}[text.suffix]))
    page = (toy.REPOSITORY / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^    source \S+ && (plugin=.*\n(?:    .*\n)+)", page, re.MULTILINE)
    assert block.count("\n    fairseq-") == 3 and "cd DIR" in block
    path = f"{Path(sys.prefix, 'bin')}:{os.environ['PATH']}"
    commands = f"set -e; cd {toy.REPOSITORY}; {block}".replace("cd DIR", f"cd {tmp_path}")
    done = subprocess.run(["bash", "-c", commands], env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "mine.en").read_text().splitlines()) == 20
