"""Who may import whom, and the other rules of the layout that a program can check."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]

#: What each part of the two packages may import besides the standard library and itself.
ALLOWED = {
    "recurrent_mt": {
        "kernels": {"torch", "triton", "setuptools"},
        "layers": {"torch", "recurrent_mt.kernels"},
        "onnx_export": {
            *("numpy", "onnx", "torch", "recurrent_mt.layers", "recurrent_mt.shortlist", "recurrent_mt.text_files")
        },
        "onnx_translation.py": {"numpy", "onnxruntime", "recurrent_mt.shortlist", "recurrent_mt.text_files"},
        "arguments.py": set(),
        "numerics.py": set(),
        "versions.py": set(),
        "ordered_map.py": set(),
        "text_files.py": set(),
        "file_lock.py": set(),
        "resumable_file.py": {"recurrent_mt.file_lock", "recurrent_mt.text_files"},
        "languages.py": {"langcodes"},
        "characters.py": {"recurrent_mt.languages"},
        "shortlist.py": {"numpy", "recurrent_mt.text_files"},
        "subwords.py": {"sentencepiece", "subword_nmt", "recurrent_mt.characters"},
        "text_form.py": {
            *("recurrent_mt.data", "recurrent_mt.characters", "recurrent_mt.languages", "recurrent_mt.subwords"),
            *("recurrent_mt.text_files", "sacremoses"),
        },
        "metrics.py": {
            *("sacrebleu", "numpy", "recurrent_mt.meteor", "recurrent_mt.ordered_map"),
            *("recurrent_mt.characters", "recurrent_mt.languages"),
        },
        "meteor.py": {"sacrebleu", "nltk"},
        "evaluation": {
            *("numpy", "pandas", "tabulate", "matplotlib", "nltk", "yaml"),
            *("recurrent_mt.characters", "recurrent_mt.metrics", "recurrent_mt.ordered_map"),
            *("recurrent_mt.text_files", "recurrent_mt.text_form"),
            *("recurrent_mt.runs", "recurrent_mt.subwords", "recurrent_mt.versions"),
        },
        "search_process.py": {"recurrent_mt.evaluation"},
        "report": {
            *("pandas", "pydantic", "jinja2", "markupsafe", "matplotlib"),
            *("recurrent_mt.evaluation", "recurrent_mt.metrics", "recurrent_mt.text_files"),
        },
        "demo": {
            *("gradio", "starlette", "numpy", "matplotlib", "jinja2", "markupsafe"),
            *("recurrent_mt.evaluation", "recurrent_mt.metrics", "recurrent_mt.report", "recurrent_mt.translation"),
        },
        "translation": {
            *("numpy", "matplotlib", "pydantic", "yaml", "recurrent_mt.metrics", "recurrent_mt.evaluation"),
            *(
                "recurrent_mt.characters",
                "recurrent_mt.data",
                "recurrent_mt.plugin_finder",
                "recurrent_mt.runs",
                "recurrent_mt.subwords",
                "recurrent_mt.text_form",
            ),
            "recurrent_mt.text_files",
        },
        "plugin_finder.py": set(),
        "ratings": {"numpy", "krippendorff", "pydantic", "tabulate", "recurrent_mt.text_files"},
        "data": {
            *("recurrent_mt.file_lock", "recurrent_mt.numerics", "recurrent_mt.text_files"),
            *("numpy", "jieba", "mtdata", "pycld2", "py3langid", "regex", "sacremoses", "tqdm"),
            *("recurrent_mt.characters", "recurrent_mt.languages", "recurrent_mt.ordered_map"),
        },
        "runs": {
            *("yaml", "pydantic", "pydantic_core", "typing_extensions", "psutil", "hydra", "omegaconf"),
            *(
                "recurrent_mt.arguments",
                "recurrent_mt.numerics",
                "recurrent_mt.plugin_finder",
                "recurrent_mt.text_files",
                "recurrent_mt.text_form",
            ),
        },
        "cli": {
            *(f"recurrent_mt.{part}" for part in ("data", "evaluation", "metrics", "ordered_map", "ratings", "report")),
            *("recurrent_mt.demo", "recurrent_mt.translation", "recurrent_mt.plugin_finder"),
            *("recurrent_mt.runs", "recurrent_mt.onnx_translation"),
            "recurrent_mt.kernels",  # build_kernels alone
            *("psutil", "pydantic_core", "sacrebleu", "sentencepiece"),
            *("recurrent_mt.subwords", "recurrent_mt.text_form"),
            *("recurrent_mt.arguments", "recurrent_mt.characters", "recurrent_mt.text_files"),
            *("recurrent_mt.resumable_file", "recurrent_mt.search_process", "recurrent_mt.versions"),
            "recurrent_mt.file_lock",
        },
        "__main__.py": {"recurrent_mt.cli"},
    },
    "user_dir": {
        "models": {"torch", "numpy", "fairseq", "omegaconf", "recurrent_mt.layers", "recurrent_mt.kernels"},
        "checkpoints": {
            *("torch", "numpy", "fairseq", "omegaconf", "recurrent_mt.layers", "recurrent_mt.kernels"),
            *(
                "recurrent_mt.onnx_export",
                "recurrent_mt.text_files",
                "recurrent_mt.text_form",
                "user_dir.models",
                "user_dir.tasks",
            ),
        },
        "segmented_translation.py": {
            *("fairseq", "recurrent_mt.characters", "recurrent_mt.subwords", "user_dir.checkpoints", "user_dir.tasks"),
        },
        "tasks": {
            *("torch", "numpy", "fairseq", "omegaconf"),
            *("recurrent_mt.layers", "recurrent_mt.kernels", "recurrent_mt.shortlist"),
            "user_dir.models",
        },
        "optim.py": {"torch", "fairseq"},
        "scoring.py": {"fairseq", "sacrebleu", "recurrent_mt.metrics"},
        "criterions.py": {"fairseq", "torch", "user_dir.models", "recurrent_mt.kernels"},
        "help_option.py": {"fairseq"},
        "cli": {
            *("torch", "numpy", "fairseq", "omegaconf", "recurrent_mt.layers", "recurrent_mt.kernels"),
            *("recurrent_mt.text_files", "recurrent_mt.arguments", "recurrent_mt.shortlist"),
            *("user_dir.checkpoints", "user_dir.segmented_translation"),
        },
    },
}
#: What a part loads by name while it runs: this is how the plug-in's tools and its translator are found.
BY_NAME = {"recurrent_mt.plugin_finder": {"user_dir.cli", "user_dir.checkpoints"}}
PARTS = [(package, part) for package, parts in ALLOWED.items() for part in parts]


def python_files(*folders):
    return sorted(path for folder in folders for path in (REPOSITORY / folder).rglob("*.py"))


class Definition(NamedTuple):
    """A module, class, or function, and how many lines follow its first."""

    name: str
    is_function: bool
    at_top: bool
    docstring: str | None
    lines: int


@cache
def statements(path):
    """The nodes of a file's syntax tree, its module first: of all that any test looks at, as it takes long to parse."""
    wanted = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.Import, ast.ImportFrom)
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, wanted)]


@cache
def definitions(path):
    """The modules, classes, and functions of a file."""
    tree, found = statements(path)[0], []
    for node in statements(path):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            found.append(
                Definition(
                    getattr(node, "name", path.stem),
                    isinstance(node, ast.FunctionDef),
                    node is tree or node in tree.body,
                    ast.get_docstring(node),
                    0 if node is tree else node.end_lineno - node.lineno,
                )
            )
    return found


def imported(path):
    """What a file imports: top-level names, and of our own two packages ``package.part``."""
    package = path.relative_to(REPOSITORY).with_suffix("").parts[:-1]
    found = set()
    for node in statements(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found |= {module} if "." in module else {f"{module}.{alias.name}" for alias in node.names}
    names = (name.split(".") for name in found)
    return {".".join(parts[:2]) if parts[0] in ALLOWED else parts[0] for parts in names} - sys.stdlib_module_names


@pytest.mark.parametrize(("package", "part"), PARTS)
def test_imports_follow_the_arrows(package, part):
    place = REPOSITORY / package / part
    files = [place] if part.endswith(".py") else python_files(place)
    assert files
    for path in files:
        others = imported(path) - {f"{package}.{part.removesuffix('.py')}"}
        assert others <= ALLOWED[package][part], f"{path.relative_to(REPOSITORY)}: {others - ALLOWED[package][part]}"


def test_the_arrows_make_no_circle():
    arrows = {f"{package}.{part.removesuffix('.py')}": set(ALLOWED[package][part]) for package, part in PARTS}
    for part, others in BY_NAME.items():
        arrows[part] |= others
    TopologicalSorter(arrows).prepare()  # raises CycleError, which names the circle


def test_files_make_no_circle():
    """Not even where an import waits in a function, or is for types alone."""
    files = {module_name(path): path for package in ALLOWED for path in python_files(REPOSITORY / package)}
    TopologicalSorter({name: imported_files(path, files) - {name} for name, path in files.items()}).prepare()


def module_name(path):
    return ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")


def imported_files(path, files):
    """The modules of this project that a file imports by name, wherever in it; of a package, those of its parts."""
    package = path.relative_to(REPOSITORY).parent.parts
    found = set()
    for node in statements(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            parts = {f"{module}.{alias.name}" for alias in node.names}
            found |= parts & files.keys() or {module}
    return found & files.keys()


@pytest.mark.parametrize("package", ALLOWED)
def test_every_part_is_covered(package):
    others = ("__pycache__", "__init__.py", "py.typed")
    places = [path for path in (REPOSITORY / package).iterdir() if path.name not in others]
    # Of a folder that is gone, Python's cache may be left.
    parts = {path.name for path in places if path.is_file() or any(path.rglob("*.py"))}
    assert parts == set(ALLOWED[package])


def test_every_recurrence_has_a_reference_that_fits_on_a_page():
    found = [one for path in (REPOSITORY / "recurrent_mt/kernels").glob("*.py") for one in definitions(path)]
    lengths = [one.lines for one in found if one.is_function and one.name.startswith("reference_")]
    assert len(lengths) >= 5 and max(lengths) <= 35


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        # What counts, draws, and prepares starts at once, and in an environment that has neither.
        (("report", "evaluation", "metrics", "data"), ("fairseq", "torch")),
        # What draws takes longer to load than a short text to translate.
        (("cli.translate", "translation"), ("pandas", "matplotlib")),
    ],
)
def test_the_library_works_without_what_it_does_not_need(names, missing):
    modules = ", ".join(f"recurrent_mt.{name}" for name in names)
    program = f"import sys; sys.modules.update(dict.fromkeys({missing})); import {modules}"
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_configuration_stops_at_the_models():
    for path in python_files("recurrent_mt/kernels", "recurrent_mt/layers"):
        assert not re.search(r"\bcfg\b|\bargs\.", path.read_text()), path


def test_no_option_is_defined_twice():
    """Those of models are fields of dataclasses, from which fairseq makes the flags."""
    for path in python_files("user_dir"):
        assert "cli" in path.parts[-2:] or "add_argument" not in path.read_text(), path


def test_no_file_has_a_meaningless_name():
    for path in python_files("user_dir", "recurrent_mt", "fairseq_compat", "benchmarks", "tests"):
        assert path.stem not in {"utils", "helpers", "common", "misc"}, path


def test_files_and_functions_stay_small():
    files = python_files("user_dir", "recurrent_mt", "fairseq_compat", "benchmarks")
    assert len(files) > 30
    for path in files:
        assert len(path.read_text().splitlines()) <= 500, path
        for one in definitions(path):
            assert not one.is_function or one.lines < 60, f"{path}: {one.name}"


def test_public_names_have_docstrings():
    for path in python_files("user_dir", "recurrent_mt", "benchmarks"):
        for one in definitions(path):
            private = one.name.startswith("_") and one.name != "__init__"
            same_everywhere = one.name == "configure" and path.parent.name == "cli"
            assert not one.at_top or private or same_everywhere or one.docstring, f"{path}: {one.name}"


def test_tracked_files_name_no_place_of_one_machine():
    search = ["git", "grep", "--text", "--line-number", "--extended-regexp", "/(root|home)/"]
    found = subprocess.run(search, cwd=REPOSITORY, capture_output=True, text=True, errors="replace")
    if found.returncode == 128:
        pytest.skip("not a git checkout")
    named = [line for line in found.stdout.splitlines() if re.search(r"(^|[^A-Za-z0-9_.])/(root|home)/\w", line)]
    assert not named
