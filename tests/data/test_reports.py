from recurrent_mt.data.reports import SideStatistics, as_markdown, count_side
from tests.commands import call


def test_counts():
    side = count_side(["a b a\n", "\n", "c d d d\n"], {"a", "b"})
    assert side == SideStatistics(sentences=3, tokens=7, longest=4, types=4, unknown_tokens=4, unknown_types=2)


def test_a_file_that_is_not_utf_8_is_named_with_its_line(tmp_path):
    (tmp_path / "test.fr").write_bytes(b"un\ntrois\xff\n")
    for language in ("fr", "en"):
        (tmp_path / f"dict.{language}.txt").write_text("un 1\n")
    folders = ("--prepared", tmp_path, "--dictionaries", tmp_path, "--splits", "test", "--out", tmp_path / "report.md")
    done = call("data-report", *folders, "--source-lang", "fr", "--target-lang", "en")
    assert done.returncode == 1 and f"{tmp_path}/test.fr, line 2: byte 6 is not UTF-8" in done.stderr


def test_markdown():
    side = SideStatistics(sentences=4, tokens=1000, longest=400, types=90, unknown_tokens=25, unknown_types=20)
    text = as_markdown({("test", "fr"): side}, {"fr": 3000, "en": 10})
    assert "3,000 tokens of fr, 10 tokens of en" in text
    assert "| test | fr | 4 | 1,000 | 250.0 | 400 | 90 | 25 (2.50%) | 20 |" in text
