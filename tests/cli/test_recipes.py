"""The two recipes end to end, on a corpus and a budget that take seconds: what they print, leave behind, and repair."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

from recurrent_mt.evaluation.generate_log import read_generate_log
from recurrent_mt.metrics import score
from tests.cli.recipes import (
    TINY,
    command,
    copy,
    environment,
    needs_tools,
    read_table,
    run,
    tiny,
    values,
    write_corpus,
)
from tests.report.reports import page_data

pytestmark = [needs_tools, pytest.mark.slow]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("recipes") / "corpus")


def quickstart(corpus, *arguments, models="grconv_encoder-none,gru_encoder-additive"):
    out = corpus.parent / "quickstart"
    options = {"corpus": corpus, "segmentation": "sentencepiece:60", "models": models, "out": out}
    return command("quickstart.sh", *tiny(), *arguments, **options)


def kill_when(line, condition):
    """Starts a recipe and kills it and everything it started once the condition holds."""
    process = subprocess.Popen(
        line, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, "the recipe ended before it could be interrupted"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture(scope="module")
def interrupted(corpus):
    """The folder of a quickstart killed while it trained, and the output of the call that repaired it."""
    out = corpus.parent / "quickstart"
    log = out / "systems" / "grconv_encoder-none" / "seed-1" / "train.log"
    kill_when(quickstart(corpus), lambda: log.exists() and "begin validation" in log.read_text(errors="replace"))
    assert not (log.parent / "trained").exists()
    # What the kill may leave when it comes while fairseq writes its log.
    with log.open("a") as file:
        file.write('2026-01-02 03:04:05 | INFO | train_inner | {"epoch": 1, "upd')
    return out, run(quickstart(corpus))


def test_an_interrupted_run_becomes_whole(interrupted, corpus):
    out, text = interrupted
    assert "Done before: Binarizing" in text
    assert not list(out.rglob("*.partial"))
    assert values(out, "updates") == {"grconv_encoder-none": 30, "gru_encoder-additive": 30}
    assert all(value > 100e6 for value in values(out, "peak memory, bytes").values())


def test_the_table_has_the_scores_of_the_translations_in_the_folder(interrupted, corpus):
    out, text = interrupted
    references = (corpus / "test.en").read_text().splitlines()
    bleu = values(out, "BLEU", seed="1")
    assert len(bleu) == 2
    for name, parameters in values(out, "parameters").items():
        file = out / "systems" / name / "seed-1" / "test.detokenized"
        expected = score("bleu", file.read_text().splitlines(), references)
        assert bleu[name] == expected.value
        assert re.search(
            rf"^{name} +{expected.value:.2f} .*^{name} +{int(parameters):,} ", text, re.MULTILINE | re.DOTALL
        )
    assert f"BLEU: {expected.signature}" in text
    assert (out / "table.txt").read_text() in text


def test_every_fairseq_command_is_shown_with_final_paths(interrupted):
    out, text = interrupted
    commands = [line for line in text.splitlines() if line.startswith("  $ ")]
    assert sum("fairseq-train" in line for line in commands) == 2
    assert sum("fairseq-generate" in line and f"> {out}/systems" in line for line in commands) == 2
    assert not any(".partial" in line for line in commands)


def test_the_report_has_a_section_for_everything(interrupted):
    out, text = interrupted
    assert f"The report: {out}/report.html" in text
    page = (out / "report.html").read_text(encoding="utf-8")
    for heading in (
        "Scores",
        "Sentence length",
        "Unknown words",
        "Words by frequency",
        "Alignments",
        "Structure",
        "Training",
    ):
        assert f">{heading}</h2>" in page, heading
    assert page.count("data:image/svg+xml") == len(list(out.glob("figures/*/*/*.svg"))) > 0


def test_beams_of_a_run_are_compared_and_searched_once(interrupted):
    out, _ = interrupted
    text = run(command("beam_curve.sh", out, beams="1,3", lenpens="1,0.5,0", models="gru_encoder-additive"))
    records = json.loads((out / "beams" / "beams.json").read_text())["records"]
    bleu = {(one["bucket"], one["by"]): one["value"] for one in records if one["metric"] == "BLEU"}
    assert set(bleu) == {(beam, f"beam, lenpen {penalty}") for beam in "13" for penalty in ("1", "0.5", "0")}
    # Greedy search keeps one hypothesis: there is nothing to choose by length.
    assert len({value for (beam, _), value in bleu.items() if beam == "1"}) == 1
    flags = [re.findall(r"--(?:unnormalized|lenpen \S+)", line) for line in text.splitlines() if "--beam 3" in line]
    assert flags == [[], ["--lenpen 0.5"], ["--unnormalized"]]
    wide = read_generate_log(out / "beams" / "gru_encoder-additive" / "seed-1" / "beam-3.log")
    assert [len(sentence.hypotheses) for sentence in wide.sentences] == [3] * 10
    assert "<svg" in (out / "beams" / "beams.svg").read_text()
    again = run(command("beam_curve.sh", out, beams="1,3", lenpens="1,0", models="gru_encoder-additive"))
    assert "fairseq-generate " not in again
    bad = run(command("beam_curve.sh", out, lenpens="1,long"), succeeds=False)
    assert "--lenpens must be numbers not below zero, separated by commas, not '1,long'" in bad


def test_the_report_has_the_lists_that_translations_were_chosen_from(interrupted):
    out, _ = interrupted
    lists = page_data((out / "report.html").read_text(encoding="utf-8"))["sentences"]["nbest"]
    for system, found in zip(("gru_encoder-additive", "grconv_encoder-none"), lists[::-1], strict=True):
        folder = out / "systems" / system / "seed-1"
        assert [sentence[0][2] for sentence in found] == (folder / "test.detokenized").read_text().splitlines()
        assert [len(sentence) for sentence in found] == [2] * 10


def test_a_third_call_computes_nothing(interrupted, corpus):
    out, _ = interrupted
    before = {path: path.stat().st_mtime_ns for path in (out / "systems").rglob("*") if path.suffix != ".errors"}
    text = run(quickstart(corpus))
    assert "bin/fairseq" not in text
    assert (out / "table.txt").read_text() in text
    after = {path: path.stat().st_mtime_ns for path in (out / "systems").rglob("*") if path.suffix != ".errors"}
    assert after == before


def test_other_options_need_another_folder(interrupted, corpus):
    message = run(quickstart(corpus, "--dropout", "0.3"), succeeds=False)
    assert "> DROPOUT 0.3" in message
    assert "was made with other options" in message


def test_a_changed_corpus_needs_another_folder(interrupted, corpus, tmp_path):
    changed = copy(corpus, tmp_path / "corpus")
    (changed / "test.en").write_text((changed / "test.en").read_text().replace("red", "blue"))
    line = [str(changed) if part == str(corpus) else part for part in quickstart(corpus)]
    assert "was made with other options" in run(line, succeeds=False)


def test_dry_run_shows_the_plan_and_writes_nothing(corpus, tmp_path):
    out = tmp_path / "run"
    text = run(command("quickstart.sh", "--dry-run", out=out))
    assert "recurrent_mt synthetic-corpus --pair fr-en" in text
    assert text.count("fairseq-train ") == 4
    assert text.count("fairseq-generate ") == 4
    assert not out.exists()


def test_compare_baselines_with_bpe_and_lowercase(corpus):
    """An empty pair is dropped, a carriage return ends no line, and the tokenized score has its own column."""
    source = copy(corpus, corpus.parent / "with-empty-line")
    lines = (source / "train.fr").read_text().splitlines(keepends=True)
    (source / "train.fr").write_text("".join([*lines[:5], "Un\rchat.\n", lines[6], "\r\n", *lines[8:]]))
    for language in ("fr", "en"):
        (source / f"valid.{language}").rename(source / f"dev.{language}")
    out = corpus.parent / "baselines"
    options = {
        "corpus": source,
        "valid": "dev",
        "pair": "fr-en",
        "bpe-merges": 40,
        "models": "lstm",
        "out": out,
    }
    text = run(command("compare_baselines.sh", "--lowercase", *tiny(), **options))
    assert "train.fr has 1 empty line(s), the first is line 8: these pairs are dropped." in text
    assert "Dropped 1 of 120 pairs" in text
    assert len((out / "text" / "prepared" / "train.en").read_text().splitlines()) == 119
    (test_set,) = read_table(out)["test_sets"]
    assert "case:lc" in test_set["signatures"]["BLEU"]
    assert "tok:none" in test_set["signatures"]["BLEU, tokenized"]
    assert (out / "systems" / "lstm" / "seed-1" / "test.detokenized").read_text().count("\n") == 10


def test_compare_baselines_with_a_configuration_of_the_papers(corpus):
    """A file of configs/ keeps its own settings; budget, seed and languages are the recipe's."""
    out = corpus.parent / "configured"
    options = {"corpus": corpus, "pair": "fr-en", "segmentation": "word:5", "models": "rnnsearch-30-small", "out": out}
    text = run(command("compare_baselines.sh", "--without-unknown", *tiny(), **options, seeds=2))
    (line,) = [line for line in text.splitlines() if "fairseq-train " in line]
    assert "--initialization published" in line and "--sort-k-batches 20" in line and "--seed 2" in line
    assert line.rindex("--max-update 30") > line.index("--max-update 3000")
    assert "--source-lang fr --target-lang en" in line
    assert values(out, "updates") == {"rnnsearch-30-small": 30}
    folder = out / "systems" / "rnnsearch-30-small" / "seed-2"
    best = {}  # the first that the log has of each sentence; others of its n-best list follow
    for line in (folder / "test.log").read_text().splitlines():
        if line.startswith("D-"):
            best.setdefault(line.split("\t")[0], line)
    unknown = sum(line.count("<unk>") for line in best.values())
    assert unknown and (folder / "test.detokenized").read_text().count("⁇") == unknown
    hypotheses = [line for line in (folder / "test-without-unknown.log").read_text().splitlines() if line[0] == "H"]
    assert len(hypotheses) == 10 * TINY["--beam"] and not any("<unk>" in line for line in hypotheses)
    assert (folder / "test-without-unknown.detokenized").read_text().count("\n") == 10
    message = run(command("compare_baselines.sh", **{**options, "models": "rnnsearch-31"}), succeeds=False)
    assert "unknown model 'rnnsearch-31'" in message
