"""recurrent-mt translate on files of any size: in order, in constant memory, and resumed where it was killed.

A program that turns words around stands in for fairseq-interactive, with its form of input and output.
"""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recurrent_mt.cli import translate
from recurrent_mt.cli.command import main
from recurrent_mt.runs.folder import PARAMETERS
from recurrent_mt.search_process import SearchError, SearchProcess
from tests.cli.test_run_folder import run_folder
from tests.commands import REPOSITORY, call
from tests.translation.toy_box import write_box, write_run
from tests.waiting import wait_until, written

#: Reads a buffer at a time, as fairseq-interactive does; a sentence may make it fail, say much, or wait for a file.
SEARCH = """
import os, sys, time
size, first = int(sys.argv[1]), 0
print("2026-01-01 00:00:00 | INFO | fairseq_cli.interactive | loaded")
while buffer := [line for _ in range(size) if (line := sys.stdin.readline())]:
    for number, line in enumerate(buffer, first):
        words = line.split()
        if "long" in words:
            sys.exit(f"SentenceLengthError: the input, line {number + 1}: 9 tokens")
        if "fail" in words:
            sys.exit("out of memory")
        if "skip" in words:
            continue
        if "much" in words:
            sys.stderr.write("a warning\\n" * 20000)
        while "wait" in words and not os.path.exists(sys.argv[2]):
            time.sleep(0.01)
        text = " ".join(reversed(words))
        print(f"S-{number}\\t{line.strip()}\\nW-{number}\\t0.1\\tseconds")
        for score in (-0.5, -0.7):
            print(f"H-{number}\\t{score}\\t{text}\\nD-{number}\\t{score}\\t{text}\\nP-{number}\\t{score}")
            text = "worse"
    first += len(buffer)
    sys.stdout.flush()
"""
#: Runs the tool with that search: what follows are the file that it waits for, and the tool's own words.
PROGRAM = f"""
import sys
from recurrent_mt.cli import translate
from recurrent_mt.cli.command import main
search = lambda form, options: [sys.executable, "-c", {SEARCH!r}, str(options.buffer_size), sys.argv[1]]
translate.search_command = search
sys.exit(main(["translate", *sys.argv[2:]]))
"""


def reverse(lines):
    return "".join(" ".join(reversed(line.split())) + "\n" for line in lines)


@pytest.fixture
def search(tmp_path, monkeypatch):
    """Models are searched by the program above."""
    go = str(tmp_path / "go")
    monkeypatch.setattr(
        *(translate, "search_command"),
        lambda form, options: [sys.executable, "-c", SEARCH, str(options.buffer_size), go],
    )


@pytest.fixture
def folder(search, tmp_path):
    """A run folder of words without subwords."""
    run = run_folder(tmp_path / "run", SEGMENTATION="word:9", TOKENIZER="none")
    for language in ("fr", "en"):
        (run / f"data/dict.{language}.txt").write_text("un 1\n")
    return run


def words(folder, *flags):
    return ["translate", folder, folder / "checkpoint.pt", "--buffer-size", 3, *flags]


LINES = [f"a{number} b c" if number % 4 else ("" if number % 8 else " \u200b ") for number in range(50)]


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_order_and_empty_lines_stay_with_any_number_of_processes(folder, tmp_path, jobs):
    text = tmp_path / "input"
    text.write_text("".join(f"{line}\n" for line in LINES))
    expected = reverse(line.replace("\u200b", "") for line in LINES)
    assert call(*words(folder, "--input", text, "--jobs", jobs)).stdout == expected
    assert call(*words(folder, "--input", text, "--jobs", jobs, "--out", tmp_path / "out")).returncode == 0
    assert (tmp_path / "out").read_text() == expected
    assert sorted(path.name for path in tmp_path.glob("out*")) == ["out"]
    assert not searches(tmp_path / "go", os.getpid())


@pytest.mark.parametrize(
    ("typed", "flags", "named"),
    [
        (False, ["--buffer-size", "9", "--jobs", "1"], ["lines 1 (x), 3 (x), 4 (x), 5 (x), 6 (x), and 1 more"]),
        (False, ["--buffer-size", "1", "--jobs", "1"], ["line 1 (x)"]),
        (False, ["--buffer-size", "2", "--jobs", "3"], ["line 1 (x)"]),
        (True, [], [f"line {number} (x)" for number in (1, 3, 4, 5, 6, 7)]),
    ],
)
def test_lines_that_are_new_to_the_model_are_named_once_or_to_whoever_types_them(
    folder, monkeypatch, caplog, typed, flags, named
):
    monkeypatch.setattr("recurrent_mt.text_form.TextForm.unfamiliar", lambda form, tokens: "x" if tokens else None)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n\nb\nc\nd\ne\nf\n")))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: typed)
    assert call("translate", folder, folder / "checkpoint.pt", *flags).stdout == "a\n\nb\nc\nd\ne\nf\n"
    assert caplog.messages == [translate.UNFAMILIAR % lines for lines in named]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_line_of_too_many_tokens_is_named_and_the_others_are_translated(folder, tmp_path, caplog, jobs):
    lines = ["a b", "", "c " * 1001, "d e", "f " * 1000]
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in lines))
    done = call(*words(folder), "--jobs", jobs, "--input", tmp_path / "text")
    assert done.stdout == reverse(["a b", "", "", "d e", "f " * 1000])
    assert caplog.messages == [
        "line 3 (1,001 tokens): more than 1,000 tokens are not translated, and leave an empty line: divide it into "
        "sentences"
    ]


@pytest.mark.parametrize(
    ("typed", "flags", "ahead"), [(False, ["--buffer-size", "3", "--jobs", "2"], 18), (True, [], 1)]
)
def test_standard_input_is_read_as_it_is_translated(folder, monkeypatch, typed, flags, ahead):
    """What is typed on a terminal, line by line."""
    taken = 0

    def lines():
        nonlocal taken
        for number in range(300):
            taken += 1
            yield f"{number} x"

    monkeypatch.setattr(translate, "read_standard_input", lines)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: typed)
    most_ahead = 0

    class Output(io.StringIO):
        def write(self, text):
            nonlocal most_ahead
            most_ahead = max(most_ahead, taken - self.getvalue().count("\n"))
            return super().write(text)

    monkeypatch.setattr(sys, "stdout", output := Output())
    translate.run(make_options(folder, *flags))
    assert output.getvalue() == reverse(f"{number} x" for number in range(300))
    assert most_ahead <= ahead


def make_options(folder, *flags):
    import argparse

    parser = argparse.ArgumentParser()
    translate.configure(parser)
    options = parser.parse_args([str(folder), str(folder / "checkpoint.pt"), *flags])
    options.parser = parser
    return options


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("long", "line 8: fairseq-interactive failed with status 1"),
        ("fail", "lines 7 to 9: fairseq-interactive failed with status 1"),
        ("skip", "line 8: fairseq-interactive left it out"),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_search_names_its_lines(folder, tmp_path, word, said, jobs):
    lines = ["a", "", "a", "a", "", "a", "a", word, "a", "a"]
    (tmp_path / "input").write_text("".join(f"{line}\n" for line in lines))
    done = call(*words(folder, "--input", tmp_path / "input", "--out", tmp_path / "out", "--jobs", jobs))
    assert done.returncode == 1 and said in done.stderr
    assert not (tmp_path / "out").exists()
    # What was whole before is not translated again.
    (tmp_path / "input").write_text("".join(f"{line}\n" for line in lines).replace(word, "b"))
    done = call(*words(folder, "--input", tmp_path / "input", "--out", tmp_path / "out", "--jobs", jobs))
    assert "Resuming" in done.stderr
    assert (tmp_path / "out").read_text() == reverse(line.replace(word, "b") for line in lines)


def test_more_messages_than_a_pipe_holds_do_not_stop_a_search(tmp_path):
    process = SearchProcess([sys.executable, "-c", SEARCH, "2", str(tmp_path)], 2, {})
    assert process.translate(["much a " + "b " * 99999, "c d"])[1] == "d c"
    assert process.translate(["e f", "much g"]) == ["f e", "g much"]
    assert process.translate(["last one"]) == ["one last"]
    assert process.translate(["and again", "x"]) == ["again and", "x"]
    process.close()
    with pytest.raises(SearchError, match="failed with status 1"):
        process.translate(["fail", "x"])


@pytest.mark.parametrize(("jobs", "waits"), [(1, 0), (2, 31)])
def test_killed_and_called_again_it_writes_what_one_call_would(folder, tmp_path, jobs, waits):
    text, out, go = tmp_path / "input", tmp_path / "out", tmp_path / "go"
    lines = [f"{line} wait" if number == waits else line for number, line in enumerate(LINES)]
    text.write_text("".join(f"{line}\n" for line in lines))
    line = [sys.executable, "-c", PROGRAM, go, *words(folder, "--input", text, "--out", out, "--jobs", jobs)[1:]]
    errors = tmp_path / "errors"
    with errors.open("w") as file:
        process = subprocess.Popen(list(map(str, line)), cwd=REPOSITORY, stderr=file)
        # As far as it gets before the sentence that waits.
        whole = waits - waits % 3
        record = tmp_path / "out.partial.json"
        wait_until(lambda: f'"lines": {whole},' in written(record) if whole else written(errors), process)
        process.kill()
        process.wait()
    assert not out.exists()
    go.touch()
    # Half of a chunk had reached the disk.
    with (tmp_path / "out.partial").open("a") as file:
        file.write("half of a")
    done = call(*words(folder, "--input", text, "--out", out, "--jobs", 3 - jobs))
    assert done.returncode == 0, done.stderr
    assert (f"Resuming {out} after line {whole}." in done.stderr) == bool(whole)
    assert out.read_text() == reverse(line.replace("\u200b", "") for line in lines)


@pytest.mark.parametrize("name", ["out", "out.partial", "out.partial.json"])
def test_the_input_is_not_overwritten(folder, tmp_path, name):
    (tmp_path / name).write_text("a b\n")
    done = call(*words(folder, "--input", tmp_path / name, "--out", tmp_path / "out"))
    assert done.returncode == 1 and f"{tmp_path / name} would be overwritten: choose another --out" in done.stderr
    assert (tmp_path / name).read_text() == "a b\n" and len(list(tmp_path.glob("out*"))) == 1


@pytest.mark.parametrize("name", ["options", "text/segmentation.model", "data/dict.en.txt", "checkpoint.pt"])
def test_what_is_translated_with_is_not_overwritten(folder, tmp_path, name):
    (tmp_path / "input").write_text("a b\n")
    before = (folder / name).read_bytes()
    done = call(*words(folder, "--input", tmp_path / "input", "--out", folder / name))
    assert done.returncode == 1 and f"{folder / name} would be overwritten: choose another --out" in done.stderr
    assert (folder / name).read_bytes() == before


@pytest.fixture
def begun(folder, tmp_path):
    """A translation that failed after six lines."""
    (tmp_path / "input").write_text("a b\n" * 7 + "fail\n")
    assert call(*words(folder, "--input", tmp_path / "input", "--out", tmp_path / "out")).returncode == 1
    assert (tmp_path / "out.partial").read_text() == "b a\n" * 6
    (tmp_path / "input").write_text("a b\n" * 8)
    return words(folder, "--input", tmp_path / "input", "--out", tmp_path / "out")


CHANGES = {
    "the input": lambda run, parent: (parent / "input").write_text("a c\n" + "a b\n" * 8),
    "a shorter input": lambda run, parent: (parent / "input").write_text("a b\n" * 5),
    "model": lambda run, parent: (run / "checkpoint.pt").write_text("another"),
    "dictionary": lambda run, parent: (run / "data/dict.en.txt").write_text("deux 1\n"),
    "segmentation": lambda run, parent: (run / "options").write_text((run / "options").read_text() + "LOWERCASE yes\n"),
    "--beam": ("--beam", 2),
    "--buffer-size": ("--buffer-size", 4),
    "FLAG": ("--", "--lenpen", "2"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_begun_with_something_else_is_refused_by_name(begun, folder, tmp_path, what):
    change = CHANGES[what]
    flags = change if isinstance(change, tuple) else change(folder, tmp_path) and ()
    begun = [*begun, *flags]
    done = call(*begun)
    assert done.returncode == 1
    said = "the first 6 lines of" if "input" in what else f"6 lines were made with another {what}: "
    assert said in done.stderr and "out.partial.json" in done.stderr and "to start anew, remove it" in done.stderr
    assert (tmp_path / "out.partial").read_text() == "b a\n" * 6
    (tmp_path / "out.partial.json").unlink()
    assert call(*begun).returncode == 0
    assert (tmp_path / "out").read_text().count("\n") == len((tmp_path / "input").read_text().splitlines())


def test_what_comes_after_the_lines_that_are_done_may_change(begun, tmp_path):
    (tmp_path / "input").write_text("a b\n" * 6 + "c d\n")
    assert call(*begun).returncode == 0
    assert (tmp_path / "out").read_text() == "b a\n" * 6 + "d c\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "it is damaged"),
        ("[]", "it is damaged"),
        ('{"lines": 6, "size": 99, "digest": ""}', "out.partial is shorter than it says"),
    ],
)
def test_a_damaged_record_is_refused(begun, tmp_path, text, said):
    (tmp_path / "out.partial.json").write_text(text)
    done = call(*begun)
    assert done.returncode == 1 and said in done.stderr
    assert (tmp_path / "out.partial").read_text() == "b a\n" * 6


def test_two_calls_do_not_write_one_file(folder, tmp_path):
    (tmp_path / "input").write_text("wait\n")
    flags = words(folder, "--input", tmp_path / "input", "--out", tmp_path / "out")
    line = [sys.executable, "-c", PROGRAM, tmp_path / "go", *flags[1:]]
    errors = tmp_path / "errors"
    with errors.open("w") as file:
        process = subprocess.Popen(list(map(str, line)), cwd=REPOSITORY, stderr=file)
        wait_until(lambda: written(errors), process)
        done = call(*flags)
        assert done.returncode == 1 and "out.partial: another process is writing it" in done.stderr
        (tmp_path / "go").touch()
        assert process.wait() == 0
    assert (tmp_path / "out").read_text() == "wait\n"


def test_the_search_ends_with_the_tool_that_is_killed(folder, tmp_path):
    (tmp_path / "input").write_text("a\nwait\n")
    flags = words(folder, "--input", tmp_path / "input", "--jobs", 2)
    line = [sys.executable, "-c", PROGRAM, tmp_path / "go", *flags[1:]]
    process = subprocess.Popen(
        list(map(str, line)), cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    started = wait_until(lambda: searches(tmp_path / "go", process.pid), process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (tmp_path / "go").touch()
    wait_until(lambda: not any(Path(f"/proc/{number}").exists() for number in started))


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_memory_does_not_grow_with_the_text(folder, tmp_path, jobs):
    """The tool's peak in kB; the longer text alone would be 9,600."""
    # `getrusage` would count what pytest had when it started the process.
    peak = "print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0])"
    program = f"{PROGRAM.replace('sys.exit(main', 'status = (main')}\n{peak}\n"
    peaks = []
    for count in (5_000, 100_000):
        (tmp_path / "input").write_text("".join(f"{number} {'word ' * 18}\n" for number in range(count)))
        flags = ["--input", tmp_path / "input", "--out", tmp_path / "out", "--jobs", jobs, "--buffer-size", 1000]
        line = [sys.executable, "-c", program, tmp_path / "go", *words(folder, *flags)[1:]]
        done = subprocess.run(list(map(str, line)), cwd=REPOSITORY, capture_output=True, text=True)
        assert (tmp_path / "out").read_text().count("\n") == count, done.stderr
        peaks.append(int(done.stdout))
    print(peaks)
    assert peaks[1] - peaks[0] < 3_000, peaks


def searches(go, tool):
    """The processes of the search that waits for a file."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = place.read_bytes()
        except OSError:
            continue
        if line.endswith(f"{go}\0".encode()) and int(place.parent.name) != tool:
            found.append(int(place.parent.name))
    return found


@pytest.mark.parametrize(
    "flags",
    [
        ("--", "--buffer-size", "9"),
        ("--", "--input=x"),
        ("--", "--results-path", "x"),
    ],
)
def test_options_that_do_not_go_together_are_refused(folder, flags):
    assert call(*words(folder), *flags).returncode == 2


@pytest.mark.parametrize("named", [[], ["fr-en"], ["run", "model.pt"]], ids=len)
def test_what_follows_two_dashes_is_for_fairseq_however_much_is_named(named, monkeypatch):
    seen = []
    monkeypatch.setattr(translate, "run", seen.append)
    assert main(["translate", "--jobs", "2", *named, "--beam", "3", "--", "--nbest", "2"]) == 0
    (options,) = seen
    assert (options.jobs, options.beam, options.flags) == (2, 3, ["--nbest", "2"])
    assert [word for word in (options.run, options.model) if word] == named


@pytest.mark.parametrize("write", [write_run, write_box])
def test_a_system_may_be_named_in_place_of_its_checkpoint(write, tmp_path, capsys):
    folder = write(tmp_path / "models")
    gru, rnnenc = (str(folder / PARAMETERS.format(name, 1)) for name in ("gru", "rnnenc"))
    for named, model in (("rnnenc", rnnenc), (rnnenc, rnnenc), ("rnnenc:gru", f"{rnnenc}:{gru}")):
        assert main(["translate", str(folder), named, "--dry-run"]) == 0
        words = capsys.readouterr().err.split()
        assert words[words.index("--path") + 1] == model
    for named, said in (
        ("lstm", f"there is no system lstm of {folder}: it has "),
        ("gru:nowhere.pt", "there is no checkpoint or exported model nowhere.pt\n"),
    ):
        assert main(["translate", str(folder), named]) == 1
        assert capsys.readouterr().err.startswith(f"error: {said}")


def test_a_box_says_nothing_of_fairseq(search, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a b\n")))
    assert main(["translate", str(write_box(tmp_path / "box"))]) == 0
    assert capsys.readouterr() == ("b a\n", f"{translate.WITH_PYTORCH}\n")
