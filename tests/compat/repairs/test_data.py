"""What fairseq makes of a text, and which texts belong together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fairseq.data import Dictionary

from tests.cli import toy

from .commands import preprocess


def test_a_text_has_no_padding():
    dictionary = Dictionary()
    dictionary.add_symbol("dog")
    encoded = dictionary.encode_line("<pad> dog <pad>", add_if_not_exist=False)
    assert encoded.tolist() == [dictionary.unk(), dictionary.index("dog"), dictionary.unk(), dictionary.eos()]
    # As fairseq's BART and RoBERTa write the ends of a sentence.
    ends = dictionary.encode_line("<s> dog </s>", append_eos=False, add_if_not_exist=False)
    assert ends.tolist() == [dictionary.bos(), dictionary.index("dog"), dictionary.eos()]
    grown = Dictionary()
    assert grown.encode_line("<pad> cat", line_tokenizer=str.split).tolist() == [grown.unk(), 4, grown.eos()]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    toy.write_corpus(tmp_path, train=30)
    return tmp_path


@pytest.mark.parametrize(("name", "counts"), [("train", (30, 29)), ("test", (20, 19))])
def test_fairseq_preprocess_names_the_files_and_their_lengths(name: str, counts: tuple[int, int], corpus: Path):
    first, second = (corpus / f"{name}.{language}" for language in ("src", "tgt"))
    second.write_text("".join(second.read_text().splitlines(keepends=True)[:-1]))
    message = f"{first} has {counts[0]} lines, and {second} has {counts[1]}: line n of one"
    with pytest.raises(ValueError, match=re.escape(message)):
        preprocess(corpus, corpus / "data")
    preprocess(corpus, corpus / "data", "--only-source")
    preprocess(corpus, corpus / "dictionaries", "--dict-only")
