import pytest
import torch

from recurrent_mt.kernels.attention import AttentionWeights, Memory, attend, attend_sentences
from tests.kernels.batches import (
    ALL,
    RAGGED,
    assert_same_outputs_and_gradients,
    every_backend,
    every_gradient,
    packing_of,
    random,
    within,
)
from tests.tolerances import PARITY

additive_or_dot = pytest.mark.parametrize("additive", [False, True], ids=["dot", "additive"])


def sources(batch, words=5):
    """Padding on the left, on the right and in the middle, nowhere; and a source that is nothing else."""
    mask = torch.zeros(4, words).bool()
    mask[0, 0], mask[1, 2:], mask[3] = True, True, True
    mask[1, 3] = False
    return mask[torch.arange(batch) % 4]


def arguments(lengths, size, *, words=5, additive=False, dtype=torch.float32):
    """Queries, keys, and values (, query, score)."""
    shapes = [(sum(lengths), size), (len(lengths), words, size), (len(lengths), words, 7)]
    shapes += [(size, size), (size,)] if additive else []
    return [random(*shape, seed=i, dtype=dtype) for i, shape in enumerate(shapes)]


def run(lengths, *, left_pad=True):
    def function(backend, queries, keys, values, query=None, score=None):
        packing = packing_of(lengths, left_pad=left_pad)
        memory = Memory(keys, values, sources(len(lengths), keys.size(1)))
        return within(backend, attend_sentences)(queries, packing, memory, AttentionWeights(query, score))

    return function


@additive_or_dot
@pytest.mark.parametrize("left_pad", [False, True], ids=["right", "left"])
@pytest.mark.parametrize("size", [1, 5, 70])
@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
@every_backend(["packed", "native", "fused"])
def test_implementations_of_attention_to_sentences_agree(backend, lengths, size, left_pad, additive):
    tensors = arguments(lengths, size, additive=additive)
    assert_same_outputs_and_gradients(run(lengths, left_pad=left_pad), tensors, ["reference", backend])


@every_backend(["packed", "native"])
@pytest.mark.parametrize("size", [65, 530])
def test_attention_to_long_sources_agrees(backend, size):
    lengths = [70, 3, 40, 9]
    tensors = arguments(lengths, size, words=130)
    tensors = [tensors[0] / size**0.5, *tensors[1:]]  # energies of a size that leaves attention to many words
    assert_same_outputs_and_gradients(run(lengths), tensors, ["reference", backend])


@every_backend(["packed", "native"])
def test_keys_that_are_the_values_get_the_sum_of_both_gradients(backend):
    def twice(name, queries, annotations):
        return run([3, 1, 4])(name, queries, annotations, annotations)

    assert_same_outputs_and_gradients(twice, arguments([3, 1, 4], 6)[:2], ["reference", backend])


def test_wrong_shapes_given_to_attend_sentences_are_refused():
    queries, keys, values = arguments([2, 1], 6)
    wrong = [(queries[1:], keys, values), (queries, keys[:1], values[:1]), (queries, keys[:, :, 1:], values)]
    wrong += [(queries, keys, values[:, 1:]), (queries, keys[:, :0], values[:, :0]), (queries, keys, values[:, :, :0])]
    for tensors in wrong:
        packing, memory = (
            packing_of([2, 1]),
            Memory(*tensors[1:], sources(2)[: tensors[1].size(0), : tensors[1].size(1)]),
        )
        with pytest.raises(ValueError, match="of 3 words in 2 sentences do not fit to keys"):
            attend_sentences(tensors[0], packing, memory, AttentionWeights(None, None))


@additive_or_dot
@every_gradient
def test_gradients_of_attention_to_sentences_are_those_of_finite_differences(backend, additive):
    lengths = [2, 1, 0, 3]
    leaves = [tensor.requires_grad_() for tensor in arguments(lengths, 3, additive=additive, dtype=torch.float64)]
    contexts = run(lengths)
    assert torch.autograd.gradcheck(lambda *tensors: contexts(backend, *tensors)[0], leaves, fast_mode=True)


@additive_or_dot
@every_backend(ALL)
def test_a_sentence_is_read_like_its_steps(backend, additive):
    lengths = [3, 1, 4, 2]
    queries, keys, values, *weights = arguments(lengths, 6, additive=additive)
    weights = weights or [None, None]
    found = run(lengths)(backend, queries, keys, values, *weights)
    sentence = packing_of(lengths).sentence
    order = packing_of(lengths).sorted_indices[sentence]
    memory = Memory(keys[order], values[order], sources(4)[order])
    expected = within("reference", attend)(queries, memory, AttentionWeights(*weights))
    torch.testing.assert_close(found, expected, **PARITY[torch.float32])


@every_backend(["packed", "native"])
def test_attention_to_sentences_has_no_gradient_and_padding_weighs_nothing(backend):
    queries, keys, values = (tensor.requires_grad_() for tensor in arguments([3, 1, 4], 6))
    contexts, attention = run([3, 1, 4])(backend, queries, keys, values)
    assert not attention.requires_grad
    torch.testing.assert_close(attention.sum(1), torch.ones(8))
    contexts.sum().backward()
    padding = sources(3)
    assert not keys.grad[padding].any() and not values.grad[padding].any()
    assert not attention[packing_of([3, 1, 4]).sorted_indices[packing_of([3, 1, 4]).sentence] == 0, 0].any()
