"""recurrent-mt compare on text files."""

import json

import pytest

from recurrent_mt.metrics import score as score_of
from tests.commands import call
from tests.metrics.processes import spy_on_processes
from tests.metrics.translations import references, translations

REFERENCES = references()
SYSTEMS = [translations(REFERENCES, errors=errors) for errors in (0.2, 0.4)]


@pytest.fixture
def files(tmp_path):
    """The reference and two systems, the second with the line ends of Windows."""
    for name, lines, end in [("reference", REFERENCES, "\n"), ("one", SYSTEMS[0], "\n"), ("two", SYSTEMS[1], "\r\n")]:
        (tmp_path / name).write_bytes("".join(line + end for line in lines).encode())
    return tmp_path


def score(files, *options, systems=("one", "two")):
    named = (word for name in systems for word in system(files, name))
    return call("compare", "--reference", files / "reference", *named, *options)


def system(files, name):
    return "--system", f"{name}={files / name}"


def printed(files, *options, **changes):
    """What it prints."""
    done = score(files, *options, **changes)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refusal(files, *options, **changes):
    """What it prints before it exits with an error."""
    done = score(files, *options, **changes)
    assert done.returncode == 1 and done.stdout == ""
    return done.stderr


def test_scores_are_the_metrics_and_files_say_what_is_printed(files):
    out = files / "scores"
    text = printed(files, "--metrics", "meteor,bleu", "--paired", "randomization", "--confidence", 100, "--out", out)
    assert text.splitlines()[0].split() == ["System", "METEOR", "95%", "p", "BLEU", "95%", "p"]
    assert text == (files / "scores.txt").read_text(encoding="utf-8")
    header = (files / "scores.md").read_text(encoding="utf-8").splitlines()[0]
    assert header.split() == ["|", *" | ".join(["System", *["METEOR", "95%", "p"], *["BLEU", "95%", "p"]]).split(), "|"]
    content = json.loads((files / "scores.json").read_text(encoding="utf-8"))
    entries = [one["value"] for one in content["records"] if one["metric"] == "BLEU" and not one["seed"]]
    assert entries == [score_of("bleu", lines, REFERENCES).value for lines in SYSTEMS]
    assert not list(files.glob("*.partial"))


def test_scores_do_not_depend_on_the_number_of_processes(monkeypatch, files):
    used = spy_on_processes(monkeypatch)
    texts = []
    for jobs in (1, 2):
        texts.append(printed(files, "--jobs", jobs))
    assert texts[0] == texts[1]
    assert used == [2, 2]  # TER of two systems; with one process there is nothing to deal out


def test_one_system_has_intervals_and_signatures(files):
    lines = printed(files, "--lowercase", "--confidence", systems=["one"]).splitlines()
    header, _, line, _, *signatures = lines
    assert header.split() == ["System", "BLEU", "95%", "chrF2", "95%", "TER", "95%"]
    assert line.split()[0] == "one"
    assert signatures[0].startswith("BLEU: nrefs:1|bs:1000|seed:12345|case:lc|")


def test_files_that_are_not_parallel_are_named_with_their_lengths(files):
    (files / "two").write_text("one line\n")
    message = refusal(files)
    assert message.startswith("error: ")
    assert f"{files}/two" in message
    assert f"{files}/reference has 30" in message


def test_what_is_read_is_not_overwritten(files):
    (files / "mine.txt").write_text((files / "one").read_text())
    done = call("compare", f"mine={files / 'mine.txt'}", "--reference", files / "reference", "--out", files / "mine")
    assert done.stderr == f"error: {files}/mine.txt would be overwritten: choose another --out\n"
    assert (files / "mine.txt").read_text() == (files / "one").read_text()


@pytest.mark.parametrize(
    ("options", "changes", "message"),
    [
        (["--metrics", "bleu,rouge"], {}, "unknown metric 'rouge': choose from bleu, chrf, ter, meteor"),
        (["--paired", "randomization"], {"systems": ["one"]}, "give --system at least twice"),
        (["--system", "nameless"], {}, "--system must be NAME=FILE, not 'nameless'"),
        ([], {"systems": ["one", "one"]}, "--system one is given twice"),
        (["--jobs", "0"], {}, "argument --jobs: '0' is not a whole number above zero"),
        (["--paired", "randomization", "--resamples", "0"], {}, "--paired needs --resamples"),
    ],
)
def test_options_of_a_comparison_that_cannot_be_meant_are_refused_by_name(files, options, changes, message):
    done = score(files, *options, **changes)
    assert done.returncode == 2 and message in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give run folders, or --reference and --system"),
        (["a=a"], "need --reference, or one run folder"),
        (["run", "--reference", "b"], "--reference goes with --system"),
        (["run", "a=a", "--lowercase"], "--lowercase is what the run folder says"),
        (["run", "--ablation", "rank", "--extra-tests", "news"], "leave --extra-tests out"),
        (["a=a", "--reference", "b", "--models", "lstm"], "--models goes with the systems of run folders"),
    ],
)
def test_options_without_an_effect_are_refused_by_name(options, message):
    done = call("compare", *options)
    assert done.returncode == 2 and message in done.stderr


def test_a_test_by_default_has_a_thousand_resamples(files):
    text = printed(files, "--metrics", "bleu", "--paired", "randomization")
    assert "|bs:1000|ar:1000|seed" in text
    assert "p: two-sided paired approximate randomization over sentences, against one." in text


def test_translations_may_stand_without_the_name_of_their_option_and_be_of_several_seeds(files):
    options = "--metrics", "bleu", "--reference", files / "reference"
    short = call("compare", f"one={files / 'one'}", f"two={files / 'two'}", *options)
    assert short.stdout == printed(files, "--metrics", "bleu")
    seeds = call("compare", f"mine={files / 'one'},{files / 'two'}", *options)
    assert "Means of 2 seeds ± standard deviation." in seeds.stdout
    uneven = call("compare", f"mine={files / 'one'},{files / 'two'}", f"one={files / 'one'}", *options)
    assert "Means of the seeds (mine: 2, one: 1) ± standard deviation." in uneven.stdout


@pytest.mark.parametrize(
    ("write", "token"),
    [
        (lambda text: f"{text[:4]}@@ {text[4:]}", "@@"),
        (lambda text: f"▁un {text}", "▁un"),
        (lambda text: f"l &apos; {text}", "&apos;"),
        (lambda text: f"{text.rstrip('.')} .", "."),
    ],
    ids=["BPE", "SentencePiece", "Moses", "words"],
)
def test_text_as_models_read_it_is_warned_of(files, write, token, caplog):
    lines = (files / "one").read_text(encoding="utf-8").splitlines()
    (files / "tokens").write_text("".join(f"{write(line)}\n" for line in lines), encoding="utf-8")
    printed(files)
    assert not caplog.messages
    printed(files, systems=("tokens",))
    (warning,) = caplog.messages
    assert warning.startswith(f"{files / 'tokens'}, line 1: ")
    assert f"{token} looks as models read it: words and scores are counted in detokenized text" in warning


@pytest.fixture
def no_plots(monkeypatch):
    """Drawing them would take most of the time of an analysis."""
    monkeypatch.setattr("recurrent_mt.cli.analyze.write_plots", lambda *_: None)


def test_subwords_are_warned_of_wherever_they_are(no_plots, files, tmp_path, caplog):
    """References that are subwords as well make no translation detokenized."""
    pieces = {}
    for name in ("reference", "one"):
        pieces[name] = tmp_path / name
        lines = (files / name).read_text(encoding="utf-8").splitlines()
        pieces[name].write_text("".join(f"{line[:3]}@@ {line[3:]}\n" for line in lines), encoding="utf-8")
    for tool, more in (("compare", ()), ("analyze", ("--source", pieces["one"], "--training-text", pieces["one"]))):
        caplog.clear()
        system = ("--system", f"a={pieces['one']}", *more, "--out", tmp_path / "out")
        assert call(tool, "--reference", pieces["reference"], *system).returncode == 0
        named = [message.split(",")[0] for message in caplog.messages if "looks as models read it" in message]
        read = [pieces["reference"], pieces["one"]]
        assert named == [*map(str, read if tool == "compare" else [read[1], read[0], read[1], read[1]])]


def test_an_unknown_word_is_one_wrong_word_in_any_file(files, tmp_path):
    lines = (files / "one").read_text(encoding="utf-8").splitlines()
    for name, unknown in (("tag", "<unk>"), ("one", "⁇")):
        (files / name).write_text("".join(f"{line} {unknown}\n" for line in lines), encoding="utf-8")
    found = {name: printed(files, systems=(name,)).replace(name, "name") for name in ("tag", "one")}
    assert found["tag"] == found["one"]


@pytest.mark.parametrize("tool", ["compare", "analyze"])
def test_text_without_spaces_asks_for_its_language(tool, no_plots, tmp_path, caplog):
    (tmp_path / "zh").write_text("我们在北京大学学习中文。\n" * 3, encoding="utf-8")
    files = ("--reference", tmp_path / "zh", "--system", f"a={tmp_path / 'zh'}", "--out", tmp_path / "out")
    assert call(tool, *files, "--target-lang", "zh").returncode == 0 and not caplog.messages
    assert call(tool, *files).returncode == 0
    (warning,) = caplog.messages
    assert warning.startswith("the text has few spaces between words, and --target-lang does not name its language:")
