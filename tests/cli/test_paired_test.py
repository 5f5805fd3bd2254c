"""One paired test and one interval in every tool that compares systems, of one training and of means over seeds."""

import json
import shutil

import numpy as np
import pytest
from sacrebleu.significance import estimate_ci

from recurrent_mt.cli import analyze
from recurrent_mt.metrics import randomization_p_value, statistics
from tests.commands import call
from tests.evaluation.test_analysis import make_run, write_lines
from tests.metrics.sacrebleu_command import sacrebleu_command
from tests.metrics.translations import translations

RESAMPLES = 80
#: Of each system, the share of wrong words, by seed.
ERRORS = {"base": {1: 0.3, 2: 0.4}, "other": {1: 0.35, 2: 0.5}}


@pytest.fixture
def run(tmp_path):
    folder = make_run(tmp_path / "run", segmentation="sentencepiece:9")
    shutil.rmtree(folder / "systems")
    for system, seeds in ERRORS.items():
        for seed, errors in seeds.items():
            made = translations(references(folder), errors=errors, seed=seed + len(system))
            write_lines(folder / "systems" / system / f"seed-{seed}" / "test.detokenized", made)
    return folder


@pytest.fixture(autouse=True)
def no_plots(monkeypatch):
    """Drawing them would take most of the time."""
    monkeypatch.setattr(analyze, "write_plots", lambda *_: None)


def references(run):
    return read(run / "text" / "raw" / "test.en")


def read(file):
    return file.read_text(encoding="utf-8").splitlines()


def translation(run, system, seed):
    return run / "systems" / system / f"seed-{seed}" / "test.detokenized"


def named(run, seeds):
    """The arguments of a tool that takes files, and several of one system as its seeds."""
    for name in ERRORS:
        yield "--system"
        yield f"{name}={','.join(str(translation(run, name, seed)) for seed in seeds)}"


def records_of(tmp_path, name, *words):
    """What a tool's JSON says of BLEU on the whole test set, and all of it."""
    done = call(*words)
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    found = {}
    for one in content["records"]:
        if (one["metric"], one["by"], one["seed"]) == ("BLEU", "all", ""):
            found[one["system"]] = {column: one[column] for column in ("value", "low", "high", "p")}
    return found, content


def compared(run, tmp_path, seeds):
    """BLEU, interval, and p by every tool that takes several seeds, with the signature that it shows for BLEU."""
    resamples = "--metrics", "bleu", "--resamples", RESAMPLES
    files = ["--reference", run / "text" / "raw" / "test.en", "--target-lang", "en", *named(run, seeds)]
    cells = ["--ablation", "cells", "--models", "base,other", "--baseline", "base"]
    models = ["--models", "base,other", "--seeds", ",".join(map(str, seeds)), "--baseline", "base"]
    for seed in {1, 2} - set(seeds):
        for system in ERRORS:
            shutil.rmtree(translation(run, system, seed).parent)
    found = {
        "analyze": records_of(tmp_path, "a/analysis", "analyze", *files, *resamples, "--out", tmp_path / "a"),
        "analyze a run": records_of(tmp_path, "r/analysis", "analyze", run, *resamples, "--out", tmp_path / "r"),
        "compare": records_of(tmp_path, "table", "compare", run, *models, *resamples, "--out", tmp_path / "table"),
        "an ablation": records_of(tmp_path, "cells", "compare", run, *cells, *resamples, "--out", tmp_path / "cells"),
    }
    signatures = {
        tool: (content["test_sets"][0] if "test_sets" in content else content)["signatures"]["BLEU"]
        for tool, (_, content) in found.items()
    }
    return {tool: records for tool, (records, _) in found.items()}, signatures


def test_the_same_two_files_have_sacrebleus_p_and_interval_in_every_tool(run, tmp_path):
    files = [translation(run, system, 1) for system in ERRORS]
    expected = {}
    for test in ("bs", "ar"):
        (tmp_path / test).mkdir()
        words = tmp_path / test, list(map(read, files)), references(run), "-m", "bleu"
        expected[test] = sacrebleu_command(*words, f"--paired-{test}", f"--paired-{test}-n", RESAMPLES)
    scored, content = records_of(
        *(tmp_path, "scores", "compare", "--reference", run / "text" / "raw" / "test.en", *named(run, [1])),
        *("--metrics", "bleu", "--paired", "randomization", "--confidence", RESAMPLES, "--out", tmp_path / "scores"),
    )
    for found, resampled, exchanged in zip(scored.values(), expected["bs"], expected["ar"], strict=True):
        row = resampled["BLEU"]
        assert (found["value"], found["p"]) == (row["score"], exchanged["BLEU"]["p_value"])
        # With numpy 2, sacrebleu computes these in single precision.
        assert (found["high"] - found["low"]) / 2 == pytest.approx(row["ci"], rel=1e-5)
    assert 0.05 < scored["other"]["p"] < 0.5, "a p that tests can be told apart by"

    found, signatures = compared(run, tmp_path, [1])
    assert found == dict.fromkeys(found, scored)
    assert set(signatures.values()) == {content["test_sets"][0]["signatures"]["BLEU"]}
    assert f"|bs:{RESAMPLES}|ar:{RESAMPLES}|seed:12345|" in signatures["compare"]


def test_of_several_seeds_the_means_of_the_same_draws_are_tested(run, tmp_path):
    counts = {
        system: [statistics("bleu", read(translation(run, system, seed)), references(run)) for seed in seeds]
        for system, seeds in ERRORS.items()
    }
    found, _ = compared(run, tmp_path, [1, 2])
    means = {system: np.mean([one.score().value for one in seeds]) for system, seeds in counts.items()}
    drawn = {
        system: np.mean([one.score_sums(one.resampled_sums(RESAMPLES)) for one in seeds], axis=0)
        for system, seeds in counts.items()
    }
    p_value = randomization_p_value(counts["other"], counts["base"], trials=RESAMPLES)
    expected = {}
    for system, p in {"base": None, "other": p_value}.items():
        ordered = np.sort(drawn[system])
        low, high = ordered[RESAMPLES // 40], ordered[RESAMPLES - RESAMPLES // 40 - 1]
        assert (high - low) / 2 == pytest.approx(estimate_ci(drawn[system])[1])
        expected[system] = {"value": means[system], "low": low, "high": high, "p": p}
    assert found == dict.fromkeys(found, expected)


@pytest.mark.slow
def test_a_training_repeated_is_tested_as_it_is_once(run, tmp_path):
    """Two equal seeds draw what one draws."""
    for system in ERRORS:
        shutil.copy(translation(run, system, 1), translation(run, system, 2))
    twice, _ = compared(run, tmp_path, [1, 2])
    once, _ = compared(run, tmp_path, [1])
    assert twice == once


def test_a_test_set_of_a_few_sentences_is_tested_and_one_sentence_is_not(tmp_path):
    """Groups need more sentences than that; of a whole test set, sacrebleu gives a p and an interval, too."""
    for count, tested in ((3, True), (1, False)):
        lines = ["the black cat sees the dog", "a dog sleeps", "the big black cat"][:count]
        for name, text in {"ref": lines, "base": lines, "other": [line.replace("black", "") for line in lines]}.items():
            write_lines(tmp_path / name, text)
        files = ["--reference", tmp_path / "ref", "--target-lang", "en", "--metrics", "bleu"]
        files += [word for name in ("base", "other") for word in ("--system", f"{name}={tmp_path / name}")]
        paired = "--paired", "randomization", "--confidence", RESAMPLES
        scored, content = records_of(tmp_path, "scores", "compare", *files, *paired, "--out", tmp_path / "scores")
        options = "--resamples", RESAMPLES, "--out", tmp_path / "out"
        analyzed, analysis = records_of(tmp_path, "out/analysis", "analyze", *files, *options)
        assert analyzed == scored and (scored["other"]["p"] is not None) == tested
        assert analysis["signatures"]["BLEU"] == content["test_sets"][0]["signatures"]["BLEU"]
