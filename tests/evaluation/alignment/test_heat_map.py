import numpy as np
import pytest
from matplotlib.patches import Rectangle

from recurrent_mt.evaluation.alignment.heat_map import draw_heat_map
from recurrent_mt.evaluation.alignment.soft_alignment import SoftAlignment

WEIGHTS = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]])


def drawn(**options):
    figure = draw_heat_map(SoftAlignment(0, ("l'", "été", "</s>"), ("summer", "</s>"), WEIGHTS), **options)
    figure.draw_without_rendering()
    return figure, figure.axes[0]


def test_source_across_target_down_black_to_white():
    _, axes = drawn(source_title="French", target_title="English")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["l'", "été", "</s>"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["summer", "</s>"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("French", "English")
    (image,) = axes.images
    np.testing.assert_array_equal(image.get_array(), WEIGHTS)
    assert image.get_clim() == (0, 1)
    assert image.cmap(0.0)[:3] == (0, 0, 0) and image.cmap(1.0)[:3] == (1, 1, 1)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_gold_links_are_framed():
    figure, axes = drawn(gold=[(1, 0)])
    (frame,) = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert frame.get_center().tolist() == pytest.approx([1, 0])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["gold link"]
    assert not drawn()[0].legends


def test_no_label_is_cut_off():
    words = ("anticonstitutionnellement", "été")
    figure = draw_heat_map(SoftAlignment(0, words, ("Donaudampfschifffahrt",), np.array([[0.5, 0.5]])), gold=[(0, 0)])
    figure.draw_without_rendering()
    width, height = figure.bbox.size
    for label in [*figure.axes[0].get_xticklabels(), *figure.axes[0].get_yticklabels()]:
        box = label.get_window_extent()
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, label.get_text()


def test_nothing_to_draw_is_named():
    with pytest.raises(ValueError, match="sentence 4 has 0 target and 1 source tokens"):
        draw_heat_map(SoftAlignment(4, ("a",), (), np.zeros((0, 1))))
