"""Downloads over loopback: whole, cut, changed, damaged, empty, wrong."""

import gzip
import hashlib
import random

import pytest

from recurrent_mt.data import download as module
from recurrent_mt.data.download import download

CONTENT = random.Random(1).randbytes(100_000)
VERSION = f'"{hashlib.md5(CONTENT).hexdigest()}"'


@pytest.fixture(autouse=True)
def haste(monkeypatch):
    for name, value in {"ATTEMPTS": 3, "FIRST_PAUSE": 0.0, "TIMEOUT": 5.0}.items():
        monkeypatch.setattr(module, name, value)


@pytest.fixture
def served(server):
    (server.folder / "corpus.bin").write_bytes(CONTENT)
    return server


def starts(server):
    return [start for _, start in server.requests]


def test_a_file_comes_whole_and_once(served, tmp_path):
    path = tmp_path / "new" / "corpus.bin"
    download(served.url("corpus.bin"), path)
    assert path.read_bytes() == CONTENT
    assert [name.name for name in path.parent.iterdir()] == ["corpus.bin"]
    download(served.url("corpus.bin"), path)
    assert len(served.requests) == 1


@pytest.mark.parametrize(
    ("behaves", "there", "asked"),
    [
        ({"cuts": [30_000, 1, 40_000]}, None, [0, 30_000, 30_001, 70_001]),
        ({}, (b"of unknown origin", ""), [0]),
        ({"ranges": False, "cuts": [30_000]}, None, [0, 30_000]),
        ({}, (CONTENT + b"more", VERSION), [len(CONTENT) + 4, 0]),
        ({}, (CONTENT, VERSION), [len(CONTENT), 0]),
    ],
    ids=["cut", "no version", "no ranges", "too long", "killed after the last byte"],
)
def test_whatever_is_there_and_comes_the_file_is_whole(behaves, there, asked, served, tmp_path):
    vars(served).update(behaves)
    if there:
        (tmp_path / "corpus.bin.partial").write_bytes(there[0])
        if there[1]:
            (tmp_path / "corpus.bin.version").write_text(there[1])
    download(served.url("corpus.bin"), tmp_path / "corpus.bin")
    assert (tmp_path / "corpus.bin").read_bytes() == CONTENT
    assert starts(served) == asked


def test_a_server_that_breaks_off_again_and_again_is_given_up_and_the_next_call_goes_on(served, tmp_path):
    served.cuts = [30_000, 0, 0, 0]
    with pytest.raises(RuntimeError, match="was cut; call again to go on after 30,000 bytes"):
        download(served.url("corpus.bin"), tmp_path / "corpus.bin")
    assert not (tmp_path / "corpus.bin").exists()
    download(served.url("corpus.bin"), tmp_path / "corpus.bin")
    assert (tmp_path / "corpus.bin").read_bytes() == CONTENT
    assert starts(served) == [0, 30_000, 30_000, 30_000, 30_000]


def test_two_versions_are_never_joined(served, tmp_path):
    served.cuts = [30_000, 0, 0, 0]
    with pytest.raises(RuntimeError):
        download(served.url("corpus.bin"), tmp_path / "corpus.bin")
    newer = CONTENT[::-1] + b"more"
    (served.folder / "corpus.bin").write_bytes(newer)
    download(served.url("corpus.bin"), tmp_path / "corpus.bin")
    assert (tmp_path / "corpus.bin").read_bytes() == newer


def test_a_server_that_does_not_say_what_version_it_sends_begins_anew_and_so_does_the_next_call(served, tmp_path):
    served.tags, served.cuts = False, [30_000, 1000, 1000, 1000]
    with pytest.raises(RuntimeError, match="the connection was cut"):
        download(served.url("corpus.bin"), tmp_path / "corpus.bin")
    download(served.url("corpus.bin"), tmp_path / "corpus.bin")
    assert (tmp_path / "corpus.bin").read_bytes() == CONTENT
    assert set(starts(served)) == {0}


DAMAGED = {
    "empty.bin": (b"", "is empty"),
    "empty.gz": (b"", "is empty"),
    "cut.gz": (gzip.compress(CONTENT)[:-500], "cut off or damaged"),
    "cut.tgz": (gzip.compress(CONTENT)[:-500], "cut off or damaged"),
    "cut.tar": (b"\1" * 1000, "cut off or damaged"),
    "page.zip": (b"<html>not found</html>", "cut off or damaged"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_empty_or_damaged_is_refused_by_name(server, tmp_path, name):
    content, message = DAMAGED[name]
    (server.folder / name).write_bytes(content)
    with pytest.raises(RuntimeError, match=message) as refusal:
        download(server.url(name), tmp_path / name)
    assert server.url(name) in str(refusal.value)
    assert not list(tmp_path.glob(f"{name}*"))


def test_what_the_server_does_not_have(server, tmp_path):
    with pytest.raises(RuntimeError, match=r"nothing\.gz: the server answers 404"):
        download(server.url("nothing.gz"), tmp_path / "nothing.gz")
    assert len(server.requests) == 1


def test_no_server_at_all(server, tmp_path):
    url = server.url("corpus.bin").replace("127.0.0.1:", "127.0.0.1:1")[:18] + "/corpus.bin"
    with pytest.raises(RuntimeError, match="refused"):
        download(url, tmp_path / "corpus.bin")
