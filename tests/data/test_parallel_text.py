import gzip
import lzma

import pytest

from recurrent_mt.data.parallel_text import language_file, read_blocks

LINES = [b"one", b"", b"three\xe2\x80\xa8still\x0cthree\xc2\x85", b"\xff not UTF-8", b"five\r"] * 7
OPEN = {"": open, ".gz": gzip.open, ".xz": lzma.open}


def write(path, lines):
    with OPEN["" if path.suffix == ".fr" else path.suffix](path, "wb") as file:
        file.write(b"".join(line + b"\n" for line in lines))
    return path


@pytest.fixture
def plain(tmp_path):
    return write(tmp_path / "plain.fr", LINES)


@pytest.mark.parametrize("ending", OPEN)
def test_lines_end_at_newlines_alone(tmp_path, plain, ending):
    path = write(tmp_path / f"text.fr{ending}", LINES)
    blocks = list(read_blocks([path, plain], [plain, path], size=10))
    assert [(block.file, block.first_line, len(block.source)) for block in blocks] == [
        *((0, first, size) for first, size in ((1, 10), (11, 10), (21, 10), (31, 5))),
        *((1, first, size) for first, size in ((1, 10), (11, 10), (21, 10), (31, 5))),
    ]
    for lines in ("source", "target"):
        assert [line for block in blocks for line in getattr(block, lines)] == LINES * 2
    progress = [block.progress for block in blocks]
    assert progress == sorted(progress) and progress[-1] == 1


def test_the_last_newline_may_be_missing(tmp_path, plain):
    path = tmp_path / "text.fr"
    path.write_bytes(plain.read_bytes()[:-1])
    assert next(read_blocks([path], [plain])).source == LINES


@pytest.mark.parametrize("ending", [".gz", ".xz"])
@pytest.mark.parametrize("share", [0, 0.3, 0.9, 0.999])
def test_a_cut_file_is_named(tmp_path, plain, ending, share):
    whole = write(tmp_path / f"whole{ending}", LINES * 500)
    cut = tmp_path / f"cut.fr{ending}"
    cut.write_bytes(whole.read_bytes()[: int(share * whole.stat().st_size)])
    with pytest.raises(ValueError, match=rf"cut\.fr\{ending} is cut or damaged .*get it again"):
        list(read_blocks([whole], [cut]))


@pytest.mark.parametrize("ending", [".gz", ".xz"])
def test_a_damaged_file_is_named(tmp_path, ending):
    whole = write(tmp_path / f"whole.fr{ending}", LINES * 500)
    content = bytearray(whole.read_bytes())
    content[len(content) // 2] ^= 0xFF
    whole.write_bytes(content)
    with pytest.raises(ValueError, match=rf"whole\.fr\{ending} is cut or damaged"):
        list(read_blocks([whole], [whole]))


@pytest.mark.parametrize(("source", "target"), [(7, 9), (9, 7), (10, 13), (20, 10), (0, 3)])
def test_unequal_sides_are_counted(tmp_path, source, target):
    paths = [write(tmp_path / f"text-{side}.fr", [b"x"] * side) for side in (source, target)]
    with pytest.raises(ValueError, match=rf"-{source}\.fr has {source} lines and .*-{target}\.fr has {target}: line n"):
        list(read_blocks([paths[0]], [paths[1]], size=5))


def test_files_come_in_pairs(plain):
    with pytest.raises(ValueError, match="2 source files and 1 target files: give them in pairs"):
        list(read_blocks([plain, plain], [plain]))


def test_language_file(tmp_path, plain):
    assert language_file(tmp_path / "plain", "fr") == plain
    packed = write(tmp_path / "v1.2.fr.xz", LINES)
    assert language_file(tmp_path / "v1.2", "fr") == packed
    with pytest.raises(FileNotFoundError, match=r"no file .*plain\.en, neither plain nor"):
        language_file(tmp_path / "plain", "en")
