"""The tables of a comparison: whose numbers, against whom, how wide, and what they say where something is missing."""

import json
from pathlib import Path

import pytest

from recurrent_mt.evaluation.comparison import compare_runs
from recurrent_mt.evaluation.scores import Settings
from recurrent_mt.evaluation.tables import select, tables_as_markdown, tables_as_text
from recurrent_mt.evaluation.translated_files import TrainedRuns
from recurrent_mt.metrics import score
from recurrent_mt.text_files import FileError
from recurrent_mt.versions import describe_versions
from tests.commands import call
from tests.evaluation.comparison_runs import OPTIONS, REFERENCES, make_run, without
from tests.evaluation.logs import report, write
from tests.evaluation.test_analysis import write_lines

ROOT = Path(__file__).parents[2]
LONG = "grconv_encoder-additive"


@pytest.fixture
def run(tmp_path):
    systems = {
        LONG: {"1": without("cat"), "2": without("dog")},
        "transformer": {"1": REFERENCES, "2": without("sees")},
        "lstm": {"1": without("the"), "2": without("the")},
    }
    return make_run(tmp_path / "run", systems)


def compared(run, models=(LONG, "transformer", "lstm"), seeds=(1, 2), **options):
    settings = Settings(detailed=(), resamples=50)
    return compare_runs(TrainedRuns([run], models, seeds), settings, **options)


def rows_of(table):
    """The header, then each row as text."""
    rows = zip(table.names, table.rows, strict=True)
    return [list(table.header), *([name, *map(str, row)] for name, row in rows)]


def score_rows(comparison, place=0):
    return rows_of(comparison.tables()[place])


def cost_rows(comparison):
    return rows_of(comparison.tables()[-1])


def test_scores_are_those_of_the_metrics_over_the_seeds(run):
    comparison = compared(run)
    header, *rows = score_rows(comparison)
    assert header == ["System", "BLEU", "chrF2", "TER (lower is better)"]
    assert [row[0] for row in rows] == [LONG, "transformer", "lstm"]
    values = [score("bleu", texts, REFERENCES).value for texts in (REFERENCES, without("sees"))]
    mean, deviation = sum(values) / 2, abs(values[0] - values[1]) / 2**0.5
    assert rows[1][1].startswith(f"{mean:.2f} ±{deviation:.2f} (")
    by_seed = [select(comparison.records, seed=seed, system="transformer", metric="BLEU")["value"] for seed in "12"]
    assert [value for (value,) in by_seed] == values
    expected = score("bleu", REFERENCES, REFERENCES, resamples=50)
    signature = expected.signature.replace("|bs:50|", "|bs:50|ar:50|")
    assert comparison.tables()[0].signatures[0] == f"BLEU: {signature}"


@pytest.mark.parametrize(
    ("models", "baseline", "expected"),
    [
        ((LONG, "transformer", "lstm"), None, "transformer"),
        ((LONG, "transformer", "lstm"), "lstm", "lstm"),
        ((LONG,), None, LONG),
    ],
)
def test_the_baseline_is_the_first_of_fairseqs_own(run, models, baseline, expected):
    comparison = compared(run, models, baseline=baseline)
    assert comparison.baseline == comparison.test_sets[0].baseline == expected
    table = comparison.tables()[0]
    starred = {row[0] for row in rows_of(table) if row[1].endswith("*")}
    assert expected not in starred and bool(starred) == (len(models) > 1)


def test_costs(run):
    header, *rows = cost_rows(compared(run))
    assert dict(zip(header, rows[2], strict=True)) == {
        "System": "lstm", "parameters": "1,234,567", "updates": "50", "minutes": "1.0", "valid. loss": "4.250",
        "words/s": "600", "sentences/s": "1.2", "memory": "2.00 GiB",
    }  # fmt: skip


def test_what_is_not_known_is_a_dash(run):
    folder = run / "systems" / "lstm" / "seed-1"
    (folder / "peak-memory").unlink()
    log = folder / "test.log"
    write(log, [line for line in log.read_text().splitlines() if "Translated" not in line])
    assert cost_rows(compared(run))[3][-2:] == ["–", "–"]


def test_the_memory_of_a_gpu_has_a_column_where_it_is_known(run):
    for log in run.glob("systems/*/*/train.log"):
        gpu = "rank   0: capabilities =  9.0  ; total memory = 80.000 GB ; name = of the test"
        reports = [
            report("train_inner", loss=5, wps=600, wpb=100, num_updates=60, gb_free=free) for free in (71.5, 70.0, 72)
        ]
        write(log, [gpu, *log.read_text().splitlines(), *reports])
    header, *rows = cost_rows(compared(run))
    assert header[-1] == "GPU" and {row[-1] for row in rows} == {"10.00 GiB"}


def test_seeds_that_were_trained_with_different_versions_are_named(run, tmp_path):
    for system, second in {"lstm": "recurrent-mt b2", "fconv": "recurrent-mt a1"}.items():
        for seed, versions in ((1, "recurrent-mt a1"), (2, second)):
            write_lines(run / "systems" / system / f"seed-{seed}" / "outcome", ["finished", f"made by {versions}"])
    comparison = compared(run)
    notes = comparison.tables()[0].notes
    (note,) = (note for note in notes if "different versions" in note)
    assert note.startswith("lstm: its seeds were trained with different versions, ")
    assert note.endswith("seed 1 with recurrent-mt a1; seed 2 with recurrent-mt b2.")
    comparison.write(tmp_path / "table")
    table = json.loads((tmp_path / "table.json").read_text())
    assert table["versions"] == describe_versions()
    versions = {system["name"]: system["versions"] for system in table["systems"]}
    assert versions["lstm"] == {"1": "recurrent-mt a1", "2": "recurrent-mt b2"}
    assert all(not versions[name] for name in versions if name not in ("lstm", "fconv")), "they have no outcomes"


def test_a_training_from_before_versions_were_kept_is_named_beside_others(run):
    outcomes = [run / "systems" / "lstm" / f"seed-{seed}" / "outcome" for seed in (1, 2)]
    for outcome in outcomes:
        write_lines(outcome, ["finished"])
    assert not any("different versions" in note for note in compared(run).tables()[0].notes)
    write_lines(outcomes[1], ["finished", "made by recurrent-mt b2"])
    (note,) = (note for note in compared(run).tables()[0].notes if "different versions" in note)
    assert "seed 1 with versions that were not kept; seed 2 with recurrent-mt b2" in note


def test_failures_are_rows_and_notes(run):
    for seed in (1, 2):
        (run / "systems" / "lstm" / f"seed-{seed}" / "test.detokenized").unlink()
    write_lines(run / "systems" / "lstm" / "seed-2" / "outcome", ["failed", "out of memory"])
    comparison = compared(run, ("lstm", "fconv", LONG), baseline="lstm")
    table = comparison.tables()[0]
    assert [row[1:] for row in rows_of(table)[1:3]] == [["failed", "–", "–"], ["not yet", "–", "–"]]
    assert "lstm, seed 2, failed: out of memory." in table.notes
    assert f"lstm has no translation: the others are compared with {LONG}." in table.notes
    assert cost_rows(comparison)[1][1:] == ["–"] * 7


def test_seeds_that_are_not_asked_for_do_not_count(run):
    comparison = compared(run, seeds=(2,))
    assert set(comparison.records["seed"]) == {"2", ""}


def test_further_test_sets_have_tables_of_their_own(run):
    write_lines(run / "extra" / "news" / "raw" / "test.en", REFERENCES[:12])
    for name in ("transformer", "lstm"):
        for seed in (1, 2):
            write_lines(
                run / "systems" / name / f"seed-{seed}" / "extra-news-1a2b3c4d.detokenized", without("cat")[:12]
            )
    comparison = compared(run, extra_tests={"news": "news-1a2b3c4d"})
    assert [table.caption for table in comparison.tables()] == ["Scores", "Scores on news", "Cost"]
    rows = score_rows(comparison, 1)
    expected = score("bleu", without("cat")[:12], REFERENCES[:12]).value
    assert rows[1][1] == "not yet" and rows[2][1].startswith(f"{expected:.2f} ")


def test_a_failed_translation_of_a_further_test_set_is_named_there(run):
    write_lines(run / "extra" / "news" / "raw" / "test.en", REFERENCES[:12])
    for seed in (1, 2):
        write_lines(run / "systems" / "lstm" / f"seed-{seed}" / "extra-news.outcome", ["failed", "out of memory"])
    own, news, _ = compared(run, extra_tests={"news": "news"}).tables()
    assert not any("failed" in note for note in own.notes)
    assert [note for note in news.notes if "failed" in note] == [
        "lstm, seed 1, failed: out of memory.",
        "lstm, seed 2, failed: out of memory.",
    ]
    assert "No system has a translation." in news.notes and own.rows[0], "its own test set has its table"
    for seed in (1, 2):
        write_lines(run / "systems" / "transformer" / f"seed-{seed}" / "extra-news.detokenized", REFERENCES[:12])
    _, news, _ = compared(run, extra_tests={"news": "news"}).tables()
    first = dict(zip(news.names, (row[0].text for row in news.rows), strict=True))
    assert (first["lstm"], first["transformer"]) == ("failed", "100.00")


def test_words_are_those_of_the_seeds_that_are_scored(tmp_path):
    """A search that is made again has removed its text, and not yet written another log."""
    run = make_run(
        tmp_path / "run", {"lstm": {"1": REFERENCES, "2": REFERENCES}}, SEGMENTATION="word:9", LOWERCASE="yes"
    )
    (run / "systems" / "lstm" / "seed-2" / "test.detokenized").unlink()
    records = compared(run, ["lstm"]).records
    assert set(records[records["metric"] == "BLEU, tokenized"]["seed"]) == {"1", ""}


def test_words_as_the_models_produced_them(tmp_path):
    run = make_run(tmp_path / "run", {"lstm": {"1": REFERENCES}}, SEGMENTATION="word:9", LOWERCASE="yes")
    words = [f"translation {number} , 0" for number in range(len(REFERENCES))]
    comparison = compared(run, ["lstm"], seeds=(1,))
    table = comparison.tables()[0]
    expected = score("bleu", words, REFERENCES, tokenize="none", lowercase=True)
    rows = rows_of(table)
    assert (rows[0][-1], rows[1][-1]) == ("BLEU, tokenized", f"{expected.value:.2f}")
    assert any(expected.signature in note for note in table.signatures)


def test_the_tables_fit_a_terminal(run):
    write_lines(run / "options", [f"{name} {value}" for name, value in {**OPTIONS, "SEGMENTATION": "word:9"}.items()])
    text = tables_as_text(compared(run).tables())
    rows = [line for line in text.splitlines() if line.startswith((LONG + "  ", "lstm  ", "System"))]
    assert len(rows) == 6 and "BLEU, tokenized" in text and max(map(len, rows)) <= 120
    assert tables_as_markdown(compared(run).tables()).startswith("## Scores\n\n| System ")


def test_bad_questions_are_refused(run):
    with pytest.raises(ValueError, match="the baseline 'fconv' is none of the systems: lstm"):
        compared(run, ["lstm"], baseline="fconv")
    with pytest.raises(ValueError, match="two systems are named 'lstm'"):
        compared(run, ["lstm", "lstm"])
    with pytest.raises(ValueError, match=r"no system has a file test.detokenized: there is nothing to compare"):
        compared(run, ["fconv"])
    with pytest.raises(ValueError, match="no system has a training with the seed 9"):
        compared(run, seeds=(1, 9))
    (run / "systems" / "lstm" / "seed-1" / "peak-memory").write_text("much\n")
    with pytest.raises(FileError, match="peak-memory: must be a number of bytes, not 'much'"):
        compared(run)


def test_the_tool_writes_what_it_prints(run, tmp_path):
    line = ["compare", run, "--models", "lstm,transformer", "--seeds", "1,2", "--resamples", "0"]
    line += ["--out", tmp_path / "table"]
    printed = call(*line).stdout
    assert (tmp_path / "table.txt").read_text() == printed and "(9" not in printed
    assert json.loads((tmp_path / "table.json").read_text())["baseline"] == "lstm"
    assert (tmp_path / "table.md").read_text().startswith("## Scores")
    failed = call(*line, "--baseline", "x")
    assert failed.returncode == 1 and failed.stderr.startswith("error: the baseline 'x'")


def test_the_note_of_a_star_names_the_test(run):
    done = call("compare", run, "--seeds", "1", "--resamples", "99", "--paired", "randomization", "--metrics", "bleu")
    assert "*: differs from lstm (two-sided paired approximate randomization over sentences, p < 0.05)." in done.stdout
    assert "|bs:99|ar:99|seed:12345|" in done.stdout


@pytest.fixture
def words_run(tmp_path):
    systems = {name: {"1": REFERENCES, "2": REFERENCES} for name in ("lstm", "transformer")}
    return make_run(tmp_path / "words", systems, SEGMENTATION="bpe:100", TOKENIZER="moses")


def test_of_a_system_that_lacks_the_log_of_a_search_there_is_no_tokenized_score(words_run):
    """A mean of fewer seeds would pass for one of all."""
    whole = [record for record in tokenized(words_run) if record["seed"]]
    assert {(record["system"], record["seed"]) for record in whole} == {
        (name, seed) for name in ("lstm", "transformer") for seed in "12"
    }
    (words_run / "systems" / "lstm" / "seed-2" / "test.log").unlink()
    assert {record["system"] for record in tokenized(words_run)} == {"transformer"}
    for log in words_run.glob("systems/*/*/test.log"):
        log.unlink()
    assert tokenized(words_run) == []


def tokenized(run):
    records = compared(run, models=("lstm", "transformer")).records.to_dict("records")
    return [record for record in records if "tokenized" in record["metric"]]


def test_what_the_missing_log_of_a_training_would_say_is_unknown(run):
    before = cost_rows(compared(run))
    (run / "systems" / "lstm" / "seed-2" / "train.log").unlink()
    after = cost_rows(compared(run))
    assert [row for row in after if row[0] != "lstm"] == [row for row in before if row[0] != "lstm"]
    (known,), (unknown,) = ([row for row in rows if row[0] == "lstm"] for rows in (before, after))
    parameters = before[0].index("parameters")
    assert unknown[parameters] == known[parameters]
    updates = before[0].index("updates")
    assert unknown[updates] == "–" != known[updates]
