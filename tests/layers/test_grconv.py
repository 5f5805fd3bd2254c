"""What is special about grConv: its heights, what its options cost in parameters, and where its spans are."""

import pytest
import torch

from recurrent_mt.layers.grconv import GRConvEncoder, span_coverage, span_padding, unpack_spans
from tests.kernels.batches import packing_of, random
from tests.layers.test_encoders import EMBED, HIDDEN, batch, sentences
from tests.tolerances import INVARIANCE


def encoder(**options):
    """Encoders that differ in their heights alone."""
    result = GRConvEncoder(EMBED, HIDDEN, **options)
    with torch.no_grad():
        for seed, parameter in enumerate(result.parameters()):
            parameter.copy_(0.4 * random(*parameter.shape, seed=seed))
    return result


def alone(layer, sentence):
    return layer(*batch([sentence], left_pad=True))


def test_only_sentences_above_the_bound_are_affected():
    free, bounded = encoder(), encoder(height=3)
    arguments = batch(sentences(), left_pad=True)
    expected, found = free(*arguments).summary, bounded(*arguments).summary
    short = torch.tensor([len(sentence) <= 4 for sentence in sentences()])
    assert short.tolist() == [True, True, False, True]
    torch.testing.assert_close(found[short], expected[short], **INVARIANCE)
    assert not torch.allclose(found[~short], expected[~short], atol=1e-2)


def test_the_summary_of_a_long_sentence_is_the_mean_of_its_phrases():
    """Each node on the last level is the root of its own words."""
    (sentence,) = [sentence for sentence in sentences() if len(sentence) == 7]
    roots = [alone(encoder(), sentence[start : start + 4]).summary for start in range(4)]
    summary = alone(encoder(height=3), sentence).summary
    torch.testing.assert_close(summary, torch.stack(roots).mean(dim=0), **INVARIANCE)


def test_annotations_of_the_pyramid_are_roots_of_phrases():
    sentence = sentences()[0]
    annotations = alone(encoder(annotation_height=2), sentence).annotations[0]
    spans = [(start, start + width) for width in (1, 2, 3) for start in range(len(sentence) - width + 1)]
    assert len(annotations) == len(spans) == 4 + 3 + 2
    roots = [alone(encoder(), sentence[start:end]).summary[0] for start, end in spans]
    torch.testing.assert_close(annotations, torch.stack(roots), **INVARIANCE)


def test_a_pyramid_as_high_as_the_longest_sentence_ends_in_its_root():
    (sentence,) = [sentence for sentence in sentences() if len(sentence) == 7]
    output = alone(encoder(annotation_height=50), sentence)
    assert output.annotations.size(1) == 7 * 8 // 2
    torch.testing.assert_close(output.annotations[:, -1], output.summary)


def test_grconv_has_the_parameters_of_its_formula():
    """Leaves E·H + H; a node's candidate 2H² + H; its gates 6H + 3."""
    count = sum(parameter.numel() for parameter in encoder(height=2).parameters())
    assert count == (EMBED + 1) * HIDDEN + (2 * HIDDEN + 1) * HIDDEN + 6 * HIDDEN + 3


def test_annotations_above_the_last_level_are_refused_by_name():
    with pytest.raises(ValueError, match="--grconv-annotation-height 3 is above --grconv-height 2"):
        encoder(height=2, annotation_height=3)


#: Sentences of the tokens 1 2 3, 9, and 5 6, packed: single tokens, pairs, the triple.
LEVELS = torch.tensor([1.0, 5, 9, 2, 6, 3, 12, 56, 23, 123])[:, None]


def mask(*, left_pad):
    columns, lengths = torch.arange(3), torch.tensor([3, 1, 2])[:, None]
    return columns < 3 - lengths if left_pad else columns >= lengths


PLACES = {
    # Three columns of single tokens, two of pairs, one of triples.
    True: [[1, 2, 3, 12, 23, 123], [0, 0, 9, 0, 0, 0], [0, 5, 6, 0, 56, 0]],
    False: [[1, 2, 3, 12, 23, 123], [9, 0, 0, 0, 0, 0], [5, 6, 0, 56, 0, 0]],
}


@pytest.mark.parametrize("left_pad", [True, False], ids=["left", "right"])
def test_spans_are_placed_level_by_level_in_the_column_of_their_first_token(left_pad):
    packing = packing_of([3, 1, 2], left_pad=left_pad)
    expected = torch.tensor(PLACES[left_pad], dtype=torch.float)
    for height, columns, spans in [(0, 3, 6), (1, 5, 9), (2, 6, 10)]:
        assert torch.equal(unpack_spans(LEVELS[:spans], packing, height).squeeze(2), expected[:, :columns])
        assert torch.equal(span_padding(mask(left_pad=left_pad), height), expected[:, :columns] == 0)


def test_coverage_shares_a_span_evenly():
    third = 1 / 3
    expected = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0], [0, 0.5, 0.5], [third, third, third]]
    torch.testing.assert_close(span_coverage(3, 2, torch.zeros(1)), torch.tensor(expected))


def test_one_token_is_covered_by_itself():
    assert torch.equal(span_coverage(1, 0, torch.zeros(1)), torch.ones(1, 1))
    assert torch.equal(span_padding(torch.zeros(2, 1, dtype=torch.bool), 0), torch.zeros(2, 1, dtype=torch.bool))
