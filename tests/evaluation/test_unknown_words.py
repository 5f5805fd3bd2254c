import pytest

from recurrent_mt.evaluation.translated_files import count_unknown
from recurrent_mt.text_files import FileError, read_dictionary


def test_counts_what_fairseq_replaces(tmp_path):
    """fairseq's own Dictionary, on the same file, finds as many unknown words."""
    from fairseq.data import Dictionary

    path = tmp_path / "dict.en.txt"
    path.write_text("cat 12\na 7\nmadeupword0000 0\nNew 3 #fairseq:overwrite\n", encoding="utf-8")
    sentences = [["a", "cat"], ["the", "cat", "<unk>"], [], ["New", "madeupword0000", "a"]]
    known = Dictionary.load(str(path))
    expected = [sum(known.index(word) == known.unk() for word in words) for words in sentences]
    expected[3] += 1  # a symbol that only rounds the size up is no word
    text = tmp_path / "test.en"
    text.write_text("".join(f"{' '.join(words)}\n" for words in sentences), encoding="utf-8")
    unknown = count_unknown([text] * 2, [read_dictionary(path), {}])
    assert unknown.source == expected == [0, 2, 0, 1]
    assert unknown.reference == [2, 3, 0, 3]


def test_sides_of_a_run(tmp_path):
    files = [tmp_path / "test.fr", tmp_path / "test.en"]
    for file, words in zip(files, ("un chat rouge\n\n", "a red cat\na\n")):
        file.write_text(words)
    unknown = count_unknown(files, [{"chat", "a"}] * 2)
    assert (unknown.source, unknown.reference) == ([2, 0], [2, 0])
    files[1].write_text("a\n")
    with pytest.raises(FileError, match=r"1 lines, but .*test\.fr has 2"):
        count_unknown(files, [{"chat", "a"}] * 2)
