import pytest

from recurrent_mt.kernels import grconv


@pytest.fixture(autouse=True)
def few_nodes_are_kept(monkeypatch):
    """So that the small pyramids of these tests merge nodes again, as large ones do."""
    monkeypatch.setattr(grconv, "KEPT_BYTES", 0)
