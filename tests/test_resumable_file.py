"""A text file that is continued where its writer was killed, however often."""

import fcntl
from pathlib import Path

import pytest

from recurrent_mt.resumable_file import ResumableFile
from recurrent_mt.text_files import FileError

MADE_WITH = {"model": "1"}
CHUNKS = ["é one\n", "", "two\nthree\n", "four\n"]


def write(path, *, kills):
    """Writes the chunks; after each of `kills`, half of the next one is on the disk when the writer dies."""
    for killed in (*kills, None):
        file = ResumableFile(path, MADE_WITH)
        for number in range(file.progress.lines, len(CHUNKS)):
            if number == killed:
                file._file.write(CHUNKS[number].encode()[:3])
                break
            file.append(CHUNKS[number], lines=number + 1, digest=f"{number}")
        else:
            file.finish()
        file.close()


@pytest.mark.parametrize("kills", [(), (0, 0, 1), (0, 1, 2, 3, 3)])
def test_the_file_is_whole_however_often_its_writer_dies(tmp_path, kills):
    (tmp_path / "out").write_text("earlier")
    write(tmp_path / "out", kills=kills)
    assert (tmp_path / "out").read_text() == "".join(CHUNKS)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_writer_that_dies_after_its_last_step_leaves_a_whole_file(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        write(tmp_path / "out", kills=())
    assert (tmp_path / "out.partial.json").exists()
    write(tmp_path / "out", kills=(2,))
    assert (tmp_path / "out").read_text() == "".join(CHUNKS) and len(list(tmp_path.iterdir())) == 1


def test_a_link_stays_one(tmp_path):
    (tmp_path / "link").symlink_to("out")
    write(tmp_path / "link", kills=(1,))
    assert (tmp_path / "link").is_symlink() and (tmp_path / "out").read_text() == "".join(CHUNKS)


def test_a_file_that_another_finishes_before_the_lock_is_there_stays_whole(tmp_path, monkeypatch):
    lock = fcntl.lockf

    def finish_first(file, operation):
        monkeypatch.setattr(fcntl, "lockf", lock)
        if not (tmp_path / "out").exists():
            write(tmp_path / "out", kills=())
        lock(file, operation)

    monkeypatch.setattr(fcntl, "lockf", finish_first)
    late = ResumableFile(tmp_path / "out", MADE_WITH)
    assert (tmp_path / "out").read_text() == "".join(CHUNKS)
    late.append("a\n", lines=1, digest="x")
    assert (tmp_path / "out.partial").read_text() == "a\n"
    late.close()


def test_a_file_that_a_full_disk_cuts_off_is_resumed(tmp_path):
    path = tmp_path / "file"
    file = ResumableFile(path, {})
    file.append("one\n", lines=1, digest="a")
    file._file.close()
    file._file = open("/dev/full", "ab")  # noqa: SIM115
    with pytest.raises(OSError, match="No space left on device"):
        file.append("two\n", lines=2, digest="b")
    with pytest.raises(OSError, match="No space left on device"):
        file.close()
    resumed = ResumableFile(path, {})
    assert resumed.progress.lines == 1
    resumed.append("two\n", lines=2, digest="b")
    resumed.finish()
    resumed.close()
    assert path.read_text() == "one\ntwo\n"


def test_a_file_without_a_whole_chunk_is_begun_anew_with_anything(tmp_path):
    ResumableFile(tmp_path / "out", MADE_WITH).close()
    file = ResumableFile(tmp_path / "out", {"model": "2"})
    file.append("a\n", lines=1, digest="x")
    file.close()
    with pytest.raises(FileError, match="1 lines were made with another model"):
        ResumableFile(tmp_path / "out", MADE_WITH)
