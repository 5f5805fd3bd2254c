"""recurrent-mt report: from run folders and plain files to a page, and what it refuses."""

import re
from pathlib import Path

import pytest

from recurrent_mt.cli.report import place_of, read_run_figures
from recurrent_mt.versions import describe_versions
from tests.commands import call
from tests.evaluation.test_analysis import make_run, write_lines
from tests.evaluation.test_sets import forgetful, small
from tests.report.reports import page_data, svg
from tests.report.test_training_facts import write_logs

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def no_charts(monkeypatch):
    """Drawing them takes most of the time of a page; what is not about them has none."""
    monkeypatch.setattr("recurrent_mt.report.page.draw_charts", lambda *_: iter(()))


def make_report(*arguments):
    return call("report", *arguments)


def test_a_run_folder_becomes_a_page(tmp_path):
    run = make_run(tmp_path / "run")
    write_logs(run, "perfect", 1)
    (run / "systems" / "perfect" / "seed-1" / "outcome").write_text("finished\nmade by recurrent-mt a1\n")
    (tmp_path / "tree.svg").write_text(svg())
    (run / "figures" / "alignments" / "perfect").mkdir(parents=True)
    (run / "figures" / "alignments" / "perfect" / "sentence-3.svg").write_text(svg())
    out = tmp_path / "new" / "report.html"
    done = make_report(run, "--resamples", 20, "--figure", f"Structure: a tree={tmp_path / 'tree.svg'}", "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{out}: 2 systems, 30 sentences\n"
    page = out.read_text(encoding="utf-8")
    assert "<title>Translation report: run</title>" in page
    assert page_data(page)["systems"] == ["forgetful", "perfect"]
    told = dict(re.findall("<dt>([^<]*)</dt>\n<dd[^>]*>(?:<code>)?([^<]*)", page))
    assert told["Trained with"] == "recurrent-mt a1" and told["This page"].endswith(f", {describe_versions()}")
    assert told["Corpus"] == "fr to en; 30 sentence pairs to test on"
    assert told["Settings"] == "segmentation=word:9"
    assert told["Command"].startswith("recurrent-mt report ") and "--resamples 20" in told["Command"]
    assert "20 resamples" in page
    for text in (
        "Training and speed",
        "F-measure of words",
        "Unknown words",
        'alt="a tree"',
        "perfect, sentence 4",
        "20 resamples",
    ):
        assert text in page
    assert [path.name for path in out.parent.iterdir()] == ["report.html"]


def test_two_runs_whose_folders_have_one_name_are_on_one_page(tmp_path):
    runs = [make_run(tmp_path / place / "run") for place in ("old", "new")]
    for run in runs:
        write_logs(run, "perfect", 1)
        (run / "figures" / "alignments" / "perfect").mkdir(parents=True)
        (run / "figures" / "alignments" / "perfect" / "sentence-3.svg").write_text(svg())
    out = tmp_path / "report.html"
    done = make_report(*runs, "--resamples", 0, "--metrics", "chrf", "--detailed", "chrf", "--out", out)
    assert done.returncode == 0, done.stderr
    page = out.read_text(encoding="utf-8")
    systems = [f"{place}/run/{name}" for place in ("old", "new") for name in ("forgetful", "perfect")]
    assert page_data(page)["systems"] == systems
    assert "Translation report: old/run, new/run" in page and "new/run/perfect, sentence 4" in page


def test_a_page_on_some_systems_shows_nothing_of_the_others(tmp_path):
    run = make_run(tmp_path / "run")
    for name in ("perfect", "forgetful"):
        write_logs(run, name, 1)
        (run / "figures" / "alignments" / name).mkdir(parents=True)
        (run / "figures" / "alignments" / name / "sentence-3.svg").write_text(svg())
    titles = [figure.title for figure in read_run_figures(run, names=["perfect", "forgetful"])]
    assert titles == ["perfect, sentence 4", "forgetful, sentence 4"], "in the order of the report"
    done = make_report(run, "--resamples", 0, "--only", "perfect", "--out", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert done.returncode == 0 and "perfect, sentence 4" in page and "Training and speed" in page
    assert "forgetful" not in page


def test_plain_files_become_a_page(tmp_path):
    test_set = small(copies=3)
    write_lines(tmp_path / "ref.en", test_set.reference)
    write_lines(tmp_path / "src.fr", test_set.source)
    write_lines(tmp_path / "mine.en", forgetful(test_set).translations["1"])
    done = make_report(
        "--reference", tmp_path / "ref.en", "--source", tmp_path / "src.fr", "--metrics", "chrf", "--detailed", "chrf",
        "--system", f"mine={tmp_path / 'mine.en'}", "--system", f"people={tmp_path / 'ref.en'}", "--baseline", "people",
        "--resamples", 0, "--title", "Mine & theirs", "--out", tmp_path / "report.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>Mine &amp; theirs</title>" in page
    assert page_data(page)["systems"] == ["people", "mine"]
    assert "Training and speed" not in page and "None were requested." in page


def test_what_a_report_is_made_of_is_not_overwritten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read = {
        "--reference": "ref.en",
        "--source": "src.fr",
        "--system": "one=one.en,two.en",
        "--training-text": "train.en",
        "--figure": "Trees: one=tree.txt",
    }
    files = [file for names in read.values() for file in names.split("=")[-1].split(",")]
    for name in files:
        write_lines(tmp_path / name, ["a text"])
    (tmp_path / "link").symlink_to("two.en")
    for out in (*files, "link"):
        before = (tmp_path / out).read_bytes()
        done = make_report(*(word for pair in read.items() for word in pair), "--resamples", 0, "--out", out)
        assert (done.returncode, done.stderr) == (1, f"error: {out} would be overwritten: choose another --out\n")
        assert (tmp_path / out).read_bytes() == before


RUN_FILES = [
    *("options", "text/raw/test.en", "text/segmentation.model", "data/dict.en.txt", "beams/beams.json"),
    *("systems/perfect/seed-1/test.detokenized", "systems/perfect/seed-1/train.log", "figures/trees/a/scores.txt"),
]


def test_what_is_in_a_run_folder_is_not_overwritten(tmp_path):
    """An experiment's run folder is made of links."""
    made, run = make_run(tmp_path / "made"), tmp_path / "run"
    for name in ("text/segmentation.model", "beams/beams.json", "figures/trees/a/scores.txt"):
        write_lines(made / name, ["kept"])
    write_logs(made, "perfect", 1)
    run.mkdir()
    for place in made.iterdir():
        (run / place.name).symlink_to(place)
    for out in RUN_FILES:
        before = (run / out).read_bytes()
        done = make_report(run, "--resamples", 0, "--out", run / out)
        assert done.returncode == 1 and done.stderr.endswith(f"{out} would be overwritten: choose another --out\n")
        assert (run / out).read_bytes() == before


def test_the_path_of_a_figure_may_have_an_equals_sign(tmp_path):
    """As the folder of an experiment's system has whose name says an option."""
    write_lines(tmp_path / "ref.en", ["a cat"])
    (tmp_path / "gru+dropout=0.3").mkdir()
    (tmp_path / "gru+dropout=0.3" / "map.svg").write_text(svg())
    files = "--reference", tmp_path / "ref.en", "--system", f"mine={tmp_path / 'ref.en'}", "--resamples", 0
    figure = f"Alignments: of one=two={tmp_path / 'gru+dropout=0.3' / 'map.svg'}"
    done = make_report(*files, "--figure", figure, "--out", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    assert 'alt="of one=two"' in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_figures_of_a_run_are_in_the_order_of_their_sentences(tmp_path):
    folder = tmp_path / "run" / "figures" / "structure" / "grconv"
    folder.mkdir(parents=True)
    for name in ("sentence-10", "sentence-9", "overview", "sentence-2", "agreement"):
        (folder / f"{name}.svg").write_text(svg())
    titles = [figure.title for figure in read_run_figures(tmp_path / "run")]
    assert titles == [*(f"grconv, sentence {number}" for number in (3, 10, 11)), "grconv", "grconv"]
    assert place_of(folder / "agreement.svg") < place_of(folder / "overview.svg")


def test_one_system_and_one_sentence_are_counted_as_one(tmp_path):
    write_lines(tmp_path / "ref.en", ["a text"])
    files = ("--reference", tmp_path / "ref.en", "--system", f"one={tmp_path / 'ref.en'}")
    out = tmp_path / "report.html"
    done = make_report(*files, "--metrics", "chrf", "--resamples", 0, "--out", out)
    assert (done.returncode, done.stdout) == (0, f"{out}: 1 system, 1 sentence\n")
    page = out.read_text(encoding="utf-8")
    assert "1 system on 1 sentence</p>" in page and ">1 sentence</dd>" in page and "1 sentences" not in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give run folders, or --reference and --system"),
        (["RUN", "--figure", "tree.svg"], "--figure must be SECTION[: TITLE]=FILE, not 'tree.svg'"),
        (["RUN", "--figure", "Trees=nowhere.svg"], "nowhere.svg"),
        (["RUN", "--baseline", "nobody"], "the systems are forgetful, perfect"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, arguments, message):
    run = make_run(tmp_path / "run")
    named = [text.replace("RUN", str(run)) for text in arguments]
    done = make_report(*named, "--resamples", 0, "--out", tmp_path / "report.html")
    assert done.returncode != 0
    assert message.replace("RUN", str(run)) in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "report.html").exists()
