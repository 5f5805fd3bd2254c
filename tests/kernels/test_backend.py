import ast
from pathlib import Path

import pytest

from recurrent_mt.kernels import backend
from tests.kernels.test_grconv import arguments, run

KERNELS = Path(backend.__file__).parent


def test_fused_without_triton_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(backend, "find_spec", lambda name: None)
    counts, tensors = arguments([2], 3)
    with pytest.raises(ValueError, match="grconv's backend 'fused' needs triton, which is not installed"):
        run(counts)("fused", *tensors)


def test_triton_is_only_imported_by_its_kernels():
    others = [path for path in KERNELS.rglob("*.py") if not path.stem.startswith("triton_")]
    assert len(others) > 15
    for path in others:
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                names = [alias.name for alias in statement.names] + (getattr(statement, "module", "") or "").split(".")
                assert not any(name.startswith("triton") for name in names), path
