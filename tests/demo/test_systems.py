"""What the page shows of a model is what fairseq-generate prints."""

import shutil
import threading

import numpy as np
import pytest

from recurrent_mt.demo.fragments import render_gates
from recurrent_mt.translation.loading import load_checkpoint
from tests.checkpoints.checkpoints import small_checkpoint
from tests.checkpoints.generation import make_generate
from tests.cli import toy
from tests.parity.made_up import made_up
from user_dir.cli.import_groundhog import import_model

SOURCES = ["s1 s2 s3 s4", "s5 never-seen s6"]
TARGETS = ["t1 t2", "t3 never-seen t4 t5"]


@pytest.fixture(scope="module")
def generate(paths, tmp_path_factory):
    """What fairseq-generate prints of a model for the sentences: all models have the same dictionaries."""
    run = make_generate(tmp_path_factory.mktemp("data"), paths["fixed"].parent, SOURCES, TARGETS)
    return lambda name, **search: run(paths[name], **search)


def numbers(line):
    return [float(text) for text in line.split()]


@pytest.mark.parametrize("name", ["attentive", "fixed", "pyramid"])
def test_scores_and_lists_are_those_of_fairseq_generate(systems, generate, name):
    printed = generate(name, max_len_a=2, max_len_b=10, lenpen=0.6, nbest=2).splitlines()
    for number, source in enumerate(SOURCES):
        expected = [line.split("\t")[1:] for line in printed if line.startswith(f"H-{number}\t")]
        listed = systems[name].read(source, beam=3, length_penalty=0.6, count=2).hypotheses
        assert [one.text.replace("⁇", "<unk>") for one in listed] == [text for _, text in expected]
        assert [one.score for one in listed] == pytest.approx([float(score) for score, _ in expected], abs=1e-5)


@pytest.mark.parametrize("name", ["attentive", "fixed"])
def test_forced_words_have_the_log_probabilities_of_fairseq_generate(systems, generate, name):
    printed = generate(name, score_reference=True)
    for number, (source, target) in enumerate(zip(SOURCES, TARGETS)):
        forced = systems[name].score(source, target)
        assert [word.text for word in forced] == [*target.split(), "</s>"]
        expected = numbers(toy.lines(printed, "P")[number])
        assert [word.log_probability for word in forced] == pytest.approx(expected, abs=6e-5)


def test_a_forced_word_names_what_the_model_prefers_unless_that_is_the_word(systems):
    system = systems["fixed"]
    best = system.read(SOURCES[0], beam=1, length_penalty=1, count=1)
    own = " ".join(word.text for word in best.target[:-1])
    # An untrained model's translation ends where the search makes it end.
    assert [word.preferred for word in system.score(SOURCES[0], own)[:-1]] == [""] * len(own.split())
    assert own.split()[0] != "t9"
    assert system.score(SOURCES[0], "t9 t1")[0].preferred == own.split()[0]


def test_words_that_a_model_does_not_know_are_marked(systems):
    reading = systems["attentive"].read(f"{SOURCES[1]} <pad>", beam=2, length_penalty=1, count=1)
    assert [word.known for word in reading.source] == [True, False, True, False, True]
    scored = systems["attentive"].score(SOURCES[0], f"{TARGETS[1]} <pad>")
    assert [word.known for word in scored] == [True, False, True, True, False, True]


def test_only_attention_has_alignments_and_only_a_pyramid_has_gates(systems):
    readings = {name: one.read(SOURCES[0], beam=2, length_penalty=1, count=1) for name, one in systems.items()}
    assert {name: reading.has_attention for name, reading in readings.items()} == {
        "attentive": True,
        "fixed": False,
        "pyramid": False,
    }
    assert readings["attentive"].alignment.source == (*SOURCES[0].split(), "</s>")
    assert readings["fixed"].alignment is None
    assert readings["pyramid"].gates.leaves == (*SOURCES[0].split(), "</s>")
    assert readings["attentive"].gates is None


def test_a_dilated_grconv_has_windows_to_draw(tmp_path):
    small_checkpoint(tmp_path, "grconv_encoder", grconv_dilated=True, encoder_hidden_size=6)
    system = load_checkpoint("dilated", tmp_path / "checkpoint.pt")
    reading = system.read(SOURCES[0], beam=2, length_penalty=1, count=1)
    assert reading.gates.leaves == (*SOURCES[0].split(), "</s>")
    page = render_gates({"dilated": reading})
    assert "Windows of dilated" in page and "Each circle is a window of words" in page and "yramid" not in page


def test_a_cut_sentence_is_translated_as_if_it_were_all(systems):
    for system in systems.values():
        cuts = system.cut(SOURCES[0], beam=2)
        assert [cut.source for cut in cuts] == ["s1", "s1 s2", "s1 s2 s3", "s1 s2 s3 s4"]
        for cut in cuts:
            (alone,) = system.read(cut.source, beam=2, length_penalty=1, count=1).hypotheses
            assert cut.translation == alone.text
            assert cut.score == pytest.approx(alone.score, abs=1e-5)


def test_a_sentence_that_is_too_long_is_refused_with_both_numbers(systems):
    with pytest.raises(ValueError, match=r"This has 1,001 tokens; fixed takes 63\. Shorten it\."):
        systems["fixed"].read("s1 " * 1001, beam=2, length_penalty=1, count=1)


def test_users_at_the_same_time_get_their_own_answers(systems):
    system = systems["attentive"]
    sentences = [f"s{number} s{number + 1} s{9 - number}" for number in range(8)]
    alone = [system.read(text, beam=3, length_penalty=1, count=3).hypotheses for text in sentences]
    together = {}

    def ask(number):
        together[number] = system.read(sentences[number], beam=3, length_penalty=1, count=3).hypotheses

    users = [threading.Thread(target=ask, args=[number]) for number in range(len(sentences))]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert [together[number] for number in range(len(sentences))] == alone


@pytest.mark.parametrize("kind", ["rnnsearch", "grconv"])
def test_the_authors_imported_models_are_read_beside_the_others(kind, tmp_path):
    arrays, _ = made_up(kind, {"H": 10, "E": 7, "S": 23, "T": 31}, seed=1)
    np.savez(tmp_path / "params.npz", **arrays)
    import_model(tmp_path / "params.npz", tmp_path / "model")
    system = load_checkpoint("imported", tmp_path / "model" / "checkpoint.pt")
    assert system.form is None and system.languages == ("src", "tgt")
    reading = system.read("3 4 9", beam=2, length_penalty=1, count=2)
    assert [word.text for word in reading.source] == ["3", "4", "9", "</s>"]
    assert (reading.has_attention, reading.gates is None) == (kind == "rnnsearch", kind == "rnnsearch")
    assert [word.text for word in system.score("3 4 9", "5 6")] == ["5", "6", "</s>"]


def test_pieces_are_read_and_shown_as_words(paths, tmp_path):
    """A run folder says how its text is split, joined and written."""
    subwords = pytest.importorskip("subword_nmt.learn_bpe")
    run = tmp_path / "run"
    (run / "text").mkdir(parents=True)
    shutil.copytree(paths["attentive"].parent, run / "data")
    options = {"SOURCE_LANG": "src", "TARGET_LANG": "tgt", "SEGMENTATION": "bpe:2", "TOKENIZER": "none"}
    (run / "options").write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    with (run / "text" / "segmentation.model").open("w") as codes:
        subwords.learn_bpe(["aa aa aa"], codes, 1, min_frequency=1)
    system = load_checkpoint("bpe", run / "data" / "checkpoint.pt")
    assert system.form.segmentation == "bpe"
    assert system.split("s1 s2") == "s@@ 1 s@@ 2"
    reading = system.read("s1 s2", beam=2, length_penalty=1, count=1)
    assert [word.text for word in reading.source] == ["s1", "s2", "</s>"]
    assert reading.alignment.source == ("s1", "s2", "</s>")
    assert [word.text for word in system.score("s1", "t1 t2")] == ["t1", "t2", "</s>"]
    assert [word.known for word in system.score("s1", "t1 t2")] == [False, False, True]
    pieces = system.score("s1", "t1", pieces=True)
    assert [(piece.text, piece.known) for piece in pieces] == [("t@@", False), ("1", False), ("</s>", True)]
    assert system.align("s1", "t1 t2").target == ("t1", "t2", "</s>")
