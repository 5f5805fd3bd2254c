"""The hook itself and the repairs that need no PyTorch, on every supported Python of the machine."""

import ast
import os
import subprocess
import sys
import sysconfig

import pytest

import fairseq_compat

from .conftest import PROJECT, TRAINING, WIDTHS

#: The pattern of fairseq's configurations: an instance of a plain dataclass as a default.
NESTED_DEFAULTS = {
    "fairseq/dataclass/configs.py": """
        from dataclasses import dataclass

        @dataclass
        class CommonConfig:
            seed: int = 1

        @dataclass()
        class FairseqConfig:
            common: CommonConfig = CommonConfig()
    """,
}


def assert_succeeds(finished):
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_installing_the_hook_imports_nothing_else(version, run_python):
    finished = run_python(
        version,
        """
        import sys
        before = set(sys.modules)
        import fairseq_compat
        fairseq_compat.install()
        print(*sorted(set(sys.modules) - before))
        """,
        hook=False,
    )
    assert finished.stdout.split() == ["fairseq_compat"], finished.stderr


def test_installing_the_hook_twice_adds_one_finder(version, run_python):
    finished = run_python(
        version,
        """
        import sys
        import fairseq_compat
        fairseq_compat.install()
        print([type(finder).__name__ for finder in sys.meta_path].count("RepairFinder"))
        """,
    )
    assert finished.stdout == "1\n", finished.stderr


def test_nested_defaults_need_the_repair(version, package, run_python):
    package(NESTED_DEFAULTS)
    finished = run_python(version, "import fairseq.dataclass.configs", hook=False)
    assert finished.returncode != 0 and "mutable default" in finished.stderr


@pytest.mark.parametrize("hook_comes", ["first", "after dataclasses"])
def test_nested_defaults_are_repaired(version, package, run_python, hook_comes):
    package(NESTED_DEFAULTS)
    finished = run_python(
        version,
        f"""
        import {"sys" if hook_comes == "first" else "dataclasses"}
        import fairseq_compat; fairseq_compat.install()
        from fairseq.dataclass.configs import CommonConfig, FairseqConfig
        assert FairseqConfig().common == CommonConfig() != CommonConfig(seed=2)
        """,
        hook=False,
    )
    assert_succeeds(finished)


def test_classes_derived_elsewhere_are_repaired(version, package, run_python):
    package(NESTED_DEFAULTS)
    package(
        {
            "user_plugin/config.py": """
                from dataclasses import dataclass
                from fairseq.dataclass.configs import CommonConfig

                @dataclass
                class PluginConfig(CommonConfig):
                    width: int = 8

                @dataclass
                class Outer(CommonConfig):
                    inner: PluginConfig = PluginConfig()
            """
        }
    )
    assert_succeeds(run_python(version, "from user_plugin.config import Outer; Outer()"))


def test_dataclasses_that_are_not_fairseqs_or_hash_by_themselves_are_left_alone(version, package, run_python):
    package(
        {
            "stranger.py": """
                from dataclasses import dataclass

                @dataclass
                class Plain:
                    value: int = 1

                @dataclass(order=True)
                class Ordered:
                    value: int = 1
            """,
            "fairseq/own.py": """
                from dataclasses import dataclass

                @dataclass
                class OwnHash:
                    value: int = 1
                    def __hash__(self): return 7

                @dataclass(eq=False)
                class Identity:
                    value: int = 1

                @dataclass(frozen=True)
                class Frozen:
                    value: int = 1
            """,
        }
    )
    finished = run_python(
        version,
        """
        from stranger import Plain, Ordered
        from fairseq.own import OwnHash, Identity, Frozen
        assert Plain.__hash__ is None and Ordered.__hash__ is None and Ordered(1) < Ordered(2)
        assert hash(OwnHash()) == 7
        assert Identity.__hash__ is object.__hash__
        assert hash(Frozen()) == hash(Frozen())
        """,
    )
    assert_succeeds(finished)


def test_the_dataclass_function_is_replaced_once(version, run_python):
    finished = run_python(
        version,
        """
        import dataclasses, importlib, inspect
        assert hasattr(dataclasses.dataclass, "__wrapped__")
        assert "unsafe_hash" in inspect.signature(dataclasses.dataclass).parameters
        assert "kw_only" in dataclasses.dataclass.__kwdefaults__
        assert dataclasses.__spec__.loader is dataclasses.__loader__
        assert type(dataclasses.__loader__).__name__ == "SourceFileLoader"
        importlib.reload(dataclasses)
        assert not hasattr(dataclasses.dataclass.__wrapped__, "__wrapped__")
        """,
    )
    assert_succeeds(finished)


OPTIONS = {
    "fairseq/options.py": """
        def parse_args_and_arch(parser, input_args=None, parse_known=False):
            args, extra = parser.parse_known_args(input_args)
            args.tpu = args.tpu or args.bf16
            return (args, extra) if parse_known else args

        def get_validation_parser(default_task=None):
            return default_task
    """,
}
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


@pytest.mark.parametrize("order", [("another", "ours"), ("ours", "another")], ids=" then ".join)
def test_a_module_is_repaired_once_beside_another_hook(order, package, run_python):
    package(OPTIONS | {"another_hook.py": ANOTHER_HOOK})
    install = {
        "another": "import another_hook; sys.meta_path.insert(0, another_hook.Hook())",
        "ours": "import fairseq_compat; fairseq_compat.install()",
    }
    finished = run_python(
        sys.version_info[:2],
        "import inspect, sys\n" + "".join(f"{install[hook]}\n" for hook in order) + "from fairseq import options\n"
        "function, repairs = options.parse_args_and_arch, 0\n"
        "while hasattr(function, '__wrapped__'): function, repairs = function.__wrapped__, repairs + 1\n"
        "print(repairs)",
        hook=False,
    )
    assert finished.stdout == "1\n", finished.stderr


def test_the_tools_need_no_pth_file(tmp_path):
    """A folder on PYTHONPATH has its .pth files run by nobody, and without them fairseq cannot be imported."""
    # The interpreter that this environment was made of: it finds the packages here, and not the environment.
    line = [sys._base_executable, "-m", "recurrent_mt", "factorize", "--help"]
    folders = [str(PROJECT), sysconfig.get_path("purelib")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    finished = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert finished.returncode == 0 and "--rank" in finished.stdout, finished.stderr


@pytest.mark.slow
def test_the_minimal_repairs_leave_fairseqs_functions_as_they_are(data, tmp_path, run_in_environment, monkeypatch):
    """It trains, resumes, and translates; and `--nbest` above `--beam`, which a repair refuses, ends as in fairseq."""
    monkeypatch.setenv("FAIRSEQ_COMPAT", "minimal")
    flags = [*TRAINING.split(), *WIDTHS["lstm"].split(), "--arch", "lstm", "--save-dir", tmp_path / "checkpoints"]
    for updates in (2, 4):
        done = run_in_environment("fairseq-train", data / "binary", *flags, "--max-update", updates)
        assert done.returncode == 0, done.stdout
    assert "@ 2 updates" in done.stdout
    generate = "fairseq-generate", data / "binary", "--path", tmp_path / "checkpoints/checkpoint_last.pt", "--cpu"
    done = run_in_environment(*generate, "--beam", 2, "--nbest", 5)
    assert done.returncode == 0 and "H-0\t" in done.stdout, done.stdout
    program = "from fairseq.trainer import Trainer; print(hasattr(Trainer.load_checkpoint, '__wrapped__'))"
    assert run_in_environment("python", "-c", program).stdout == "False\n"
    monkeypatch.delenv("FAIRSEQ_COMPAT")
    assert run_in_environment("python", "-c", program).stdout == "True\n"


def test_each_function_is_replaced_once_and_every_repaired_module_is_in_the_table():
    declared: dict[str, list[str]] = {}
    for file in {**fairseq_compat.NEEDED, **fairseq_compat.REPAIRS}:
        source = PROJECT / "fairseq_compat" / f"{file.replace('.', '/')}.py"
        for node in ast.walk(ast.parse(source.read_text())):
            for call in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("around", "in_place_of"):
                    module, name = (argument.value for argument in call.args)
                    assert module in {**fairseq_compat.NEEDED, **fairseq_compat.REPAIRS}[file]
                    declared.setdefault(module, []).append(name)
    assert "Trainer.load_checkpoint" in declared["fairseq.trainer"]
    for module, names in declared.items():
        assert len(names) == len(set(names)), module
