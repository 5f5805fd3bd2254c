from recurrent_mt.data.reports import count_side
from tests.commands import call


def test_counts():
    lines = ["a b a\n", "\n", "c d d d\n"]
    assert count_side(lines, {"a", "b"}) == ["3", "7", "2.3", "4", "4", "4 (57.14%)", "2"]
    assert count_side(["a " * 1000], {}) == ["1", "1,000", "1000.0", "1,000", "1", "1,000 (100.00%)", "1"]
    assert count_side([], {}) == ["0", "0", "0.0", "0", "0", "0 (0.00%)", "0"]


def test_a_file_that_is_not_utf_8_is_named_with_its_line(tmp_path):
    (tmp_path / "test.fr").write_bytes(b"un\ntrois\xff\n")
    for language in ("fr", "en"):
        (tmp_path / f"dict.{language}.txt").write_text("un 1\n")
    folders = ("--prepared", tmp_path, "--dictionaries", tmp_path, "--splits", "test", "--out", tmp_path / "report.md")
    done = call("data-report", *folders, "--source-lang", "fr", "--target-lang", "en")
    assert done.returncode == 1 and f"{tmp_path}/test.fr, line 2: byte 6 is not UTF-8" in done.stderr
