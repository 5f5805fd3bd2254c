"""The stock fairseq commands with the plug-in, as a user calls them, on a task that a small model learns in seconds."""

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fairseq_compat.repairs.unknown_words import Alignment, replace_unk
from recurrent_mt.kernels import native
from tests.cli import toy
from tests.compat.repairs import commands
from tests.once import build_once
from user_dir.models import GRUEncoderModel

BIDIRECTIONAL = ("--arch", "gru_encoder", "--encoder-bidirectional")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return toy.learned(tmp_path_factory)


@pytest.fixture(scope="module")
def data(corpus):
    return corpus / "data"


@pytest.fixture(scope="module")
def trained(corpus):
    return corpus / "save/checkpoint_best.pt"


@pytest.fixture
def losses(data, tmp_path, caplog):
    """A function that trains, and returns the losses of the updates."""

    def train(*options):
        with caplog.at_level(logging.INFO):
            commands.train(data, tmp_path, *options, model=[*BIDIRECTIONAL, *toy.SMALL])
        return [float(json.loads(one.message)["loss"]) for one in caplog.records if one.name == "train_inner"]

    return train


def logged(log, key):
    """The values of a key in the JSON lines of fairseq-train's log, in order."""
    records = re.findall(r"\| (?:train_inner|train|valid) \| (\{.*\})", log)
    return [float(record[key]) for record in map(json.loads, records) if key in record]


def test_a_trained_model_translates_the_toy_task_and_points_at_the_words(corpus, data, trained):
    """The target is the reversed source, so the alignment of a correct translation is known."""
    losses = logged((corpus / "log").read_text(), "loss")
    assert losses[-1] < losses[0] / 2
    done = toy.generate(data, trained, "--print-alignment", "hard")
    hypotheses, references, alignments = (toy.lines(done.stdout, letter) for letter in "HTA")
    assert hypotheses.keys() == references.keys() == set(range(20))
    correct = [index for index in references if hypotheses[index] == references[index]]
    assert len(correct) >= 12, done.stdout
    right = total = 0
    for index in correct:
        length = len(references[index].split())
        pairs = [tuple(map(int, pair.split("-"))) for pair in alignments[index].split()]
        assert [target for _, target in pairs] == list(range(length))
        right += sum(source == length - 1 - target for source, target in pairs)
        total += length
    assert total > 20 and right > 0.9 * total


def test_validate_agrees_with_training(corpus, data):
    done = toy.run(
        *("fairseq-validate", data, "--user-dir", toy.PLUGIN, "--path", corpus / "save/checkpoint_last.pt"),
        *("--task", "translation", "--cpu", "--max-tokens", "600"),
    )
    loss = float(re.search(r"loss ([\d.]+)", (done.stdout + done.stderr).split("valid on")[-1]).group(1))
    assert loss == pytest.approx(logged((corpus / "log").read_text(), "valid_loss")[-1], abs=2e-3)


def test_an_ensemble_translates_interactively_empty_lines_and_unseen_words_too(corpus, data, trained):
    paths = f"{trained}:{next((corpus / 'save').glob('checkpoint_*_50.pt'))}"
    text = "w1 w2 w3\n\nw5\nnever seen w1\n"
    done = toy.run(
        *("fairseq-interactive", data, "--user-dir", toy.PLUGIN, "--path", paths, "--cpu", "--beam", "2"),
        text=text,
    )
    hypotheses = toy.lines(done.stdout, "H")
    assert hypotheses.keys() == {0, 1, 2, 3}
    assert hypotheses[0] == "W3 W2 W1" and hypotheses[2] == "W5"


def test_bfloat16_trains_and_translates_and_bleu_can_choose_the_best_checkpoint(losses, data, tmp_path, caplog):
    found = losses(
        *("--max-update", 12, "--bf16", "--eval-bleu", "--eval-bleu-args", '{"beam": 2, "max_len_b": 10}'),
        *("--best-checkpoint-metric", "bleu", "--maximize-best-checkpoint-metric"),
    )
    assert found[-1] < 0.8 * found[0] and "valid_bleu" in caplog.text
    assert len(toy.lines(commands.generate(data, tmp_path / "checkpoint_best.pt"), "H")) == 20


def test_time_steps_without_kernels_train_and_translate(losses, data, tmp_path, caplog):
    options = ("--encoder-transition-depth", "2", "--decoder-transition-depth", "2", "--skip-time", "2")
    found = losses(*options, "--max-update", "15")
    assert found[-1] < 0.8 * found[0]
    with caplog.at_level(logging.INFO):
        printed = commands.generate(data, tmp_path / "checkpoint_best.pt", "--task", "native_translation")
    assert len(toy.lines(printed, "H")) == 20
    assert (native.reason_unavailable() or "skips in time") in caplog.text


def test_a_model_with_attention_on_both_sides_and_between_trains_and_translates(losses, data, tmp_path):
    heads = ("--encoder-self-attention-heads", 4, "--decoder-self-attention-heads", 4)
    found = losses(*heads, "--decoder-attention", "additive", "--max-update", 12)
    assert found[-1] < 0.9 * found[0]
    printed = commands.generate(data, tmp_path / "checkpoint_last.pt")
    assert toy.lines(printed, "H").keys() == toy.lines(printed, "T").keys() == set(range(20))


@pytest.fixture(scope="module")
def few_words(corpus, tmp_path_factory):
    """Text and a checkpoint: two words are not in the target dictionary, which the model writes as <unk>."""

    def build(folder):
        raw = ("--dataset-impl", "raw")
        commands.preprocess(corpus, folder / "raw", "--nwordstgt", 10, *raw)
        commands.train(
            *(folder / "raw", folder / "save", "--max-update", "60", *raw), model=[*BIDIRECTIONAL, *toy.SMALL]
        )
        return folder

    return build_once(tmp_path_factory, "few-words", build)


COPYING = ("--replace-unk", "--print-alignment", "hard")


def test_replace_unk_copies_the_attended_word(few_words, tmp_path):
    data, dictionary = few_words / "raw", tmp_path / "copy.txt"
    dictionary.write_text("".join(f"{word} copied-{word}\n" for word in toy.WORDS))
    options = ("--replace-unk", dictionary, "--print-alignment", "hard", "--dataset-impl", "raw")
    printed = commands.generate(data, few_words / "save/checkpoint_best.pt", *options)
    hypotheses, sources, alignments = (toy.lines(printed, letter) for letter in "HSA")
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


def test_replace_unk_copies_subwords_and_words_that_the_model_does_not_know(few_words):
    """The source is printed without them: copied is what was typed."""
    text = ["new@@ w1 w2@@ w3 w4", "w5", "other@@ s w6@@ w7 w0", "w0 w1 w2 w3 w4 w5 w6 w7"]

    def translate(*options):
        model = ("--user-dir", toy.PLUGIN, "--path", few_words / "save/checkpoint_best.pt", "--cpu")
        batches = ("--batch-size", 3, "--buffer-size", 3, *options)
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


def test_a_line_longer_than_a_batch_is_translated_with_the_others(few_words):
    """Our models have no positions."""
    text = ["w1 w2", "w3 " * 2001, "w4", "w5 w6"]
    done = toy.run(
        *("fairseq-interactive", few_words / "raw", "--user-dir", toy.PLUGIN, "--cpu", "--beam", 1, "--max-len-b", 5),
        *("--path", few_words / "save/checkpoint_best.pt", "--max-tokens", 300, "--buffer-size", 2),
        text="\n".join(text),
    )
    assert toy.lines(done.stdout, "H").keys() == {0, 1, 2, 3}


def test_a_typed_line_that_is_too_long_is_named(data, trained):
    model = ("--user-dir", toy.PLUGIN, "--path", trained, "--cpu", "--max-source-positions", 4, "--buffer-size", 2)
    done = toy.run("fairseq-interactive", data, *model, text="w1\nw2\nw3\nw1 w2 w3 w4\n", check=False)
    assert done.returncode and "the input, line 4: 5 source tokens" in done.stdout + done.stderr


def test_hydra_trains_from_a_file_of_configs(data, tmp_path):
    toy.run(
        *("fairseq-hydra-train", "--config-dir", toy.REPOSITORY / "configs", "--config-name", "recommended-small"),
        *(f"common.user_dir={toy.PLUGIN}", f"task.data={data}", "task.source_lang=src", "task.target_lang=tgt"),
        *("common.cpu=true", "optimization.max_update=2"),
        *(f"model.{side}_{size}=16" for side in ("encoder", "decoder") for size in ("embed_dim", "hidden_size")),
        "model.decoder_out_embed_dim=16",
        *(f"checkpoint.save_dir={tmp_path / 'save'}", f"hydra.run.dir={tmp_path / 'hydra'}"),
    )
    assert len(toy.lines(commands.generate(data, tmp_path / "save/checkpoint_last.pt"), "H")) == 20


def test_from_pretrained(data, trained):
    model = GRUEncoderModel.from_pretrained(str(trained.parent), trained.name, str(data))
    assert model.translate("w1 w2 w3", beam=3) == "W3 W2 W1"


@pytest.mark.slow
def test_the_commands_of_the_readme_run_in_another_folder_and_end(tmp_path):
    toy.write_corpus(tmp_path, train=100)
    for text in tmp_path.glob("*.*"):
        text.rename(text.with_suffix({".src": ".fr", ".tgt": ".en"}[text.suffix]))
    page = (toy.REPOSITORY / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^    source \S+ && (plugin=.*\n(?:    .*\n)+)", page, re.MULTILINE)
    assert block.count("\n    fairseq-") == 3 and "cd DIR" in block
    path = f"{Path(sys.prefix, 'bin')}:{os.environ['PATH']}"
    script = f"set -e; cd {toy.REPOSITORY}; {block}".replace("cd DIR", f"cd {tmp_path}")
    done = subprocess.run(["bash", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "mine.en").read_text().splitlines()) == 20
