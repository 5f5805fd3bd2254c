import pytest

from recurrent_mt.data.words import make_tokenizer
from recurrent_mt.subwords import find_scheme, load_bpe, load_sentencepiece, merge_pieces, require_scheme, word_numbers

CASES = {
    "bpe": ("bpe", "un ter@@ ri@@ er blanc", [0, 1, 1, 1, 2], "un terrier blanc"),
    "bpe, end": ("bpe", "ter@@ rier </s>", [0, 0, 1], "terrier </s>"),
    "bpe cut off": ("bpe", "ter@@ </s>", [0, 1], "ter </s>"),
    "sentencepiece": ("sentencepiece", "▁un ▁ter ri er ▁blanc </s>", [0, 1, 1, 1, 2, 3], "un terrier blanc </s>"),
    "the mark alone": ("sentencepiece", "▁ 中国 人 ▁a", [0, 0, 0, 1], "中国人 a"),
    "no mark at first": ("sentencepiece", "a ▁b", [0, 1], "a b"),
    "words": (None, "a@@ ▁b", [0, 1], "a@@ ▁b"),
    "nothing": ("bpe", "", [], ""),
}


@pytest.mark.parametrize(("scheme", "pieces", "numbers", "words"), CASES.values(), ids=CASES)
def test_pieces_of_words(scheme, pieces, numbers, words):
    pieces = pieces.split()
    assert word_numbers(pieces, scheme) == numbers
    assert merge_pieces(pieces, numbers, scheme) == words.split()


@pytest.mark.parametrize(
    ("scheme", "lines"),
    [
        ("bpe", ["le chi@@ en", "un"]),
        ("sentencepiece", ["▁le ▁chi en", "", "▁un"]),
        (None, ["le chien", ""]),
        (None, []),
        (None, ["un ▁ mot", "deux"]),
    ],
)
def test_the_scheme_of_sentences_is_found_by_their_marks(scheme, lines):
    assert find_scheme([line.split() for line in lines]) == scheme


@pytest.mark.parametrize(
    ("scheme", "pieces", "found"),
    [
        ("sentencepiece", "le chi@@ en", "bpe"),
        ("sentencepiece", "le chien", "no segmentation"),
        ("bpe", "▁le ▁chi en", "sentencepiece"),
        ("bpe", "▁le chi@@ en", None),
        ("bpe", "le chien", None),
        ("sentencepiece", "a ▁b </s>", None),
        ("sentencepiece", "</s>", None),
        (None, "▁le ▁chi en", None),
    ],
)
def test_pieces_of_another_scheme_are_refused(scheme, pieces, found):
    if found is None:
        require_scheme([pieces.split()], scheme)
        return
    with pytest.raises(ValueError, match=f"--segmentation {scheme}: the tokens have the marks of {found}"):
        require_scheme([["</s>"], pieces.split()], scheme)


def test_bpe_cuts_no_character_that_moses_escapes(tmp_path):
    (tmp_path / "codes").write_text("#version: 0.2\n& a\n", encoding="utf-8")
    words = make_tokenizer("en").tokenize("""R&D | <b> [x] "y" 'z' it's""")
    pieces = load_bpe(tmp_path / "codes")(words)
    assert pieces == (
        "R &amp; D &#124; &lt; b &gt; &#91; x &#93; &quot; y &quot; &apos; z &apos; i@@ t &a@@ p@@ o@@ s@@ ;@@ s"
    )


def test_a_byte_order_mark_is_no_part_of_the_codes(tmp_path):
    merges = "#version: 0.2\nt s</w>\n"
    for name, encoding in (("plain", "utf-8"), ("marked", "utf-8-sig")):
        (tmp_path / name).write_text(merges, encoding=encoding)
    plain, marked = (load_bpe(tmp_path / name) for name in ("plain", "marked"))
    assert marked("cats") == plain("cats") == "c@@ a@@ ts"


@pytest.mark.parametrize("content", [None, b"", b"\xb1 of something else"])
def test_a_file_of_something_else_is_no_model(content, tmp_path):
    file = tmp_path / "model"
    if content is not None:
        file.write_bytes(content)
        with pytest.raises(ValueError, match="model is no file of subword-nmt's codes"):
            load_bpe(file)
    with pytest.raises(ValueError, match="model is missing, or no SentencePiece model"):
        load_sentencepiece(file)
