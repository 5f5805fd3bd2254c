"""A word of a text that is written like fairseq's padding symbol is a word, which no model knows."""

import json

from fairseq.data import Dictionary

from tests.cli import toy
from tests.commands import call

TEXT = ["<pad>", "<pad> w1", "w1 <pad> w2 <pad>"]


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


def test_padding_in_text_stops_neither_fairseq_nor_the_tools(tmp_path):
    toy.write_corpus(tmp_path, train=20)
    for side, lines in (("src", TEXT), ("tgt", [line.replace("w", "W") for line in TEXT])):
        with (tmp_path / f"test.{side}").open("a") as file:
            file.writelines(f"{line}\n" for line in lines)
    toy.preprocess(tmp_path, tmp_path / "data")
    model = tmp_path / "save" / "checkpoint_last.pt"
    sizes = [f"--{part}-embed-dim=8" for part in ("encoder", "decoder")]
    lstm = ("--arch", "lstm", *sizes, "--decoder-out-embed-dim", 8, "--max-update", 1)
    toy.run("fairseq-train", tmp_path / "data", *toy.TRAINING, "--save-dir", model.parent, *lstm)
    generated = toy.lines(toy.generate(tmp_path / "data", model).stdout, "T")
    expected = ["<<unk>>", "<<unk>> W1", "W1 <<unk>> W2 <<unk>>"]
    assert [generated[20 + number] for number in range(3)] == expected
    asked = ("--path", model, "--cpu", "--beam", 2)
    shown = toy.run("fairseq-interactive", tmp_path / "data", *asked, text="".join(f"{line}\n" for line in TEXT)).stdout
    assert list(toy.lines(shown, "S").values()) == ["<unk>", "<unk> w1", "w1 <unk> w2 <unk>"]
    files = [f"--{name}={tmp_path / file}" for name, file in (("source", "test.src"), ("target", "test.tgt"))]
    done = call("align", "--checkpoint", model, "--data", tmp_path / "data", *files, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "out" / "alignments.jsonl").read_text().splitlines()]
    assert records[21]["source"] == ["<pad>", "w1", "</s>"]
    assert [len(row) for row in records[21]["weights"]] == [3, 3, 3]
