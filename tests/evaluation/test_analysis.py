"""From files to tables: run folders, plain files, logs, several seeds."""

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from recurrent_mt.evaluation.analysis import analyze, analyze_files
from recurrent_mt.evaluation.scores import Settings, score_systems
from recurrent_mt.evaluation.tables import select, tables_as_text
from recurrent_mt.evaluation.translated_files import (
    System,
    UnknownWords,
    choose_baseline,
    name_runs,
    read_run_systems,
    read_run_test_set,
    read_runs,
    require_same_texts,
)
from recurrent_mt.evaluation.words import F_MEASURE
from recurrent_mt.runs.folder import RunFolder
from recurrent_mt.text_files import FileError
from tests.commands import call
from tests.evaluation.logs import generate_log, write
from tests.evaluation.test_sets import forgetful, perfect, small

ROOT = Path(__file__).parents[2]
QUICK = Settings(metrics=("bleu", "chrf"), detailed=("chrf",), resamples=20, limits=(3, 6), most_unknown=2, fewest=5)


def write_lines(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def no_plots(monkeypatch):
    """Drawing them takes most of the time of an analysis."""
    monkeypatch.setattr("recurrent_mt.cli.analyze.write_plots", lambda *_: None)


@pytest.fixture
def run(tmp_path):
    """A run folder as the recipes leave it, with two systems, one of them with two seeds."""
    return make_run(tmp_path / "run")


def make_run(folder, segmentation="word:9", known="chat chien le un"):
    test_set = small(copies=5)
    options = {"SOURCE_LANG": "fr", "TARGET_LANG": "en", "SEGMENTATION": segmentation, "LOWERCASE": ""}
    write_lines(folder / "options", [f"{name} {value}" for name, value in options.items()])
    for language, raw in {"fr": test_set.source, "en": test_set.reference}.items():
        for place in ("raw", "words", "prepared"):
            write_lines(folder / "text" / place / f"test.{language}", raw)
    write_lines(folder / "text" / "input" / "train.en", ["the cat sleeps", "the dog"])
    write_lines(folder / "data" / "dict.fr.txt", [f"{word} 1" for word in known.split()])
    write_lines(folder / "data" / "dict.en.txt", [f"{word} 1" for word in ["a", "the", "cat", "dog"]])
    for system in (perfect(test_set), forgetful(test_set)):
        for seed, translations in system.translations.items():
            write_lines(folder / "systems" / system.name / f"seed-{seed}" / "test.detokenized", translations)
    return folder


@pytest.mark.parametrize(
    "chosen, metric", [({"metrics": ("chrf", "ter")}, "chrF2"), ({"metrics": ("chrf", "bleu")}, "BLEU")]
)
def test_one_metric_is_broken_down_where_none_is_named(run, chosen, metric):
    test_set, systems, _ = read_runs([run])
    settings = Settings(resamples=0, paired=False, fewest=1, **chosen)
    records = analyze(test_set, systems, settings=settings).records
    broken_down = records[records["by"].str.contains("length", na=False)]
    assert set(broken_down["metric"]) == {metric}


def test_a_run_folder_becomes_an_analysis(run, tmp_path):
    test_set, systems, training_text = read_runs([run])
    assert [(one.name, list(one.translations)) for one in systems] == [("forgetful", ["1", "2"]), ("perfect", ["1"])]
    assert systems[0].unknown.source[:4] == [0, 1, 2, 4]
    assert systems[0].vocabulary_sizes == (4, 4)
    result = analyze(test_set, systems, settings=QUICK, training_text=training_text)
    text = tables_as_text(result.list_tables())
    assert "Means of the seeds (forgetful: 2, perfect: 1) ± standard deviation." in text
    assert "chrF2 by length of both sides" in text
    assert "chrF2 by unknown words, either\n" in text
    assert "10–20 words" not in text, "no sentence has so many"
    assert "never seen" in text
    result.write(tmp_path / "analysis")
    assert (tmp_path / "analysis.txt").read_text() == text
    assert (tmp_path / "analysis.md").read_text().startswith("## Scores on the whole test set\n")
    content = json.loads((tmp_path / "analysis.json").read_text())
    chrf = [record for record in content["records"] if record["metric"] == "chrF2"]
    assert {one["by"] for one in chrf} >= {"all", "source length", "unknown words, either", "unknown words"}
    assert {one["system"] for one in chrf if one["by"] == "along both length"} == {"forgetful", "perfect"}
    groups = {one["by"]: (one["group"], one["side"], one["penalty"]) for one in chrf}
    assert groups["all"] == ("", "", None) and groups["source length"] == ("length", "source", None)
    assert groups["unknown words, either"] == ("unknown words", "either", None)
    assert list(content["signatures"]) == ["BLEU", "chrF2"]


def test_the_training_text_is_counted_line_by_line(run):
    """It can be larger than memory: the words of these lines would be 10 MB."""
    lines = 50 * 200
    write_lines(run / "text" / "input" / "train.en", ["the cat " * 10] * lines)
    test_set, systems, training_text = read_runs([run])
    tracemalloc.start()
    try:
        result = analyze(test_set, systems, settings=replace(QUICK, resamples=0), training_text=training_text)
        assert tracemalloc.get_traced_memory()[1] < 4e6
    finally:
        tracemalloc.stop()
    seen = result.records[(result.records["bucket"] == "1000 or more") & (result.records["system"] == "perfect")]
    expected = sum(reference.lower().split().count(word) for reference in test_set.reference for word in ("the", "cat"))
    assert set(seen["n"]) == {expected}


def test_a_training_text_that_cannot_be_read_is_named(run):
    (run / "text" / "input" / "train.en").write_text("")
    test_set, systems, training_text = read_runs([run])
    with pytest.raises(FileError, match=r"train\.en: there are no sentences"):
        analyze(test_set, systems, settings=QUICK, training_text=training_text)


@pytest.mark.parametrize("name", ["seed-2-old", "seed-x", "seed-", "seed-1_0"])
def test_a_copy_of_a_training_is_named(run, tmp_path, name):
    write_lines(run / "systems" / "forgetful" / name / "test.detokenized", [])
    for command in (["report", run, "--out", tmp_path / "report.html"], ["compare", run]):
        done = call(*command)
        message = f"{run}/systems/forgetful/{name}: expected a folder seed-N: move it out of the system's folder"
        assert (done.returncode, done.stderr) == (1, f"error: {message}\n")


def test_a_run_folder_with_data_in_shards_has_the_dictionaries_of_the_first(run):
    (run / "data").rename(run / "whole")
    (run / "data").mkdir()
    (run / "whole").rename(run / "data" / "shard0")
    _, systems, _ = read_runs([run])
    assert systems[0].vocabulary_sizes == (4, 4)


def test_runs_with_other_dictionaries_stand_beside_each_other(run, tmp_path):
    other = make_run(tmp_path / "larger", known="chat chien le un noir petit")
    test_set, systems, _ = read_runs([run, other])
    assert [one.name for one in systems] == ["run/forgetful", "run/perfect", "larger/forgetful", "larger/perfect"]
    text = tables_as_text(analyze(test_set, systems, settings=QUICK).list_tables())
    assert "[n]: sentences in the group, by the system's own dictionary." in text


def test_a_run_has_the_name_of_its_folder_however_that_is_given(run, tmp_path, monkeypatch):
    other, link = make_run(tmp_path / "larger", known="chat chien le un noir petit"), tmp_path / "latest"
    link.symlink_to(other)
    monkeypatch.chdir(run)
    assert [one.name for one in read_runs([".", link])[1][::2]] == ["run/forgetful", "latest/forgetful"]


def test_runs_whose_folders_have_one_name_are_told_apart_by_the_paths(run, tmp_path):
    other, third = (make_run(tmp_path / place / "run", known="chat chien le un noir") for place in ("new", "old/new"))
    names = [one.name for one in read_runs([run, other, third])[1][::2]]
    assert names == [f"{tmp_path.name}/run/forgetful", f"{tmp_path.name}/new/run/forgetful", "old/new/run/forgetful"]
    assert name_runs([run, other]) == [f"{tmp_path.name}/run", "new/run"] and name_runs([run]) == ["run"]


def test_groups_of_equal_sizes_are_not_the_same_groups():
    """Two dictionaries that lack other words: no unknown word in the first half of the sentences, or in the second."""
    test_set = small(copies=5)
    half = [0] * (len(test_set) // 2) + [1] * (len(test_set) // 2)
    counts = [UnknownWords(side, side) for side in (half, half[::-1])]
    systems = [replace(perfect(test_set), name=str(place), unknown=one) for place, one in enumerate(counts)]
    text = tables_as_text(analyze(test_set, systems, settings=QUICK).list_tables())
    assert f" [{len(half) // 2}] " in text and "[n]: sentences in the group, by the system's own dictionary." in text
    alike = [replace(system, unknown=counts[0]) for system in systems]
    assert "[n]" not in tables_as_text(analyze(test_set, alike, settings=QUICK).list_tables())


def test_every_seed_counts_in_tables_of_words():
    test_set = small(copies=5)
    worse = forgetful(test_set).first_seed
    training = ["the cat"] * 3
    both = [dict(zip("12", texts)) for texts in ((test_set.reference, worse), (worse, test_set.reference))]
    first, second = (
        analyze(test_set, [System("gru", texts)], settings=QUICK, training_text=training).list_tables()[-2:]
        for texts in both
    )
    assert [table.rows for table in first] == [table.rows for table in second], "whichever seed is the first"
    alone = [
        analyze(test_set, [System("gru", {"1": texts})], settings=QUICK).list_tables()[-1].rows[0][0].text
        for texts in both[0].values()
    ]
    ratio = first[-1].rows[0][0]
    assert float(ratio.text) == pytest.approx(sum(map(float, alone)) / 2, abs=1e-3) and ratio.detail.startswith(" ±")
    assert all("Means of 2 seeds ± standard deviation." in table.notes for table in first)


def test_words_in_lower_case_are_those_of_their_language():
    """Turkish has two letters i, and only one of them is the lower case of I."""
    test_set = small(source=[], source_words=[], reference=["Işık var"], reference_words=[["Işık", "var"]])
    test_set = replace(test_set, target_language="tr")
    systems = [System("tr", {"1": ["ışık var"]})]
    settings = replace(QUICK, metrics=("chrf",))
    result = analyze(test_set, systems, settings=settings, training_text=["bir ışık var"])
    seen = select(result.records, metric=F_MEASURE, bucket="1")
    assert (seen["value"].item(), seen["n"].item()) == (100, 2)


def test_runs_of_other_training_texts_have_no_words_by_frequency(run, tmp_path, no_plots):
    """Words that one of them has seen are new to the other."""
    other = make_run(tmp_path / "other", known="chat")
    assert list(read_runs([run, other])[2]) == ["the cat sleeps", "the dog"]
    write_lines(other / "text" / "input" / "train.en", ["the cat"])
    assert read_runs([run, other])[2] is None
    done = call("analyze", run, other, "--metrics", "chrf", "--resamples", 0, "--out", tmp_path / "out")
    assert done.returncode == 0 and "different training texts" in done.stderr
    assert "F-measure of words" not in done.stdout


def test_runs_of_other_test_sets_are_refused(run, tmp_path):
    other = make_run(tmp_path / "other")
    path = other / "text" / "raw" / "test.en"
    path.write_text(path.read_text().replace("gray", "grey"))
    with pytest.raises(ValueError, match="different test sets"):
        read_runs([run, other])


def test_runs_into_other_languages_are_refused_though_their_sentences_are_the_same(run):
    folder, test_set = RunFolder(run), read_run_test_set(RunFolder(run))
    require_same_texts(folder, test_set, folder, test_set)
    with pytest.raises(ValueError, match="compare like with like"):
        require_same_texts(folder, test_set, folder, replace(test_set, target_language="ja"))


def test_missing_and_damaged_parts_are_named(run):
    (run / "text" / "words" / "test.en").write_text("one line\n")
    with pytest.raises(FileError, match=r"words/test\.en: 1 lines, but .*has 30"):
        read_run_test_set(RunFolder(run))
    with pytest.raises(FileError, match="no file named options"):
        RunFolder(run / "data")
    (run / "options").write_text("SOURCE_LANG fr\n")
    with pytest.raises(FileError, match="no line TARGET_LANG, SEGMENTATION"):
        RunFolder(run)


def test_a_run_without_translations_says_so(run):
    for path in run.glob("systems/*/*/test.detokenized"):
        path.unlink()
    with pytest.raises(FileError, match="nothing has been translated yet"):
        read_run_systems(RunFolder(run))


def test_systems_need_names_of_their_own():
    test_set = small()
    with pytest.raises(ValueError, match="two systems are named 'perfect'"):
        score_systems(test_set, [perfect(test_set), perfect(test_set)], QUICK)
    with pytest.raises(ValueError, match="no system"):
        score_systems(test_set, [], QUICK)


def test_the_greatest_differences_leave_equal_sentences_out():
    test_set = small()
    result = analyze(test_set, [perfect(test_set), forgetful(test_set)], settings=Settings(("bleu",), (), resamples=0))
    scores = {"perfect": [20, 20, 30, 0], "forgetful": [10, 50, 30, 20]}
    result = replace(result, sentence_scores=scores)
    assert [dict(found) for found in result.find_differences("forgetful", count=1)] == [{1: 30}, {0: -10}]
    assert [dict(found) for found in result.find_differences("forgetful", among=[2, 3])] == [{3: 20}, {}]


def test_the_baseline_is_fairseqs_own_unless_one_is_named():
    assert choose_baseline(["gru", "transformer", "lstm"]) == "transformer"
    assert choose_baseline(["gru", "run/transformer", "lstm"], ["gru", "transformer", "lstm"]) == "run/transformer"
    assert choose_baseline(["gru", "run/lstm"]) == "gru", "a file of translations may have any name"
    assert choose_baseline(["gru", "mylstm"]) == "gru"


def test_the_baseline_is_the_experiments(run, tmp_path, no_plots):
    assert choose_baseline(["lstm", "gru"], recorded="gru") == "gru"
    assert choose_baseline(["gru", "lstm"], recorded="fconv") == "lstm", "one without a translation"
    assert choose_baseline(["a/gru", "b/gru"], ["gru", "gru"], "gru") == "a/gru"
    with (run / "options").open("a") as options:
        options.write("BASELINE perfect\n")
    done = call("analyze", run, "--metrics", "chrf", "--resamples", 0, "--out", tmp_path / "out")
    assert done.returncode == 0 and done.stdout.index("\nperfect ") < done.stdout.index("\nforgetful ")


def run_analyze(*arguments):
    return call("analyze", *arguments)


def test_the_command_on_plain_files(tmp_path):
    test_set = small(copies=3)
    write_lines(tmp_path / "ref.en", test_set.reference)
    write_lines(tmp_path / "src.fr", test_set.source)
    for seed, translations in forgetful(test_set).translations.items():
        write_lines(tmp_path / f"f{seed}.en", translations)
    done = run_analyze(
        "--reference", tmp_path / "ref.en", "--source", tmp_path / "src.fr", "--resamples", 20, "--metrics", "chrf",
        "--detailed", "chrf", "--system", f"ref={tmp_path / 'ref.en'}", "--baseline", "lossy",
        "--system", f"lossy={tmp_path / 'f1.en'},{tmp_path / 'f2.en'}", "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "out" / "analysis.txt").read_text()
    assert done.stdout.index("\nlossy ") < done.stdout.index("\nref ")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"analysis.json", "analysis.md", "chrf2-by-both-length.svg"} <= names
    assert "<svg" in (tmp_path / "out" / "chrf2-by-both-length.svg").read_text()


@pytest.mark.parametrize("option", ["--source=x", "--reference=x", "--target-lang=zh", "--lowercase"])
def test_options_of_plain_files_are_refused_with_a_run_folder(run, tmp_path, option):
    done = run_analyze(run, option, "--resamples", 0, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert f"{option.partition('=')[0]} goes with --system" in done.stderr


def test_a_translation_scores_the_same_from_its_log_and_from_its_text(tmp_path, no_plots):
    """Unknown words are marked in both; BLEU would split <unk> into three tokens."""
    lines = [line.replace("translation 1", "<unk> and <unk>") for line in generate_log(translations=2)]
    log = write(tmp_path / "test.log", lines)
    write_lines(tmp_path / "ref", [f"a good translation {number}, and 0" for number in range(3)])
    assert call("hypotheses", log, "--out", tmp_path / "text").returncode == 0
    done = run_analyze(
        *("--reference", tmp_path / "ref", "--system", f"log={log}", "--system", f"text={tmp_path / 'text'}"),
        *("--metrics", "bleu,chrf", "--detailed", "chrf", "--resamples", 0, "--out", tmp_path / "out"),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out" / "analysis.json").read_text())
    assert found["sentence_scores"]["log"] == found["sentence_scores"]["text"]
    values = {one["value"] for one in found["records"] if (one["metric"], one["by"]) == ("BLEU", "all")}
    assert len(values) == 1 and values.pop() > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give run folders, or --reference and --system"),
        (["--system", "a=b"], "--system needs --reference"),
        (["--reference", "REF", "--system", "a=REF", "--metrics=bleu", "--detailed=ter"], "ter cannot be broken down"),
        (["--reference", "REF", "--system", "a=SHORT"], "SHORT: 1 lines, but"),
        (["--reference", "REF", "--system", "a=REF", "--baseline", "b"], "the systems are a"),
        (["--reference", "REF", "--system", "a=REF", "--metrics", "bleu,rouge"], "unknown metric 'rouge'"),
        (["--reference", "REF", "--system", "a=REF", "--only", "a,c"], "--only c: the systems are a"),
        (["nowhere"], "no such folder"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, arguments, message):
    write_lines(tmp_path / "REF", ["a cat", "a dog"])
    write_lines(tmp_path / "SHORT", ["a cat"])
    named = [text.replace("REF", str(tmp_path / "REF")).replace("SHORT", str(tmp_path / "SHORT")) for text in arguments]
    done = run_analyze(*named, "--out", tmp_path / "out")
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_pattern_that_matches_no_file_is_said_to_be_that(tmp_path):
    write_lines(tmp_path / "test.en", ["a b"])
    with pytest.raises(ValueError, match="mine has no file of translations: was a pattern given that matches none"):
        analyze_files(tmp_path / "test.en", {"mine": list(tmp_path.glob("seed-*/test.en"))})
