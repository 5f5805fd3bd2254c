import threading

import matplotlib
import numpy as np
import pandas
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from recurrent_mt.evaluation.alignment import SoftAlignment
from recurrent_mt.evaluation.figures import (
    choose_examples,
    save_figure,
    using_settings,
)
from recurrent_mt.evaluation.training import draw_learning_curves
from recurrent_mt.translation.figures import draw_cuts, draw_heat_map, draw_sentence, group_cuts
from recurrent_mt.translation.model import Cut
from tests.evaluation.structure.pyramids import random_pyramid, random_windows


def test_dollar_signs_in_words_are_no_formulas():
    word = r"$\x$"
    words = (word, "b", "c")
    figures = [
        draw_heat_map(SoftAlignment(0, words, words, np.eye(3))),
        *(draw_sentence(make(words, 1)) for make in (random_windows, random_pyramid)),
        draw_learning_curves({word: pandas.DataFrame([[1.0]], index=[1])}),
        draw_cuts({word: [Cut(1, word, "a", -1.0)]}),
    ]
    for figure in figures:
        figure.canvas.draw()
        texts = [text for text in figure.findobj(Text) if text.get_text() == word]
        assert texts and not any(text.get_parse_math() for text in texts)


def test_cuts_of_other_words_do_not_share_a_figure():
    cuts = {
        "moses": [Cut(1, "L'", "a", -1.0), Cut(2, "L' homme", "a", -1.0)],
        "pieces": [Cut(1, "L'homme", "a", -1.0)],
        "again": [Cut(1, "l'", "a", -1.0), Cut(2, "l' homme", "a", -1.0)],
    }
    assert [list(group) for group in group_cuts(cuts)] == [["moses", "again"], ["pieces"]]
    with pytest.raises(ValueError, match="moses and pieces split the sentence into other words"):
        draw_cuts(cuts)


def test_examples_are_the_first_sentences_of_five_to_twelve_tokens():
    assert choose_examples([4, 5, 13, 12, 8, 7], 3) == [1, 3, 4]
    assert choose_examples([4, 5], 3) == [1] and choose_examples([5], 0) == []


@pytest.mark.parametrize("name", ["curves", "curves.v2", ".svg"])
def test_a_name_that_no_format_follows_from_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=f"{name}: the name of a figure must end in .svg, .png, or .pdf"):
        save_figure(Figure(), tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.b.pdf", b"%PDF")])
def test_figures_take_their_format_from_the_name(tmp_path, name, start):
    save_figure(Figure(), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_settings_of_one_thread_do_not_outlast_it_in_another():
    """As in the demo, which draws for several users: what the second puts back is what was before the first."""
    before, entered, left = matplotlib.rcParams["svg.fonttype"], threading.Event(), threading.Event()

    def draw_second():
        with using_settings({"font.size": 7}):
            entered.set()
            left.wait(5)

    with using_settings({"svg.fonttype": "none"}):
        second = threading.Thread(target=draw_second)
        second.start()
        entered.wait(0.2)
    left.set()
    second.join()
    assert entered.is_set() and matplotlib.rcParams["svg.fonttype"] == before
