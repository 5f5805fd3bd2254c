import numpy as np
import pytest
from matplotlib.patches import Rectangle

from recurrent_mt.evaluation.alignment import (
    GoldLinks,
    SoftAlignment,
    hard_links,
    measure_entropies,
    read_gold_links,
    score_links,
)
from recurrent_mt.evaluation.alignment_figures import alignment_table, draw_heat_map, score_alignments
from recurrent_mt.evaluation.tables import select
from recurrent_mt.text_files import FileError
from tests.evaluation.logs import write

WEIGHTS = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]])


def aligned(*rows, source="a b c", target="x y z"):
    """An alignment with these weights; the last column and the last row are those of ``</s>``."""
    tokens = [(*side.split(), "</s>") for side in (source, target)]
    return SoftAlignment(0, *tokens, np.array(rows, dtype=float))


def one_hot(*positions, source="a b c", target="x y z"):
    return aligned(*np.eye(len(source.split()) + 1)[list(positions)], source=source, target=target)


def gold(sure, possible=()):
    return GoldLinks(frozenset(sure), frozenset(sure) | frozenset(possible))


def test_each_target_word_has_one_link():
    weights = [[0.1, 0.6, 0.2, 0.1], [0.3, 0.3, 0.1, 0.3], [0.0, 0.1, 0.2, 0.7], [1, 0, 0, 0]]
    # The first of equals; the end of the sentence takes no part, whatever its weight.
    assert hard_links(aligned(*weights)) == {(1, 0), (0, 1), (2, 2)}


def test_sentences_without_words_have_no_links():
    assert hard_links(one_hot(0, target="")) == frozenset()
    assert hard_links(one_hot(0, 0, source="", target="x")) == frozenset()


def test_error_rate_by_hand():
    # A = {0-0, 1-1, 2-2}, S = {0-0, 1-2}, P = S + {1-1}: |A∩S| = 1, |A∩P| = 2, AER = 1 − (1 + 2) / (3 + 2).
    score = score_links([one_hot(0, 1, 2, 3)], [gold([(0, 0), (1, 2)], [(1, 1)])])
    assert score.error_rate == pytest.approx(40)
    assert score.precision == pytest.approx(200 / 3)
    assert score.recall == pytest.approx(50)
    assert (score.links, score.sure_links) == (3, 2)


def test_with_sure_links_alone_it_is_one_minus_f1_over_all_sentences():
    alignments = [one_hot(0, 1, 2, 3), one_hot(0, 1, source="a b", target="x")]
    score = score_links(alignments, [gold([(0, 0), (1, 1), (1, 2), (2, 1)]), gold([(1, 0)])])
    # Two of 4 links right, two of 5 gold links found.
    assert score.error_rate == pytest.approx(100 * (1 - 2 * 2 / (4 + 5)))
    assert (score.precision, score.recall) == (pytest.approx(50), pytest.approx(40))


def test_perfect_and_empty():
    assert score_links([one_hot(0, 1, 2, 3)], [gold([(0, 0), (1, 1), (2, 2)])]).error_rate == 0
    nothing = score_links([one_hot(0, target="")], [gold([])])
    assert (nothing.error_rate, nothing.precision, nothing.recall) == (0, 100, 100)
    assert score_links([one_hot(0, 1, 2, 3)], [gold([])]).error_rate == 100


def test_links_of_other_sentences_are_refused():
    with pytest.raises(ValueError, match="1 alignments, but gold links of 2 sentences"):
        score_links([one_hot(0, 1, 2, 3)], [gold([])] * 2)
    for link in ((3, 0), (0, 3)):
        with pytest.raises(ValueError, match=f"sentence 0 has 3 source .* a gold link {link[0]}-{link[1]}"):
            score_links([one_hot(0, 1, 2, 3)], [gold([link])])


def test_links_without_a_zero_are_noticed(caplog):
    alignments = [one_hot(0, 1, 2, 3)] * 2
    score_links(alignments, [gold([(1, 1)]), gold([(2, 0)])])
    score_links(alignments, [gold([])] * 2)
    assert not caplog.messages
    score_links(alignments, [gold([(1, 1)]), gold([(2, 2)])])
    assert caplog.messages == [
        "no gold link has a 0: if they count words from 1, subtract 1 from every number, or AER is wrong"
    ]


def test_gold_links_of_a_file(tmp_path):
    first, empty = read_gold_links(write(tmp_path / "gold", ["0-0 1-2 12?1", ""]))
    assert first == GoldLinks(frozenset({(0, 0), (1, 2)}), frozenset({(0, 0), (1, 2), (12, 1)}))
    assert empty == GoldLinks(frozenset(), frozenset())


@pytest.mark.parametrize("bad", ["0-0 1:2", "a-b", "0-", "-1-2", "1-2-3"])
def test_what_is_no_link_is_named(tmp_path, bad):
    with pytest.raises(FileError, match="line 2: expected links such as 0-0"):
        read_gold_links(write(tmp_path / "gold", ["0-0", bad]))


def test_entropy_by_hand():
    found = measure_entropies(aligned([0.25] * 4, [0, 1, 0, 0], [0.5, 0, 0.5, 0], [1, 0, 0, 0]))
    np.testing.assert_allclose(found, [2, 0, 1])
    assert not np.signbit(found).any()
    assert measure_entropies(one_hot(0, target="")).shape == (0,)


def test_scores_of_alignments():
    alignments = [aligned([0.25] * 4, [0, 1, 0, 0], [0.5, 0, 0.5, 0], [1, 0, 0, 0]), one_hot(0, target="")]
    records = score_alignments("x", alignments, [gold([(0, 0), (1, 1), (0, 2)]), gold([])])
    entropy, uniform, error_rate, *_ = select(records, by="all").itertuples()
    assert (entropy.value, uniform.value) == (pytest.approx(1), pytest.approx(2))
    assert (entropy.n, error_rate.value) == (3, 0)
    assert list(select(records, by="sentence")["value"]) == [pytest.approx(1), pytest.approx(float("nan"), nan_ok=True)]
    table = alignment_table(records)
    assert [str(cell) for cell in table.rows[0]] == ["2", "3", "1.00", "2.00", "0.0", "100.0", "100.0", "3", "3"]


def test_scores_without_words_and_gold_links():
    table = alignment_table(score_alignments("x", [one_hot(0, target="")]))
    assert table.header == ["System", "sentences", "target words", "entropy, bits", "uniform entropy, bits"]
    assert [str(cell) for cell in table.rows[0]] == ["1", "0", "–", "–"]


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
