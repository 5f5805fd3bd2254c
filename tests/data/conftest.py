import pytest

from tests.data.server import serve


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    with serve(folder) as running:
        yield running
