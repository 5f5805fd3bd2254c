"""The recipes end to end, on a corpus and a budget that take seconds: what they print, leave behind, and repair."""

import json
import os
import random
import signal
import subprocess
import time

import pytest

from recurrent_mt.evaluation.generate_log import read_generate_log
from tests.cli.recipes import (
    BIN,
    TINY,
    command,
    copy,
    environment,
    needs_tools,
    read_table,
    run,
    unlock,
    values,
    write_corpus,
)

pytestmark = [needs_tools, pytest.mark.slow]

SYSTEMS = ("grconv_encoder-none", "gru_encoder-additive")
#: Times and what depends on them; the rest of a table is the same wherever and whenever it is made.
TIMES = ("training seconds", "words/s, training", "sentences/s, translation", "peak memory, bytes")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("recipes") / "corpus")


def quickstart(corpus, /, out="quickstart", **options):
    fixed = {"corpus": corpus, "segmentation": "sentencepiece:60", "systems": ",".join(SYSTEMS)}
    return command("quickstart.sh", **{**TINY, **fixed, "out": corpus.parent / out, **options})


def timeless(out):
    """The table without what the clock decides."""
    table = read_table(out)
    table["records"] = [record for record in table["records"] if record["metric"] not in TIMES]
    return {key: value for key, value in table.items() if key != "tables"}


@pytest.fixture(scope="module")
def whole(corpus):
    """The folder of an undisturbed run, and its output."""
    out = corpus.parent / "quickstart"
    return out, run(quickstart(corpus))


def test_a_run_shows_the_command_of_each_training_and_no_line_of_the_engine(whole):
    _, text = whole
    commands = [line for line in text.splitlines() if line.startswith("  $ ")]
    assert len(commands) == 2 and all("fairseq-train" in line for line in commands)
    assert "snakemake" not in text.lower() and "Job" not in text


def test_a_student_is_trained_on_its_teachers_translations(whole, corpus):
    out, _ = whole
    teacher = SYSTEMS[1]
    student = corpus.parent / "student"
    text = run(quickstart(corpus, out="student", systems="gru_encoder-none", distill=f"{out} {teacher}"))
    assert "Translating the training text" in text
    source, distilled = (student / f"text/input/train.{language}" for language in ("fr", "en"))
    assert source.read_text() == (corpus / "train.fr").read_text()
    line = [BIN / "recurrent-mt", "translate", out, teacher, "--input", source]
    assert distilled.read_text() == run(list(map(str, line)))
    assert (student / "text/raw/test.en").read_text() == (corpus / "test.en").read_text()
    again = run(quickstart(corpus, out="student", systems="gru_encoder-none", distill=f"{out} {teacher}"))
    assert "Translating" not in again


def kill_after(line, seconds):
    """Starts a recipe, and kills it and everything it started; True if it was still running."""
    process = subprocess.Popen(
        line, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        process.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True


def test_a_run_killed_at_random_moments_ends_in_the_same_table(whole, corpus):
    """Ten kills, the later the longer; times apart, the table and all translations are those of a run in peace."""
    out, _ = whole
    seed = random.randrange(10**6)
    print("seed", seed)  # pytest shows it if the test fails
    generator = random.Random(seed)
    line = quickstart(corpus, out="killed")
    began = time.monotonic()
    run(quickstart(corpus, out="timed"))
    usual = time.monotonic() - began
    killed, kills = corpus.parent / "killed", 0
    for _ in range(10):
        kills += kill_after(line, generator.uniform(0.1, 0.6) * usual)
        unlock(killed)
    assert kills >= 2
    # What a kill may leave when it comes while fairseq writes its log.
    for log in (killed / "trainings").glob("*/seed-1/train.log"):
        if not (log.parent / "outcome").exists():
            with log.open("a") as file:
                file.write('2026-01-02 03:04:05 | INFO | train_inner | {"epoch": 1, "upd')
    run(line)
    assert timeless(killed) == timeless(out)
    for system in SYSTEMS:
        files = [folder / "systems" / system / "seed-1" / "test.detokenized" for folder in (killed, out)]
        assert files[0].read_bytes() == files[1].read_bytes()
    assert not list(killed.rglob("*.partial"))


def test_beams_of_a_run_are_compared_and_searched_once(whole, corpus):
    out, _ = whole
    line = quickstart(corpus, systems=SYSTEMS[1], beams="1,3", lenpens="1,0.5,0")
    said = run(line)
    assert "fairseq-train " not in said and "Beam 3-lenpen-0.5, gru_encoder-additive, seed 1:" in said
    records = json.loads((out / "beams" / "beams.json").read_text())["records"]
    bleu = {(one["bucket"], one["by"]): one["value"] for one in records if one["metric"] == "BLEU"}
    assert set(bleu) == {(beam, f"beam, lenpen {penalty}") for beam in "13" for penalty in ("1", "0.5", "0")}
    # Greedy search keeps one hypothesis: there is nothing to choose by length.
    assert len({value for (beam, _), value in bleu.items() if beam == "1"}) == 1
    (log,) = out.glob("trainings/gru_encoder-additive-*/seed-1/beams/beam-3.log")
    assert len(read_generate_log(log).sentences) == 10
    assert "<svg" in (out / "beams" / "beams.svg").read_text()
    assert "Beam" not in run(line).partition("System")[0]


def test_compare_baselines_with_bpe_and_lowercase(corpus):
    """An empty pair is dropped, carriage returns and NULs end no line, the tokenized score has its own column."""
    source = copy(corpus, corpus.parent / "with-empty-line")
    lines = (source / "train.fr").read_text().splitlines(keepends=True)
    lines[5], lines[7] = "Un\rchat\0 noir.\n", "\r\n"
    (source / "train.fr").write_text("\ufeff" + "".join(lines))
    for language in ("fr", "en"):
        (source / f"valid.{language}").rename(source / f"dev.{language}")
    out = corpus.parent / "baselines"
    options = {**TINY, "corpus": source, "valid": "dev", "pair": "fr-en", "segmentation": "bpe:40", "out": out}
    text = run(command("compare_baselines.sh", **options, systems="lstm", lowercase="true"))
    assert "train.fr has 1 empty line(s), the first is line 8: these pairs are dropped." in text
    assert "Dropped 1 of 120 pairs" in text
    assert len((out / "text" / "prepared" / "train.en").read_text().splitlines()) == 119
    (test_set,) = read_table(out)["test_sets"]
    assert "case:lc" in test_set["signatures"]["BLEU"]
    assert "tok:none" in test_set["signatures"]["BLEU, tokenized"]
    assert (out / "systems" / "lstm" / "seed-1" / "test.detokenized").read_text().count("\n") == 10


def test_compare_baselines_with_a_configuration_of_the_papers(corpus):
    """A file of configs/ keeps its own settings; budget, seed and languages are the experiment's."""
    out = corpus.parent / "configured"
    options = {"updates": 30, "beam": 2, "corpus": corpus, "pair": "fr-en", "segmentation": "word:5", "out": out}
    options |= {"systems": "rnnsearch-30-small", "without_unknown": "true", "seeds": 2}
    text = run(command("compare_baselines.sh", **options))
    (line,) = [line for line in text.splitlines() if "fairseq-train " in line]
    assert "--initialization published" in line and "--sort-k-batches 20" in line and "--seed 2" in line
    assert line.rindex("--max-update 30") > line.index("--max-update 3000")
    assert "--source-lang fr --target-lang en" in line
    assert values(out, "updates") == {"rnnsearch-30-small": 30}
    folder = out / "systems" / "rnnsearch-30-small" / "seed-2"
    lines = (folder / "test.log").read_text().splitlines()
    unknown = sum(line.count("<unk>") for line in lines if line.startswith("D-"))
    assert unknown and (folder / "test.detokenized").read_text().count("⁇") == unknown
    hypotheses = [line for line in (folder / "test-without-unknown.log").read_text().splitlines() if line[0] == "H"]
    assert len(hypotheses) == 10 and not any("<unk>" in line for line in hypotheses)
    assert (folder / "test-without-unknown.detokenized").read_text().count("\n") == 10
