"""Who may import whom, and the other rules of the layout that a program can check."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PLUGIN = REPOSITORY / "user_dir"

#: What each part of the plug-in may import besides the standard library and itself.
ALLOWED = {
    "kernels": {"torch", "triton"},
    "layers": {"torch", "kernels"},
    "models": {"torch", "numpy", "fairseq", "omegaconf", "layers", "kernels"},
    "ordered_map.py": set(),
    "metrics": {"sacrebleu", "nltk", "numpy", "ordered_map"},
    "analysis": {"metrics", "numpy", "matplotlib", "yaml", "ordered_map"},
    "inspection": {"torch", "numpy", "fairseq", "omegaconf", "models", "layers", "kernels"},
    "segmentation": {"torch", "numpy", "fairseq", "omegaconf"},
    "rating": {"numpy", "krippendorff"},
    "preparation": {"numpy", "jieba", "mtdata", "pycld2", "py3langid", "sacremoses", "ordered_map"},
    "corpora": set(),
    "embeddings": {"numpy", "scipy", "gensim"},
    "tasks": {"torch", "numpy", "fairseq"},
    "scoring.py": {"fairseq", "metrics"},
    "criterions": {"fairseq", "torch", "models"},
    "help_option.py": {"fairseq", "models"},
}


def python_files(*folders):
    return sorted(path for folder in folders for path in (REPOSITORY / folder).rglob("*.py"))


def imported(path):
    """The top-level names that a file of the plug-in imports; a part of the plug-in counts as its own name."""
    parts = path.relative_to(PLUGIN).parts
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module.split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            package = parts[: len(parts) - node.level]
            target = [*package, *(node.module.split(".") if node.module else [])]
            names |= {target[0]} if target else {alias.name for alias in node.names}
    return names


def standard_library(name):
    import sys

    return name in sys.stdlib_module_names


@pytest.mark.parametrize("part", ALLOWED)
def test_imports_follow_the_arrows(part):
    files = [PLUGIN / part] if part.endswith(".py") else python_files(f"user_dir/{part}")
    assert files
    for path in files:
        others = {name for name in imported(path) if not standard_library(name)} - {part}
        assert others <= ALLOWED[part], f"{path.relative_to(REPOSITORY)} imports {others - ALLOWED[part]}"


def test_references_import_torch_only():
    files = list(PLUGIN.glob("kernels/*/reference.py"))
    assert len(files) >= 3
    for path in files:
        others = {name for name in imported(path) if not standard_library(name)} - {"kernels"}
        assert others == {"torch"}, path
        assert len(path.read_text().splitlines()) <= 70, path


def test_scripts_start_without_fairseq_where_they_need_none_of_it():
    """The import of `without_fairseq` saves them seconds and hundreds of megabytes; it must come before the others."""
    light = {part.removesuffix(".py") for part, others in ALLOWED.items() if not others & {"torch", "fairseq"}}
    found = 0
    for path in python_files("scripts"):
        imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        lines = {node.lineno: node.module.split(".")[1] for node in imports if node.module.startswith("user_dir.")}
        if lines and light.issuperset(lines.values()):
            before = path.read_text().splitlines()[: min(lines)]
            assert any(line.startswith("import without_fairseq") for line in before), path
            found += 1
    assert found > 15


def test_every_part_is_covered():
    parts = {path.name for path in PLUGIN.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert parts == {name for name in ALLOWED if not name.endswith(".py")}


def test_configuration_stops_at_the_models():
    for path in python_files("user_dir/kernels", "user_dir/layers"):
        assert not re.search(r"\bcfg\b|\bargs\.", path.read_text()), path


def test_no_option_is_defined_twice():
    for path in python_files("user_dir"):
        assert "add_argument" not in path.read_text() or "analysis" in path.parts, path


def test_no_file_named_after_nothing():
    for path in python_files("user_dir", "fairseq_compat", "scripts", "benchmarks", "tests"):
        assert path.stem not in {"utils", "helpers", "common", "misc"}, path


def test_files_and_functions_stay_small():
    files = python_files("user_dir", "fairseq_compat", "scripts", "benchmarks")
    assert len(files) > 30
    for path in files:
        text = path.read_text()
        assert len(text.splitlines()) <= 300, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 60, f"{path}: {node.name}"


def test_public_names_have_docstrings():
    for path in python_files("user_dir", "benchmarks"):
        tree = ast.parse(path.read_text())
        for node in [tree, *tree.body]:
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                name = getattr(node, "name", path.stem)
                private = name.startswith("_") and name != "__init__"
                assert private or ast.get_docstring(node), f"{path}: {name}"


def test_tracked_files_name_no_place_of_one_machine():
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in listed.stdout.splitlines():
        text = (REPOSITORY / name).read_text(errors="replace")
        assert not re.search(r"(^|[^A-Za-z0-9_.])/(root|home)/\w", text), name
