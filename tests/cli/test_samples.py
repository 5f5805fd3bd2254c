"""recurrent-mt samples: which sentences it chooses, and how it shows them."""

import pytest

from recurrent_mt.cli.samples import choose_samples
from recurrent_mt.evaluation.translated_files import TestSet, read_translations
from tests.commands import call


def test_the_best_the_median_and_the_worst_are_chosen_and_the_earlier_of_equal_ones():
    scores = [50.0, 90.0, 10.0, 50.0, 0.0, 90.0, 50.0]
    assert choose_samples(scores, 1) == {"Best": [1], "Median": [3], "Worst": [4]}
    assert choose_samples(scores, 2) == {"Best": [1, 5], "Median": [0, 3], "Worst": [2, 4]}


@pytest.fixture
def files(tmp_path):
    texts = {
        "fr": ["un chien", "un chat noir", "deux hommes"],
        "en": ["a dog", "a black cat", "two men"],
        "mine": ["a dog", "a black bat", "zzz"],
        "other": ["zzz", "a cat", "two men"],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def words(files, *systems):
    named = [word for name in systems for word in ("--system", f"{name}={files / name}")]
    return ["samples", "--source", files / "fr", "--reference", files / "en", *named]


def test_every_system_is_shown_with_its_score_and_the_first_one_decides(files):
    done = call(*words(files, "mine", "other"), "--count", 1)
    assert done.returncode == 0, done.stderr
    best, median, worst = done.stdout.split("### ")[1:]
    assert best.startswith("Best\n\n- line 1, source: un chien  \n  reference: a dog  \n  mine (100): a dog  \n")
    assert best.endswith("  other (0): zzz  \n\n")
    assert median.startswith("Median\n\n- line 2, source: un chat noir") and "mine (56): a black bat" in median
    assert worst.startswith("Worst\n\n- line 3, source: deux hommes") and "mine (0): zzz" in worst


def test_an_unknown_word_is_one_wrong_word_as_for_the_other_tools(files):
    (files / "mine").write_text("a dog\na black <unk>\nzzz\n")
    done = call(*words(files, "mine"), "--count", 1)
    test_set = TestSet(["a black cat"], target_language="", lowercase=False)
    translations = read_translations(files / "mine")
    (score,) = test_set.count("chrf", translations[1:2]).score_sentences()
    assert f"  mine ({score:.0f}): a black ⁇  \n" in done.stdout


def test_nothing_in_a_text_is_markup(files):
    (files / "fr").write_text("un chien <!-- *\nun chat noir\ndeux hommes\n")
    (files / "mine").write_text("a <b>dog</b>\na black bat\nzzz\n")
    text = call(*words(files, "mine"), "--count", 1).stdout
    assert r"source: un chien \<!-- \*  " in text and r": a \<b>dog\</b>  " in text


def test_files_that_do_not_fit_are_named(files):
    assert "3 sentences, too few for 3 x 2 samples" in call(*words(files, "mine"), "--count", 2).stderr
    with (files / "mine").open("a") as file:
        file.write("one more\n")
    done = call(*words(files, "mine"), "--count", 1)
    assert done.returncode == 1 and str(files / "mine") in done.stderr and "4" in done.stderr
