"""recurrent-mt report: from run folders and plain files to a page, and what it refuses."""

from pathlib import Path

import pytest

from tests.commands import call
from tests.evaluation.test_analysis import make_run, write_lines
from tests.evaluation.test_sets import forgetful, small
from tests.report.reports import page_data, svg
from tests.report.test_training_facts import write_logs

ROOT = Path(__file__).parents[2]


def make_report(*arguments):
    return call("report", *arguments)


def test_a_run_folder_becomes_a_page(tmp_path):
    run = make_run(tmp_path / "run")
    write_logs(run, "perfect", 1)
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


def test_a_page_on_some_systems_shows_nothing_of_the_others(tmp_path):
    run = make_run(tmp_path / "run")
    for name in ("perfect", "forgetful"):
        write_logs(run, name, 1)
        (run / "figures" / "alignments" / name).mkdir(parents=True)
        (run / "figures" / "alignments" / name / "sentence-3.svg").write_text(svg())
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give run folders, or --reference and --system"),
        (["RUN", "--figure", "tree.svg"], "--figure must be SECTION[: TITLE]=FILE, not 'tree.svg'"),
        (["RUN", "--figure", "Trees=nowhere.svg"], "nowhere.svg"),
        (["RUN", "--figure", "Trees=RUN/options"], "RUN/options: figure 'options' is not well-formed XML"),
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
