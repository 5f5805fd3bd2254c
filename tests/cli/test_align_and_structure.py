"""recurrent-mt align and recurrent-mt structure on an untrained grConv with attention; a quickstart starts both."""

from __future__ import annotations

import json
import re

import pytest

from recurrent_mt.translation.loading import load_checkpoint
from tests.checkpoints.checkpoints import small_checkpoint
from tests.checkpoints.generation import make_generate
from tests.commands import call

SOURCES = ["s1 s2 s3 s4", "s5", "s0 s6 s2", "s1 s2 s3 s4 s5 s6"]
TARGETS = ["t1 t2", "t2 t3 t4", "t5", "t1 t2 t3 t4"]
TREES = ["(S (A (X s1) (X s2)) (A (X s3) (X s4)))", "(S (X s5))", "(S (X s0) (A (X s6) (X s2)))"]
TREES.append("(S (X s1) (A (X s2) (A (X s3) (X s4))) (X s5) (X s6))")
LINKS = ["0-0 3-1", "0-0 0-1", "", "0-0 1?1 5-3"]


def tool(name, *arguments):
    done = call(name, *arguments)
    assert not done.returncode, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspection")
    small_checkpoint(folder, "grconv_encoder", decoder_attention="additive")
    for name, lines in {"src": SOURCES, "tgt": TARGETS, "ptb": TREES, "align": LINKS}.items():
        (folder / f"test.{name}").write_text("".join(f"{line}\n" for line in lines))
    return folder


def test_structure_draws_and_scores_the_trees_of_a_model(folder, tmp_path):
    gold = ("--trees", folder / "test.ptb")
    done = tool(
        "structure",
        *("--checkpoint", folder / "checkpoint.pt", "--data", folder, "--source", folder / "test.src"),
        *(*gold, "--sentences", 0, "--examples", 1, "--out", tmp_path / "out"),
    )
    assert "All tokens: 4 sentences, 3 of them of three words or more" in done.stdout
    names = {file.name for file in (tmp_path / "out").iterdir()}
    expected = {
        "trees.txt",
        "scores.txt",
        "scores.md",
        "scores.json",
        "sentence-0.png",
        "sentence-3.png",
    }
    assert names == expected
    trees = (tmp_path / "out" / "trees.txt").read_text().splitlines()
    assert [tree.replace("(", "").replace(")", "") for tree in trees] == SOURCES
    assert [tree.count("(") for tree in trees] == [3, 0, 2, 5]


def model_options(folder):
    return "--checkpoint", folder / "checkpoint.pt", "--data", folder, "--source", folder / "test.src"


@pytest.fixture(scope="module")
def dilated(folder, tmp_path_factory):
    dilated = tmp_path_factory.mktemp("dilated")
    small_checkpoint(dilated, "grconv_encoder", grconv_dilated=True, encoder_hidden_size=6)
    (dilated / "test.src").write_text((folder / "test.src").read_text())
    return dilated


def test_structure_draws_the_windows_of_a_dilated_grconv(dilated, tmp_path):
    drawn = ("--sentences", 0, 1, "--format", "svg")
    done = tool("structure", *model_options(dilated), *drawn, "--out", tmp_path / "out")
    assert done.stdout == f"4 sentences: {tmp_path / 'out'}\n"
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert files == {"sentence-0.svg", "sentence-1.svg"}


def test_structure_scores_no_trees_of_windows(dilated, folder, tmp_path):
    done = call("structure", *model_options(dilated), "--trees", folder / "test.ptb", "--out", tmp_path / "out")
    assert done.returncode == 1 and "implies no tree to score: leave --trees out" in done.stderr


def test_structure_names_a_pyramid_without_a_root(folder, tmp_path):
    small_checkpoint(tmp_path, "grconv_encoder", grconv_height=3)
    (tmp_path / "test.src").write_text((folder / "test.src").read_text())
    done = call("structure", *model_options(tmp_path), "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "has --grconv-height 3: over sentence 3 of 7 tokens, its pyramid has no root" in done.stderr
    (tmp_path / "test.src").write_text("s1 s2\n")
    assert tool("structure", *model_options(tmp_path), "--out", tmp_path / "out").stdout.startswith("1 trees: ")


def test_a_segmentation_that_the_tokens_do_not_have_is_refused(folder, tmp_path):
    model = ("--checkpoint", folder / "checkpoint.pt", "--data", folder, "--source", folder / "test.src")
    for line in (("align", *model, "--target", folder / "test.tgt"), ("structure", *model_options(folder))):
        done = call(*line, "--segmentation", "sentencepiece", "--out", tmp_path / line[0])
        assert done.returncode == 1, line
        assert "--segmentation sentencepiece: the tokens have the marks of no segmentation" in done.stderr


def test_align_draws_and_scores_the_alignments_of_a_model(folder, tmp_path):
    gold = ("--gold", folder / "test.align")
    done = tool(
        "align",
        *("--checkpoint", folder / "checkpoint.pt", "--data", folder, "--source", folder / "test.src"),
        *("--target", folder / "test.tgt", *gold, "--sentences", 2, "--examples", 1),
        *("--format", "svg", "--out", tmp_path / "out"),
    )
    assert "alignment error rate, %" in done.stdout
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert names == {
        "summary.txt",
        "summary.md",
        "summary.json",
        "alignments.jsonl",
        *("sentence-2.svg", "sentence-3.svg", "output-2.svg", "output-3.svg"),
    }
    first = json.loads((tmp_path / "out" / "alignments.jsonl").read_text().splitlines()[0])
    assert [len(first["weights"]), len(first["weights"][0])] == [len(first["target"]), len(first["source"])]
    records = json.loads((tmp_path / "out" / "summary.json").read_text())["records"]
    assert {one["metric"]: one["value"] for one in records if one["by"] == "all"}["sure gold links"] == 6
    assert "Weights over given translations, the target." in done.stdout


def test_align_draws_what_the_model_writes_beside_what_it_is_given(folder, tmp_path):
    done = tool(
        *("align", "--checkpoint", folder / "checkpoint.pt", "--data", folder, "--source", folder / "test.src"),
        *("--target", folder / "test.tgt", "--target-title", "reference", "--sentences", 2),
        *("--format", "svg", "--out", tmp_path / "out"),
    )
    assert "Weights over given translations, the reference." in done.stdout
    model = load_checkpoint("model", folder / "checkpoint.pt", folder)
    given, own = (
        re.findall("<!-- (.*?) -->", (tmp_path / "out" / f"{name}-2.svg").read_text())
        for name in ("sentence", "output")
    )
    assert "reference" in given and "t5" in given and "output" not in given
    words = model.align(SOURCES[2]).target
    assert "output" in own and "reference" not in own and set(words) - {"</s>"} <= set(own)


def test_links_of_words_are_not_compared_with_links_of_their_parts(folder, tmp_path):
    for name, text in {"src": "un ch@@ at", "tgt": "a cat", "gold": "0-0 1-1"}.items():
        (tmp_path / name).write_text(f"{text}\n")
    model = ("--checkpoint", folder / "checkpoint.pt", "--data", folder, "--source", tmp_path / "src")
    options = (*model, "--target", tmp_path / "tgt", "--gold", tmp_path / "gold", "--out", tmp_path / "out")
    done = call("align", *options)
    assert done.returncode == 2 and "--gold has links of words, and ch@@ is a part of one" in done.stderr
    assert call("align", *options, "--segmentation", "bpe").returncode == 0


def test_align_draws_the_alignments_of_a_log(folder, tmp_path):
    generate = make_generate(tmp_path, folder, SOURCES, TARGETS)
    printed = generate(folder / "checkpoint.pt", print_alignment="soft", max_len_b=8)
    (tmp_path / "test.log").write_text(printed)
    done = tool("align", "--log", tmp_path / "test.log", "--sentences", 1, "--out", tmp_path / "out")
    assert done.stdout.splitlines()[4].split()[:2] == ["attention", "4"]
    assert "Weights over the model's own translations." in done.stdout
    assert (tmp_path / "out" / "sentence-1.png").stat().st_size > 1000


BAD_CALLS = {
    "no target": ("align", ("--checkpoint", "x.pt", "--data", "y"), "needs --data, --source and --target"),
    "gold": ("align", ("--log", "x", "--gold", "y"), "--gold has links for given translations"),
}


@pytest.mark.parametrize(("name", "arguments", "message"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_calls_of_align_and_structure_are_explained(tmp_path, name, arguments, message):
    done = call(name, *arguments, "--out", tmp_path / "out")
    assert done.returncode and message in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "option", "file"),
    [("align", "--gold", "summary.txt"), ("structure", "--trees", "trees.txt"), ("structure", "--trees", "scores.txt")],
)
def test_gold_in_the_folder_of_the_results_is_not_overwritten(folder, tmp_path, name, option, file):
    (tmp_path / file).write_text("0-0\n" if name == "align" else "(X a)\n")
    before = (tmp_path / file).read_text()
    target = ("--target", folder / "test.tgt") if name == "align" else ()
    done = call(name, *model_options(folder), *target, option, tmp_path / file, "--out", tmp_path)
    assert done.stderr == f"error: {tmp_path / file} would be overwritten: choose another --out\n"
    assert (tmp_path / file).read_text() == before


@pytest.mark.parametrize("name", ["align", "structure"])
def test_a_missing_sentence_number_is_named(folder, tmp_path, name):
    target = ("--target", folder / "test.tgt") if name == "align" else ()
    done = call(name, *model_options(folder), *target, "--sentences", 4, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "error: --sentences 4: the sentences are 0 to 3"
