"""SentencePiece as the recipes call it: its pieces are the text again."""

import pytest
import sentencepiece

from recurrent_mt.characters import normalize
from recurrent_mt.cli.sentencepiece import sample_lines, train
from recurrent_mt.subwords import load_sentencepiece
from tests.commands import call, run
from tests.data.tools import SHARED


def joined(pieces):
    """As fairseq's ``--remove-bpe sentencepiece``."""
    return pieces.replace(" ", "").replace("\u2581", " ").strip()


def check_round_trip(lines, folder, size):
    folder.mkdir(exist_ok=True)
    (folder / "text").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    train([folder / "text"], folder / "model", size)
    segment = load_sentencepiece(folder / "model")
    assert [joined(segment(line)) for line in lines] == lines


def test_standard_input_is_split_on_several_processors(tmp_path):
    (tmp_path / "text").write_text("le chat dort\n" * 50)
    train([tmp_path / "text"], tmp_path / "model", 15)
    words = ("recurrent-mt", "sentencepiece", "encode", "--model", tmp_path / "model", "--jobs", 2)
    done = run(*words, text="le chat\n\ndort\n")
    assert done.returncode == 0 and [joined(line) for line in done.stdout.split("\n")] == ["le chat", "", "dort", ""]


def test_of_many_lines_the_same_are_learned_from(tmp_path):
    files = [tmp_path / "one", tmp_path / "other"]
    for file in files:
        file.write_text("".join(f"{file.name} {number}\n" for number in range(50)))
    every = [line for file in files for line in file.read_text().splitlines()]
    chosen = list(sample_lines(files, most=20))
    assert len(set(chosen)) == 20 and chosen == [line for line in every if line in chosen], "in order"
    assert list(sample_lines(files, most=20)) == chosen and list(sample_lines(files, most=100)) == every
    assert {line.split()[0] for line in chosen} == {"one", "other"}


def test_a_model_does_not_take_the_place_of_its_text(tmp_path):
    (tmp_path / "text").write_text("one\n")
    done = call("sentencepiece", "train", "--size", 9, "--model", tmp_path / "text", tmp_path / "text")
    assert done.returncode == 1 and "would be overwritten: choose another --model" in done.stderr


def test_pieces_are_the_text_again(tmp_path):
    """Full-width signs, ligatures and unseen characters too, which SentencePiece's own normalization would change."""
    lines = [f"Le chien n° {number} a vu l’ﬁn ½ à ５ h，对。" for number in range(200)] + ["☃ jamais vu", ""]
    for name in ("one", "other"):
        check_round_trip(lines, tmp_path / name, 60)
    models = [(tmp_path / name / "model").read_bytes() for name in ("one", "other")]
    assert models[0] == models[1], "the model depends on the place of its text"


@pytest.mark.parametrize("name", ["wmt-zh-en/newstest2017.zh", "wmt-fr-en/newstest2013.fr"])
def test_real_text_comes_back_exactly(name, tmp_path):
    if not (SHARED / name).exists():
        pytest.skip("needs the corpora of ../shared")
    lines = [normalize(line) for line in (SHARED / name).read_text(encoding="utf-8").split("\n")[:-1]]
    check_round_trip(lines, tmp_path, 4000)


def test_long_lines_are_learned_from(tmp_path):
    """SentencePiece itself leaves out those of more than 4,192 bytes: 1,400 characters of Thai."""
    (tmp_path / "text").write_text("le chat dort\n" * 50 + "แมวนอนหลับ " * 300 + "\n", encoding="utf-8")
    train([tmp_path / "text"], tmp_path / "model", 40)
    assert joined(load_sentencepiece(tmp_path / "model")("แมว")) == "แมว"
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "model"))
    assert processor.unk_id() not in processor.encode("แมวนอนหลับ")
