"""The hook itself, and the repairs that need no PyTorch."""

from __future__ import annotations

import ast
import dataclasses
import os
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path
from typing import Any

import pytest

import fairseq_compat
from tests.cli import toy
from tests.commands import REPOSITORY, run

from .repairs.commands import LSTM


def run_python(program: str, folder: Path | None = None) -> str:
    """What a program prints without site-packages, and so without the hook of an environment that has it installed."""
    environment = {**os.environ, "PYTHONPATH": f"{folder or REPOSITORY}{os.pathsep}{REPOSITORY}"}
    line = [sys.executable, "-S", "-B", "-c", textwrap.dedent(program)]
    finished = subprocess.run(line, env=environment, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_installing_the_hook_imports_nothing_else_and_repairs_what_was_imported_once():
    printed = run_python(
        """
        import sys
        before = set(sys.modules)
        import fairseq_compat
        fairseq_compat.install()
        print(*sorted(set(sys.modules) - before))
        fairseq_compat.install()
        print([type(finder).__name__ for finder in sys.meta_path].count("RepairFinder"))
        import dataclasses, importlib, inspect
        assert hasattr(dataclasses.dataclass, "__wrapped__")
        assert "unsafe_hash" in inspect.signature(dataclasses.dataclass).parameters
        assert "kw_only" in dataclasses.dataclass.__kwdefaults__
        assert dataclasses.__spec__.loader is dataclasses.__loader__
        assert type(dataclasses.__loader__).__name__ == "SourceFileLoader"
        importlib.reload(dataclasses)
        assert not hasattr(dataclasses.dataclass.__wrapped__, "__wrapped__")
        """
    )
    assert printed.split() == ["fairseq_compat", "1"]
    run_python(
        """
        import dataclasses, fairseq_compat
        fairseq_compat.install()
        assert hasattr(dataclasses.dataclass, "__wrapped__")
        """
    )


def define(module: str, source: str, **names: Any) -> dict[str, Any]:
    """What the source of a module defines."""
    namespace = {"__name__": module, "dataclass": dataclasses.dataclass, **names}
    # Without this file's own import of annotations.
    exec(compile(textwrap.dedent(source), module, "exec", dont_inherit=True), namespace)
    return namespace


#: The pattern of fairseq's configurations: an instance of a plain dataclass as a default.
NESTED = """
    @dataclass
    class Common:
        seed: int = 1

    @dataclass()
    class Whole:
        common: Common = Common()
"""


def test_nested_defaults_are_repaired():
    with pytest.raises(ValueError, match="mutable default"):
        define("fairseq.dataclass.configs", NESTED, dataclass=dataclasses.dataclass.__wrapped__)
    made = define("fairseq.dataclass.configs", NESTED)
    assert made["Whole"]().common == made["Common"]() != made["Common"](seed=2)
    derived = """
        @dataclass
        class Plugin(Common):
            width: int = 8

        @dataclass
        class Outer(Common):
            inner: Plugin = Plugin()
    """
    assert define("user_plugin.config", derived, Common=made["Common"])["Outer"]().inner.width == 8


def test_dataclasses_that_are_not_fairseqs_or_hash_by_themselves_are_left_alone():
    stranger = """
        @dataclass
        class Plain:
            value: int = 1
    """
    assert define("stranger", stranger)["Plain"].__hash__ is None
    own = """
        @dataclass
        class OwnHash:
            value: int = 1
            def __hash__(self): return 7

        @dataclass(eq=False)
        class Identity:
            value: int = 1
    """
    made = define("fairseq.own", own)
    assert hash(made["OwnHash"]()) == 7 and made["Identity"].__hash__ is object.__hash__


OPTIONS = """
def parse_args_and_arch(parser, input_args=None, parse_known=False):
    pass

def get_validation_parser(default_task=None):
    pass
"""
#: A hook that looks for a module with all finders and runs something afterwards, as those of wrapt and profilers do.
ANOTHER_HOOK = """
import importlib.util, sys

class Loader:
    def __init__(self, loader): self.loader = loader
    def create_module(self, spec): return self.loader.create_module(spec)
    def exec_module(self, module): self.loader.exec_module(module)

class Hook:
    searching = False
    def find_spec(self, name, path=None, target=None):
        if name != "fairseq.options" or self.searching:
            return None
        self.searching = True
        spec = importlib.util.find_spec(name)
        self.searching = False
        spec.loader = Loader(spec.loader)
        return spec
"""
INSTALL = {
    "another": "import another_hook; sys.meta_path.insert(0, another_hook.Hook())",
    "ours": "import fairseq_compat; fairseq_compat.install()",
}


@pytest.mark.parametrize("order", [("another", "ours"), ("ours", "another")], ids=" then ".join)
def test_a_module_is_repaired_once_beside_another_hook(order, tmp_path):
    (tmp_path / "fairseq").mkdir()
    for file, text in {
        "fairseq/__init__.py": "",
        "fairseq/options.py": OPTIONS,
        "another_hook.py": ANOTHER_HOOK,
    }.items():
        (tmp_path / file).write_text(text)
    lines = [
        *("import sys", *(INSTALL[hook] for hook in order), "from fairseq import options"),
        *("function, repairs = options.parse_args_and_arch, 0",),
        *("while hasattr(function, '__wrapped__'): function, repairs = function.__wrapped__, repairs + 1",),
        "print(repairs)",
    ]
    assert run_python("\n".join(lines), tmp_path) == "1\n"


@pytest.mark.slow
def test_the_tools_need_no_pth_file(tmp_path):
    """A folder on PYTHONPATH has its .pth files run by nobody, and without them fairseq cannot be imported."""
    # The interpreter that this environment was made of: it finds the packages here, and not the environment.
    line = [sys._base_executable, "-m", "recurrent_mt", "factorize", "--help"]
    folders = [str(REPOSITORY), sysconfig.get_path("purelib")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    finished = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert finished.returncode == 0 and "--rank" in finished.stdout, finished.stderr


@pytest.mark.slow
def test_the_minimal_repairs_leave_fairseqs_functions_as_they_are(data, tmp_path):
    """It trains, resumes, and translates."""
    for updates in (2, 4):
        flags = [*toy.TRAINING, *LSTM, "--save-dir", tmp_path, "--max-update", updates]
        done = run("fairseq-train", data, *flags, FAIRSEQ_COMPAT="minimal")
        assert done.returncode == 0, done.stderr
    assert "@ 2 updates" in done.stdout
    line = ("fairseq-generate", data, "--path", tmp_path / "checkpoint_last.pt", "--cpu", "--beam", 2, "--nbest", 2)
    done = run(*line, FAIRSEQ_COMPAT="minimal")
    assert done.returncode == 0 and "H-0\t" in done.stdout, done.stderr
    program = "from fairseq.trainer import Trainer; print(hasattr(Trainer.load_checkpoint, '__wrapped__'))"
    assert run("python", "-c", program, FAIRSEQ_COMPAT="minimal").stdout == "False\n"
    assert run("python", "-c", program).stdout == "True\n"


def test_each_function_is_replaced_once_and_every_repaired_module_is_in_the_table():
    declared: dict[str, list[str]] = {}
    for file in {**fairseq_compat.NEEDED, **fairseq_compat.REPAIRS}:
        source = REPOSITORY / "fairseq_compat" / f"{file.replace('.', '/')}.py"
        for node in ast.walk(ast.parse(source.read_text())):
            for call in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("around", "in_place_of"):
                    module, name = (argument.value for argument in call.args)
                    assert module in {**fairseq_compat.NEEDED, **fairseq_compat.REPAIRS}[file]
                    declared.setdefault(module, []).append(name)
    assert "Trainer.load_checkpoint" in declared["fairseq.trainer"]
    for module, names in declared.items():
        assert len(names) == len(set(names)), module
