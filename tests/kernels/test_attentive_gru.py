import pytest
import torch

from recurrent_mt.kernels.attention import AttentionWeights, AttentiveGRUWeights, Memory, attend
from recurrent_mt.kernels.attentive_gru import attentive_gru
from recurrent_mt.kernels.gru import gru
from tests.kernels.batches import (
    ALL,
    RAGGED,
    assert_same_outputs_and_gradients,
    every_backend,
    every_gradient,
    needs_native,
    packing_of,
    random,
    within,
)
from tests.tolerances import PARITY

SOURCE_LENGTHS = [5, 2, 1, 4]


def padding_mask(batch):
    lengths = (SOURCE_LENGTHS * batch)[:batch]
    return torch.arange(max(lengths)) < max(lengths) - torch.tensor(lengths)[:, None]


def arguments(lengths, size, *, additive, values=6, keys=4, dtype=torch.float32):
    """Counts, mask, and the tensors: inputs, initial, keys, values, gate, candidate, context (, query, score)."""
    mask, batch = padding_mask(len(lengths)), len(lengths)
    keys = keys if additive else size
    shapes = [
        (sum(lengths), 3 * size),
        (batch, size),
        (batch, mask.size(1), keys),
        (batch, mask.size(1), values),
        (2 * size, size),
        (size, size),
        (3 * size, values),
    ] + ([(keys, size), (keys,)] if additive else [])
    tensors = [random(*s, seed=i, dtype=dtype) for i, s in enumerate(shapes)]
    # Recurrent weights of this size neither amplify nor dampen what 63 steps carry.
    return packing_of(lengths).batch_sizes, mask, [*tensors[:4], *(weight / size**0.5 for weight in tensors[4:])]


def run(counts, mask):
    def function(backend, inputs, initial, keys, values, *weights):
        weights = AttentiveGRUWeights(*weights, *[None] * (5 - len(weights)))
        memory = Memory(keys, values, mask.to(keys.device))
        return within(backend, attentive_gru)(inputs, initial, memory, weights, batch_sizes=counts)

    return function


@pytest.mark.parametrize("additive", [True, False], ids=["additive", "dot"])
@pytest.mark.parametrize("size", [1, 5, 16])
@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
@every_backend(["packed", "native"])
def test_backends_of_attentive_gru_agree(backend, lengths, size, additive):
    counts, mask, tensors = arguments(lengths, size, additive=additive)
    assert_same_outputs_and_gradients(run(counts, mask), tensors, ["reference", backend])


@pytest.mark.parametrize("additive", [True, False], ids=["additive", "dot"])
@every_backend(["packed", "native"])
def test_a_source_of_padding_alone_is_read_evenly_and_has_the_references_gradients(backend, additive):
    counts, mask, tensors = arguments([3, 2, 2], 5, additive=additive)
    mask[1] = True
    assert_same_outputs_and_gradients(run(counts, mask), tensors, ["reference", backend])


@pytest.mark.parametrize("additive", [True, False], ids=["additive", "dot"])
@every_gradient
def test_gradients_of_attentive_gru_are_those_of_finite_differences(backend, additive):
    counts, mask, tensors = arguments([3, 1, 2], 2, additive=additive, dtype=torch.float64)
    leaves = [tensor.requires_grad_() for tensor in tensors]
    assert torch.autograd.gradcheck(lambda *a: run(counts, mask)(backend, *a)[:2], leaves, fast_mode=True)


@every_backend(ALL)
def test_attention_is_a_distribution_over_the_words_and_padding_is_unseen(backend):
    counts, mask, tensors = arguments([3, 7, 1, 2], 5, additive=True)
    states, contexts, attention = run(counts, mask)(backend, *tensors)
    torch.testing.assert_close(attention.sum(dim=1), torch.ones(sum(counts)))
    rows = torch.cat([torch.arange(count) for count in counts])
    assert attention[mask[rows]].eq(0).all()
    for index in (2, 3):
        tensors[index] = tensors[index].masked_fill(mask.unsqueeze(2), 1e4)
    for result, expected in zip(run(counts, mask)(backend, *tensors), (states, contexts, attention)):
        torch.testing.assert_close(result, expected)


@every_backend(ALL)
def test_the_context_is_read_with_the_state_before_the_update(backend):
    """The first context of every sentence must follow from the initial state alone, whatever the first input is."""
    counts, mask, tensors = arguments([2, 2], 5, additive=True)
    _, contexts, _ = run(counts, mask)(backend, *tensors)
    tensors[0] = tensors[0] + 1
    _, changed, _ = run(counts, mask)(backend, *tensors)
    torch.testing.assert_close(changed[:2], contexts[:2])
    assert (changed[2:] - contexts[2:]).abs().max() > 1e-3


@every_backend(ALL)
def test_one_annotation_is_a_fixed_context(backend):
    """With one word to look at, attention is a GRU that the same context enters at every step."""
    size = 5
    counts, _, tensors = arguments([4, 2], size, additive=True)
    tensors[2], tensors[3] = tensors[2][:, :1], tensors[3][:, :1]
    states, contexts, _ = run(counts, torch.zeros(2, 1, dtype=torch.bool))(backend, *tensors)
    rows = torch.cat([torch.arange(count) for count in counts])
    torch.testing.assert_close(contexts, tensors[3][:, 0][rows])
    inputs = tensors[0] + contexts @ tensors[6].t()
    expected = gru(inputs, tensors[1], tensors[4], tensors[5], batch_sizes=counts)
    torch.testing.assert_close(states, expected, **PARITY[torch.float32])


@every_backend(ALL)
def test_an_empty_source_gives_finite_numbers(backend):
    counts, mask, tensors = arguments([2, 2], 5, additive=True)
    mask[1] = True
    for result in run(counts, mask)(backend, *tensors):
        assert result.isfinite().all()


def test_wrong_shapes_and_backends_given_to_attentive_gru_are_refused_by_name():
    counts, mask, tensors = arguments([2], 5, additive=True)
    with pytest.raises(ValueError, match="needs both a query weight and a score vector"):
        run(counts, mask)("packed", *tensors[:8])
    with pytest.raises(ValueError, match="states of width 5 and keys of width 4 does not exist"):
        run(counts, mask)("packed", *tensors[:7])
    with pytest.raises(ValueError, match=r"inputs must be \(2, 15\), not \(1, 15\)"):
        run(counts, mask)("packed", tensors[0][:1], *tensors[1:])
    with pytest.raises(
        ValueError, match=r"values \(B, S, D\) and padding_mask \(B, S\) do not fit: \(1, 5, 4\), \(1, 4, 6\)"
    ):
        run(counts, mask)("packed", *tensors[:3], tensors[3][:, 1:], *tensors[4:])
    counts, mask, tensors = arguments([2, 2], 5, additive=True)
    with pytest.raises(ValueError, match="2 sentences start, but there are 1 initial states and 2 sources"):
        run(counts, mask)("native", tensors[0], tensors[1][:1], *tensors[2:])
    with pytest.raises(ValueError, match="2 sentences start, but there are 2 initial states and 1 sources"):
        run(counts, mask[:1])("native", *tensors[:2], tensors[2][:1], tensors[3][:1], *tensors[4:])


@pytest.mark.parametrize("sources", [0, 2])
def test_states_that_cannot_share_their_sources_are_refused(sources):
    memory = Memory(random(sources, 5, 6), random(sources, 5, 7), padding_mask(2)[:sources])
    with pytest.raises(ValueError, match=f"3 states cannot share {sources} sources evenly"):
        within("native", attend)(random(3, 6), memory, AttentionWeights(None, None))


def test_no_states_read_no_sources():
    memory = Memory(random(0, 5, 6), random(0, 5, 7), padding_mask(2)[:0])
    contexts, attention = within("native", attend)(random(0, 6), memory, AttentionWeights(None, None))
    assert (contexts.shape, attention.shape) == ((0, 7), (0, 5))


@pytest.mark.parametrize("additive", [False, True], ids=["dot", "additive"])
@pytest.mark.parametrize("beam", [1, 3])
@every_backend(["reference", "packed", "native"])
def test_hypotheses_side_by_side_read_their_source(backend, additive, beam):
    """A step of a search: with N = B · beam states, state n reads source n // beam, in every implementation."""
    size, sources = 6, len(SOURCE_LENGTHS)
    keys, values = random(sources, 5, 4 if additive else size), random(sources, 5, 7, seed=1)
    query, score = (random(4, size, seed=2), random(4, seed=3)) if additive else (None, None)
    weights = AttentiveGRUWeights(random(2 * size, size), random(size, size), random(3 * size, 7), query, score)
    states = random(sources * beam, size, seed=4)
    memory = Memory(keys, values, padding_mask(sources))
    copied = Memory(*(field.repeat_interleave(beam, dim=0) for field in memory))
    expected = within("reference", attend)(states, copied, weights)
    torch.testing.assert_close(within(backend, attend)(states, memory, weights), expected, **PARITY[torch.float32])


@needs_native
@pytest.mark.parametrize("additive", [False, True], ids=["dot", "additive"])
def test_what_only_the_source_needs_a_gradient_of_is_not_lost(additive):
    """A step of a frozen state, outside a search."""
    keys, values = random(2, 5, 6).requires_grad_(), random(2, 5, 7, seed=1).requires_grad_()
    query, score = (random(6, 6, seed=2), random(6, seed=3)) if additive else (None, None)
    weights = AttentiveGRUWeights(random(12, 6), random(6, 6), random(18, 7), query, score)
    memory = Memory(keys, values, torch.zeros(2, 5, dtype=torch.bool))
    found, expected = (
        torch.autograd.grad(within(backend, attend)(random(2, 6, seed=4), memory, weights)[0].sum(), [keys, values])
        for backend in ("native", "packed")
    )
    torch.testing.assert_close(found, expected)
