import pytest

from recurrent_mt.evaluation.translated_files import count_unknown, read_unknown_words
from recurrent_mt.text_files import FileError, read_dictionary

NAMES = (("test.", ""), ("dict.", ".txt"))


def test_counts_what_fairseq_replaces(tmp_path):
    """fairseq's own Dictionary, on the same file, finds as many unknown words."""
    from fairseq.data import Dictionary

    path = tmp_path / "dict.en.txt"
    path.write_text("cat 12\na 7\nmadeupword0000 0\nNew 3 #fairseq:overwrite\n", encoding="utf-8")
    sentences = [["a", "cat"], ["the", "cat", "<unk>"], [], ["New", "madeupword0000", "a"]]
    known = Dictionary.load(str(path))
    expected = [sum(known.index(word) == known.unk() for word in words) for words in sentences]
    expected[3] += 1  # a symbol that only rounds the size up is no word
    assert count_unknown(sentences, read_dictionary(path)) == expected == [0, 2, 0, 1]


def test_sides_of_a_run(tmp_path):
    for language, words in {"fr": "un chat rouge\n\n", "en": "a red cat\na\n"}.items():
        (tmp_path / f"dict.{language}.txt").write_text("chat 2\na 3\n")
        (tmp_path / f"test.{language}").write_text(words)
    files = [[tmp_path / f"{name}{language}{ending}" for language in ("fr", "en")] for name, ending in NAMES]
    unknown = read_unknown_words(*files)
    assert (unknown.source, unknown.reference) == ([2, 0], [2, 0])
    (tmp_path / "test.en").write_text("a\n")
    with pytest.raises(FileError, match=r"1 lines, but .*test\.fr has 2"):
        read_unknown_words(*files)
