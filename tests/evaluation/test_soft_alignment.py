import numpy as np
import pytest

from recurrent_mt.evaluation.alignment import SoftAlignment

WEIGHTS = np.array([[0.7, 0.1, 0.1, 0.1], [0.2, 0.3, 0.4, 0.1], [0.0, 0.2, 0.2, 0.6]])


def alignment(source="ter@@ rier blanc </s>", target="ter@@ rier </s>", weights=WEIGHTS):
    return SoftAlignment(0, tuple(source.split()), tuple(target.split()), np.array(weights))


def test_pieces_are_summed_over_the_source_and_averaged_over_the_target():
    merged = alignment().merged("bpe")
    assert (merged.source, merged.target) == (("terrier", "blanc", "</s>"), ("terrier", "</s>"))
    # (.7 + .1 + .2 + .3) / 2, (.1 + .4) / 2, (.1 + .1) / 2; the second row is summed only.
    np.testing.assert_allclose(merged.weights, [[0.65, 0.25, 0.1], [0.2, 0.2, 0.6]])


def test_words_stay_as_they_are():
    assert alignment().merged(None).weights is not None
    np.testing.assert_array_equal(alignment().merged(None).weights, WEIGHTS)


def test_the_end_of_the_sentence_is_no_word():
    assert (alignment().source_words, alignment().target_words) == (3, 2)
    cut_off = alignment(source="a b c d", target="e f g")
    assert (cut_off.source_words, cut_off.target_words) == (4, 3)


def test_an_empty_translation():
    empty = SoftAlignment(0, ("a", "</s>"), (), np.zeros((0, 2)))
    assert empty.merged("bpe").weights.shape == (0, 2)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (WEIGHTS * [[1], [0.5], [1]], r"the weights of target token 1 \('rier'\) are no distribution"),
        (np.where(WEIGHTS == 0.7, np.nan, WEIGHTS), r"the weights of target token 0"),
        (WEIGHTS + np.array([[0], [0], [1]]) * [-0.1, 0.1, 0, 0], r"the weights of target token 2"),
    ],
)
def test_what_is_no_alignment_is_named(weights, message):
    with pytest.raises(ValueError, match=message):
        alignment(weights=weights)
