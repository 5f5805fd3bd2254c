import pytest

from recurrent_mt.kernels.grconv import packed


@pytest.fixture(autouse=True)
def few_nodes_are_kept(monkeypatch):
    """So that the small pyramids of these tests merge nodes again, as large ones do."""
    monkeypatch.setattr(packed, "KEPT_BYTES", 0)
