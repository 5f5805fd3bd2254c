"""recurrent-mt itself: the list of its tools, what it says about wrong calls, where it finds the plug-in."""

import inspect
import re
import shlex
import signal
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest

import recurrent_mt.cli
import user_dir.cli
from recurrent_mt.arguments import split_named
from recurrent_mt.cli.command import INDEX, TOOLS, Tool, load_tool, main, make_parser, write_utf8
from recurrent_mt.plugin_finder import find_plugin
from tests.commands import REPOSITORY, call, run

#: Modules beside the tools: the command itself, and what tools ask the plug-in for.
MACHINERY = {"__init__", "command"}
TEXTS = [
    *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "configs/README.md")),
    *sorted(REPOSITORY.glob("docs/*.md")),
    *(page for page in sorted(REPOSITORY.glob("docs/*/*.md")) if page.parent.name != "log"),
]


def test_the_list_has_each_tool_once_with_what_it_does_and_an_example():
    listed = call("--help")
    assert listed.returncode == 0 and listed.stderr == ""
    assert INDEX.count("\n      recurrent-mt ") == len(TOOLS) > 20
    lines = listed.stdout.splitlines()
    for tool in TOOLS.values():
        (place,) = [number for number, line in enumerate(lines) if line.startswith(f"  {tool.name} ")]
        assert lines[place].endswith(f" {tool.summary}") and tool.summary
        assert lines[place + 1].strip() == tool.example


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1"}], ids=["locale", "variable"])
def test_what_tools_write_is_utf8_whatever_the_locale(variables):
    listed = run("recurrent-mt", "--help", **variables, PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert listed.returncode == 0 and listed.stdout.startswith("usage: recurrent-mt TOOL …\n"), listed.stderr


def test_what_tools_start_reads_and_writes_utf8_too(monkeypatch):
    for name, value in {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONUTF8", "0")
    write_utf8()
    program = "import sys; print('é'); print(sys.stdin.encoding, open('/dev/null').encoding)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert done.stdout.decode("utf-8") == "é\nutf-8 utf-8\n", done.stderr


def test_what_tools_start_runs_no_module_of_the_folder_of_the_call(tmp_path, monkeypatch):
    (tmp_path / "sacrebleu.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    main(["user-dir"])
    subprocess.run([sys.executable, "-m", "sacrebleu", "--version"], check=True, capture_output=True)
    assert not (tmp_path / "ran").exists()


def modules_of(package):
    return {path.stem for path in Path(package.__file__).parent.glob("*.py")} - MACHINERY


def test_every_tool_is_a_module_of_its_name():
    modules = sorted([*modules_of(recurrent_mt.cli), *modules_of(user_dir.cli)])
    assert modules == sorted(name.replace("-", "_") for name in TOOLS)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_explains_itself_and_takes_its_example(name):
    done = call(name, "--help")
    assert done.returncode == 0 and done.stdout.startswith(f"usage: recurrent-mt {name} ")
    tool = TOOLS[name]
    code = load_tool(name)
    assert inspect.getdoc(code).strip() in done.stdout and tool.example in done.stdout
    words = shlex.split(re.sub(r" [<>]\w+", "", tool.example))
    assert words[:2] == ["recurrent-mt", name]
    make_parser(tool, code).parse_args(words[2:])


def test_the_list_is_there_before_anything_heavy_is_loaded():
    program = "import sys; from recurrent_mt.cli.command import list_tools; list_tools(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert not {"torch", "fairseq", "numpy", "pandas", "matplotlib", "difflib"} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["comapre"], "error: there is no tool 'comapre': did you mean compare?\n"),
        (["compare-systems"], "error: there is no tool 'compare-systems': did you mean compare?\n"),
        (["xyzzy"], "error: there is no tool 'xyzzy': see recurrent-mt --help\n"),
    ],
)
def test_an_unknown_tool_is_named_with_the_closest(words, message):
    done = call(*words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


def test_without_a_tool_it_lists_them_and_fails():
    done = call()
    assert done.returncode == 2 and done.stdout == "" and done.stderr == call("--help").stdout


def test_a_failure_is_one_line_and_a_wrong_option_shows_the_usage():
    done = call("ratings", "nowhere.json", "--out", "never")
    assert done.returncode == 1 and re.fullmatch(r"error: .*nowhere.json.*\n", done.stderr)
    wrong = call("beams", "--system", "nameless")
    assert wrong.returncode == 2 and wrong.stderr.startswith("usage: recurrent-mt beams ")


def test_a_tool_that_is_stopped_ends_by_the_signal_without_a_traceback():
    line = [sys.executable, "-m", "recurrent_mt", "words", "split", "--language", "fr"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    # As in a shell's foreground, whatever this process was started with.
    with subprocess.Popen(line, cwd=REPOSITORY, preexec_fn=default_interrupt, text=True, **streams) as process:
        # More than a pipe holds: once it is written, the tool is at work.
        process.stdin.write("un mot\n" * 50_000)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == ""
    assert process.returncode == -signal.SIGINT


def default_interrupt():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_system_that_is_given_twice_is_named(tmp_path):
    """A later one would replace the earlier."""
    done = call("learning-curves", "--system", "mine=nowhere", "--system", "mine=elsewhere", "--out", tmp_path / "svg")
    assert done.returncode == 2 and "--system mine is given twice" in done.stderr


@pytest.mark.parametrize("tool", ["analyze", "beams", "learning-curves"])
def test_results_that_cannot_be_written_are_refused_before_the_work(tmp_path, tool):
    """It would be for nothing: what cannot be read would be complained of first."""
    (tmp_path / "file").touch()
    files = ("--reference", tmp_path / "nowhere") if tool != "learning-curves" else ()
    language = ("--target-lang", "en") if tool == "beams" else ()
    out = tmp_path / "file" if tool != "learning-curves" else tmp_path / "file" / "curves.svg"
    done = call(tool, "--system", f"mine={tmp_path}/nowhere", *files, *language, "--out", out)
    assert done.returncode == 1 and f"{out}" in done.stderr


def test_one_language_twice_is_no_pair(tmp_path):
    done = call("get", "local", tmp_path / "text", "--pair", "en-en", "--out", tmp_path / "out")
    assert done.returncode == 2 and "'en-en' has one language twice: its sides would be one file" in done.stderr


def test_a_systems_name_may_have_an_equals_sign(tmp_path):
    """As an experiment's systems do that have an option of their own; so may the folder."""
    (tmp_path / "gru+dropout=0.3").mkdir()
    file, missing = tmp_path / "gru+dropout=0.3" / "out.en", tmp_path / "a=b" / "nothing"
    file.touch()
    values = [f"gru+dropout=0.3={file},{file}", f"lstm={file}", "fconv=120", "a=b=2.5", f"new={missing}"]
    assert split_named(ArgumentParser(), values) == [
        ("gru+dropout=0.3", f"{file},{file}"),
        ("lstm", str(file)),
        ("fconv", "120"),
        ("a=b", "2.5"),
        ("new", str(missing)),
    ]


def test_a_files_name_may_have_a_comma(tmp_path):
    file = tmp_path / "a=b, c.en"
    file.write_text("a cat\n")
    for options in (["compare"], ["analyze", "--resamples", 0, "--out", tmp_path / "out"]):
        done = call(*options, "--reference", file, "--system", f"mine={file}")
        assert done.returncode == 0 and "mine" in done.stdout, done.stderr


def test_a_bug_is_not_reported_as_a_user_error(monkeypatch):
    monkeypatch.setattr("recurrent_mt.cli.user_dir.find_plugin", lambda: {}["no such key"])
    with pytest.raises(KeyError):
        call("user-dir")


def test_a_missing_library_is_named_with_where_to_get_it(monkeypatch):
    monkeypatch.setitem(TOOLS, "sing", Tool("sing", "sing", "recurrent-mt sing"))
    done = call("sing")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: No module named 'user_dir.cli.sing': docs/start/install.md says ")


@pytest.mark.parametrize("name", [name for name in TOOLS if name.replace("-", "_") in modules_of(user_dir.cli)])
def test_where_fairseq_is_missing_one_line_says_what_to_install(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "fairseq", None)
    done = call(name, "--help")
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"error: .*fairseq 0\.12\.2.*scripts/setup\.sh.*\n", done.stderr)


def test_the_folder_for_fairseqs_option_is_printed():
    assert find_plugin() == REPOSITORY / "user_dir"
    done = call("user-dir")
    assert (done.returncode, done.stdout) == (0, f"{REPOSITORY / 'user_dir'}\n")


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_texts_only_name_existing_tools(path):
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"scripts/\w+\.py", text)
    # As a command: on a line of its own, between backquotes, or in $(…). In prose any word may follow.
    named = re.findall(r"(?:^ {4}|`|\$\()recurrent-mt ([a-z][\w-]*)", text, flags=re.M)
    assert set(named) <= set(TOOLS)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_tools_understand_the_commands_of_texts(path):
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    for command in re.findall(r"^ {4,}(?:.* )?recurrent-mt ([a-z].*)$", text, flags=re.M):
        # Without a comment, redirections, and what stands for more of the same.
        words = shlex.split(re.sub(r" [<>]\S+|…| \| .*", "", command), comments=True)
        code = load_tool(words[0])
        recurrent_mt.cli.command.parse(make_parser(TOOLS[words[0]], code), code, words[1:])


def test_recipes_and_configurations_only_name_existing_tools():
    folders = ("scripts/**/*.sh", "configs/**/*.yaml", "workflow/Snakefile", "workflow/**/*.smk", "workflow/**/*.yaml")
    paths = [path for pattern in folders for path in REPOSITORY.glob(pattern)]
    texts = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    named = set(re.findall(r"(?:recurrent-mt|-m recurrent_mt) ([a-z][\w-]*)", texts))
    assert {"compare", "outcome", "experiment", "training"} <= named <= set(TOOLS)
    assert not list(REPOSITORY.glob("scripts/**/*.py")) and not re.findall(r"scripts/\w+\.py", texts)


@pytest.mark.parametrize(
    ("option", "name"),
    [
        *(("seed", "compare"), ("max-tokens", "align"), ("max", "limit-lengths"), ("sentences", "count-operations")),
        *(("rank", "factorize"), ("beam", "translate")),
    ],
)
def test_a_number_that_an_option_cannot_have_is_refused_by_name(option, name):
    done = call(*shlex.split(TOOLS[name].example)[1:], f"--{option}=-1")
    assert done.returncode == 2 and f"argument --{option}: '-1' is not a whole number" in done.stderr


def test_tools_for_logs_need_no_psutil():
    block = "import sys; sys.modules['psutil'] = None"
    tools = "from recurrent_mt.cli.command import load_tool; load_tool('hypotheses'); load_tool('outcome')"
    subprocess.run([sys.executable, "-c", f"{block}; {tools}"], cwd=REPOSITORY, check=True)
