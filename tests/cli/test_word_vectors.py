"""recurrent-mt word-vectors as users call it: vectors of one language, mapped and joint vectors, a model with them."""

from __future__ import annotations

import re

import pytest
from fairseq import utils

from recurrent_mt.data.synthetic import generate
from recurrent_mt.data.synthetic.lexicon import lexicon
from recurrent_mt.data.word_vectors import frequent_words
from tests.cli import toy
from tests.commands import call
from tests.once import build_once

SIZES = ("--size", 24, "--epochs", 12)


def pretrain(*arguments, fresh=False):
    return toy.run("recurrent-mt", "word-vectors", *arguments, fresh=fresh)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A corpus, its dictionaries, lexicons of nouns, and vectors of its source side in src.vec."""
    pytest.importorskip("gensim", reason="gensim has no release for this Python")
    return build_once(tmp_path_factory, "pretrain", write_folder)


def write_folder(folder):
    for split, size in (("train", 2500), ("valid", 5), ("test", 5)):
        lines = [(" ".join(p.source_tokens), " ".join(p.target_tokens)) for p in generate("fr-en", {split: size})]
        for ending, side in zip(("src", "tgt"), zip(*lines)):
            (folder / f"{split}.{ending}").write_text("\n".join(side) + "\n")
    toy.preprocess(folder, folder / "data", "--nwordssrc", 900, "--nwordstgt", 700)
    nouns = [f"{noun.en}\t{noun.fr}\n" for noun in lexicon().nouns if " " not in noun.en + noun.fr]
    (folder / "seed").write_text("".join(nouns[1::2]))
    (folder / "held-out").write_text("".join(nouns[::2]))
    dictionary = folder / "data/dict.src.txt"
    done = pretrain("--text", folder / "train.src", "--dictionary", dictionary, "--out", folder / "src.vec", *SIZES)
    assert re.search(r"tokens, \d+\.\d\d% <unk>; 0 of 896 words do not occur", done.stdout)
    assert f"{folder}/src.vec: 898 vectors of 24 numbers" in done.stdout
    return folder


def test_a_model_learns_from_the_vectors(folder, tmp_path):
    log = toy.train(
        *(folder / "data", tmp_path, "--arch", "gru_encoder", "--encoder-embed-path", folder / "src.vec"),
        *("--encoder-freeze-embed", "--max-update", 2),
    )
    # All but the begin symbol, padding and the four words with which fairseq-preprocess fills a dictionary up.
    assert re.search(r"found 898/904 types in embedding file", log.stdout + log.stderr)
    assert (tmp_path / "checkpoint_last.pt").is_file()


def test_a_process_with_another_hash_seed_writes_the_same_file(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    pretrain(
        *("--text", folder / "train.src", "--dictionary", folder / "data/dict.src.txt"),
        *("--out", tmp_path / "again.vec", *SIZES),
        fresh=True,
    )
    assert (tmp_path / "again.vec").read_bytes() == (folder / "src.vec").read_bytes()


def test_mapped_vectors_translate_words_outside_the_seed_lexicon(folder, tmp_path):
    done = pretrain(
        *("--text", folder / "train.tgt", "--dictionary", folder / "data/dict.tgt.txt", "--out", tmp_path / "tgt.vec"),
        *("--map-to", folder / "src.vec", "--lexicon", folder / "seed", "--test-lexicon", folder / "held-out", *SIZES),
    )
    used, unused = map(int, re.search(r"mapped on (\d+) pairs of the lexicon; (\d+) have", done.stdout).groups())
    percent, tested = re.search(r"precision@1 on the test lexicon: ([\d.]+)% of (\d+) words", done.stdout).groups()
    assert used > 30 and unused > 30 and int(tested) > 30
    # By chance it is one in 898.
    assert float(percent) > 3
    assert len(utils.parse_embedding(str(tmp_path / "tgt.vec"))) == 698


def test_words_of_both_languages_share_one_space(folder, tmp_path):
    """Words of either side; without a dictionary, rare ones are unknown."""
    texts = [folder / "train.src", folder / "train.tgt"]
    # Afresh: fairseq, which a warm process has imported, turns the log on.
    done = pretrain("--text", *texts, "--min-count", 20, "--out", tmp_path / "joint.vec", *SIZES, fresh=True)
    vectors = utils.parse_embedding(str(tmp_path / "joint.vec"))
    assert {"les", "the"} < vectors.keys() == frequent_words(texts, 20) | {"</s>", "<unk>"}
    assert f"joint.vec: {len(vectors)} vectors" in done.stdout and "INFO | gensim" not in done.stderr


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A text, a lexicon of one pair, a dictionary that the text lacks a word of, and vectors of two numbers."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "text").write_text("le chat dort\n" * 5)
    (folder / "seed").write_text("cat\tchat\n")
    (folder / "strangers").write_text("nobody 3\n")
    (folder / "vec").write_text("1 2\nchat 1 0\n")
    return folder


@pytest.mark.parametrize("read", ["text", "vec", "seed"])
def test_what_vectors_are_made_of_is_not_overwritten(read, small):
    before = (small / read).read_bytes()
    others = ("--map-to", small / "vec", "--lexicon", small / "seed", "--size", 2)
    done = call("word-vectors", "--text", small / "text", *others, "--out", small / read)
    assert done.returncode == 1 and f"{small / read} would be overwritten: choose another --out" in done.stderr
    assert (small / read).read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--map-to", "{}/vec"], 2, "--map-to and --lexicon need each other"),
        (["--test-lexicon", "{}/seed"], 2, "--test-lexicon needs --map-to and --lexicon"),
        (["--dictionary", "{}/strangers", "--min-count", "2"], 2, "not allowed with argument --dictionary"),
        (["--map-to", "{}/vec", "--lexicon", "{}/text"], 1, "text, line 1: expected a word and its translation"),
        (["--map-to", "{}/vec", "--lexicon", "{}/seed"], 1, "--size 512 cannot be mapped onto the 2 numbers of"),
        (["--dictionary", "{}/nowhere"], 1, "nowhere"),
        (["--dictionary", "{}/strangers"], 1, "strangers occurs in"),
        (["--size", "0"], 1, "--size must be at least 1, not 0"),
    ],
)
def test_bad_options_of_word_vectors_are_refused_by_name(small, tmp_path, arguments, status, message):
    line = ["--text", f"{small}/text", "--out", f"{tmp_path}/x.vec", *(word.format(small) for word in arguments)]
    done = call("word-vectors", *line)
    assert done.returncode == status and message in done.stderr
    assert not (tmp_path / "x.vec").exists()
