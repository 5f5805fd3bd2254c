"""An experiment of one's own is one new file. The slow tests of ablations and comparisons run such files to the end."""

import re
import subprocess
from pathlib import Path

import pytest

from recurrent_mt.cli.experiment import report
from recurrent_mt.runs.experiment import PROJECT, read_experiment
from recurrent_mt.runs.plan import make_plan
from recurrent_mt.runs.view import lay_out_results, show_results
from tests.cli.recipes import command, copy, experiment, needs_tools, run, write_corpus

pytestmark = needs_tools

MINE = """
pair: fr-en
segmentation: word:40
tokenizer: none
systems: [gru_encoder-additive, gru_encoder-none]
updates: 4
max_tokens: 300
embedding_size: 16
encoder_size: 16
decoder_size: 16
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A new file, and text for it, with links between the words of its test set."""
    folder = tmp_path_factory.mktemp("experiment")
    write_corpus(folder / "corpus")
    (folder / "corpus" / "test.fr-en.align").touch()
    (folder / "mine.yaml").write_text(MINE)
    return folder


@pytest.fixture(scope="module")
def said(folder):
    """The commands of the new experiment."""
    return dry_run(folder, folder / "corpus")


def dry_run(folder, test_set):
    options = {"corpus": folder / "corpus", "extra_tests": f"far={test_set / 'valid'}", "out": folder / "out"}
    return experiment(folder / "mine.yaml", "--dry-run", **options)


def test_a_new_experiment_is_one_new_file(said, folder):
    trainings = re.findall(r"recurrent-mt training trainings/(gru_encoder-\w+)-\w+/seed-1 fairseq-train", said)
    assert sorted(trainings) == ["gru_encoder-additive", "gru_encoder-none"]
    assert said.count("fairseq-preprocess ") == 2 and said.count("fairseq-generate ") == 4
    assert "recurrent-mt compare " in said and '--title "Translation report: mine, fr-en"' in said
    assert not (folder / "out").exists()


@pytest.fixture(scope="module")
def spaced(folder, tmp_path_factory):
    """A folder with a space in its path, and the text in it."""
    place = tmp_path_factory.mktemp("with a space")
    (copy(folder / "corpus", place / "corpus") / "test.fr-en.align").touch()
    return place


def test_further_test_sets_may_be_in_a_folder_with_braces_in_its_path(folder, tmp_path, monkeypatch):
    place = tmp_path / "a #{b} *ü'$x"
    place.mkdir()
    monkeypatch.chdir(place)
    copy(folder / "corpus", place / "c")
    options = {"corpus": "c", "extra_tests": "far=c/valid", "cleaning": "true", "out": folder / "out"}
    assert "== Cleaning" in experiment("wmt-fr-en.yaml", "--dry-run", **options)


@pytest.fixture(scope="module")
def collected(folder, spaced):
    """The commands of an experiment that copies this text, named from the folder of the call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(spaced)
        return experiment("wmt-fr-en.yaml", "--dry-run", corpus="corpus", out=folder / "out")


def test_text_in_a_folder_with_a_space_in_its_path_is_read(folder, spaced, collected, monkeypatch):
    monkeypatch.chdir(spaced)
    for language in ("fr", "en"):
        (spaced / f"far away.{language}").write_text("a b\n")
    options = {"corpus": "corpus", "extra_tests": "far=far away", "out": folder / "an out"}
    said = experiment(folder / "mine.yaml", "--dry-run", **options)
    for path in ("corpus/train.fr", "corpus/test.en", "corpus/valid.en", "corpus/test.fr-en.align", "far away.fr"):
        assert f"'{spaced}/{path}'" in said, path
    assert f"recurrent-mt get local '{spaced}/corpus/train' " in collected
    assert collected.count("get local ") == collected.count(f"get local '{spaced}") == 3
    # What results are called after such a text has none.
    said = experiment("wmt-fr-en.yaml", "--dry-run", **options, test="test,../far away", add="far away")
    for path, name in (("far away", "added-far-away"), ("corpus/../far away", "test-far-away")):
        out = rf"--pair fr-en --out \S+/raw/{name} "
        assert re.search(rf"get local '{spaced}/{path}' --unchanged \w+ \w+ {out}", said)
    held_out = r"\S+/held-out/valid \S+/held-out/test \S+/held-out/test1 corpora/\S+/extra/far-\w+/raw/test"
    assert re.search(rf" --exclude {held_out} --jobs ", said)
    assert re.search(rf" --unchanged \w+ '{spaced}/far away.fr' < '{spaced}/far away.fr' > \S+/raw/test.fr ", said)


def test_what_is_published_is_looked_up_once_for_each_experiment(tmp_path):
    said = {name: experiment(f"wmt-{name}.yaml", "--dry-run", out=tmp_path) for name in ("fr-en", "zh-en")}
    (first,), (second,) = (set(re.findall(r"downloads/sources-\w+\.json", text)) for text in said.values())
    assert first != second and f" --sources {first} --downloads downloads " in said["fr-en"]


def test_the_report_has_the_baseline_of_the_table_and_the_beams_that_this_experiment_wants(folder, tmp_path):
    options = {"corpus": folder / "corpus", "out": tmp_path, "beams": 3, "lenpens": "1,0.5,0"}
    words = [f"{name}={value}" for name, value in options.items()]
    place = tmp_path / make_plan("mine", read_experiment(folder / "mine.yaml", words)).results
    place.mkdir(parents=True)
    # The one that was asked for may have failed.
    (place / "table.json").write_text('{"baseline": "lstm", "test_sets": [{"baseline": "gru_encoder-none"}]}')
    said = experiment(folder / "mine.yaml", "--dry-run", **options)
    assert f"recurrent-mt report {place.relative_to(tmp_path)} --baseline gru_encoder-none " in said
    # The folder of the logs may have those of another experiment, too.
    assert " --searches beam-3,beam-3-lenpen-0.5,beam-3-unnormalized " in said


def test_another_text_under_the_name_of_a_test_set_is_translated_to_another_place(said, folder, tmp_path):
    changed = copy(folder / "corpus", tmp_path / "changed")
    (changed / "valid.fr").write_text((changed / "valid.fr").read_text().replace("chien", "chat"))
    places = re.compile(r"mv (trainings/\S+/extra-far-\w+)\.search ")
    first, second = places.findall(said), places.findall(dry_run(folder, changed))
    assert len(first) == len(second) == 2 and not set(first) & set(second)


def test_the_data_are_announced_once_they_are_there(folder, tmp_path, capsys):
    words = [f"corpus={folder / 'corpus'}", "systems="]
    plan = make_plan("mine", read_experiment(PROJECT / "configs/experiments/wmt-fr-en.yaml", words))
    report(plan, tmp_path)
    assert not capsys.readouterr().out
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "REPORT.md").touch()
    report(plan, tmp_path)
    assert f"The data is in {tmp_path}/data" in capsys.readouterr().out


@pytest.mark.parametrize("ablation", [False, True])
def test_the_last_lines_name_folders_that_are_there(ablation, tmp_path, capsys):
    file = PROJECT / "configs" / "experiments" / ("ablations/vocabulary.yaml" if ablation else "quickstart.yaml")
    plan = make_plan(file.stem, read_experiment(file))
    lay_out_results(plan, tmp_path)
    (tmp_path / plan.results / ("vocabulary.txt" if ablation else "table.txt")).write_text("a table\n")
    show_results(plan.results, tmp_path)
    report(plan, tmp_path)
    said = capsys.readouterr().out
    places = re.findall(r"translations: (.*)\.\n", said)[0].split(", ") + re.findall(r"stay in (.*)\.\n", said)
    assert len(places) == (7 if ablation else 2) and all(Path(place).is_dir() for place in places)


def test_where_a_training_has_failed_there_is_no_drawing_of_a_former_one(said, tmp_path):
    line = re.search(r"^  \$ (.* recurrent-mt align .*)$", said, re.MULTILINE)[1]
    training, outcome = (re.search(pattern, line)[1] for pattern in (r"grep -qsx finished (\S+)", r"> (\S+); exit"))
    former = tmp_path / re.search(r"--out (\S+)\.new ", line)[1]
    former.mkdir(parents=True)
    (tmp_path / training).parent.mkdir(parents=True)
    (tmp_path / training).write_text("diverged\n")
    subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True)
    assert (tmp_path / outcome).read_text() == "skipped\n" and not former.exists()


def test_a_comparison_without_a_corpus_is_refused(tmp_path):
    for given in ([], ["corpus=", "pair=fr-en"]):
        said = run(command("compare_baselines.sh", *given, out=tmp_path / "run"), succeeds=False)
        assert "corpus=DIR is required" in said, given


def test_an_empty_run_folder_is_refused():
    assert "error: out is empty: name a folder" in experiment("quickstart.yaml", "out=", succeeds=False)
