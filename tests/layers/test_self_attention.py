"""Self-attention compared with its equations, written out for one sentence; in batches, in search, and its cache."""

import math

import pytest
import torch

from recurrent_mt.kernels.packing import make_packing
from recurrent_mt.layers.attention import DecoderSelfAttention, EncoderSelfAttention, SelfAttention
from recurrent_mt.layers.encoder_output import EncoderOutput
from recurrent_mt.layers.grconv import GRConvEncoder
from tests.kernels.batches import packing_of, random
from tests.layers.one_sentence import parameter_count, ragged, randomized
from tests.tolerances import INVARIANCE, PARITY

SIZE = 6
LENGTHS = [4, 1, 0, 7]

every_number_of_heads = pytest.mark.parametrize("heads", [1, 2, 6])
both_sides = pytest.mark.parametrize("left_pad", [True, False], ids=["left", "right"])


def equations(module, X, M, *, causal=False):
    """Vaswani et al. (2017), sections 3.2 and 3.1, head by head: states (T, H) that attend to states (M, H)."""
    W_K, W_V = module.memory.weight.split(SIZE)
    d = SIZE // module.num_heads
    heads = []
    for units in torch.arange(SIZE).split(d):
        Q, K, V = X @ module.query.weight[units].t(), M @ W_K[units].t(), M @ W_V[units].t()
        scores = Q @ K.t() / math.sqrt(d)
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -math.inf)
        heads.append(torch.softmax(scores, dim=1) @ V)
    Y = X + torch.cat(heads, dim=1) @ module.output.weight.t()
    centered = Y - Y.mean(dim=1, keepdim=True)
    variance = centered.square().mean(dim=1, keepdim=True)
    return centered / (variance + 1e-5).sqrt() * module.norm.weight + module.norm.bias


def of_encoder(heads=2, **options):
    return randomized(EncoderSelfAttention(SIZE, num_heads=heads, **options))


def of_decoder(heads=2):
    return randomized(DecoderSelfAttention(SIZE, num_heads=heads))


def encoded(lengths, *, left_pad, filler=float("nan")):
    """What an encoder might give, in float64, except that the filler stands on padding; and the sentences."""
    _, mask, _ = ragged(lengths, left_pad=left_pad)
    sentences = [random(length, SIZE, seed=length, dtype=torch.float64) for length in lengths]
    annotations = torch.full((*mask.shape, SIZE), filler, dtype=torch.float64)
    for row, sentence in enumerate(sentences):
        annotations[row, ~mask[row]] = sentence
    return EncoderOutput(annotations, mask, random(len(lengths), SIZE, seed=3, dtype=torch.float64)), sentences


@every_number_of_heads
@both_sides
def test_annotations_that_attend_follow_the_equations(heads, left_pad):
    module, (source, sentences) = of_encoder(heads), encoded(LENGTHS, left_pad=left_pad)
    output = module(source)
    for row, sentence in enumerate(sentences):
        expected = equations(module, sentence, sentence)
        valid = ~source.padding_mask[row]
        torch.testing.assert_close(output.annotations[row, valid], expected, **PARITY[torch.float64])
    assert output.annotations[source.padding_mask].eq(0).all()
    assert output.summary is source.summary and output.padding_mask is source.padding_mask


@every_number_of_heads
@both_sides
def test_a_summary_that_attends_follows_the_equations(heads, left_pad):
    module, (source, sentences) = of_encoder(heads, of_summary=True), encoded(LENGTHS, left_pad=left_pad)
    output = module(source)
    for row, sentence in enumerate(sentences):
        if not len(sentence):
            assert output.summary[row].eq(0).all()
            continue
        expected = equations(module, source.summary[row : row + 1], sentence)
        torch.testing.assert_close(output.summary[row : row + 1], expected, **PARITY[torch.float64])
    assert output.annotations is source.annotations


@pytest.mark.parametrize("of_summary", [False, True], ids=["annotations", "summary"])
@both_sides
def test_poison_on_padding_reaches_no_output_and_no_gradient(of_summary, left_pad):
    module, results = of_encoder(of_summary=of_summary), []
    for filler in (0.0, float("nan")):
        source, _ = encoded(LENGTHS, left_pad=left_pad, filler=filler)
        annotations = source.annotations.requires_grad_()
        output = module(source)
        changed = output.summary if of_summary else output.annotations
        gradients = torch.autograd.grad((changed**3).sum(), [annotations, *module.parameters()])
        results.append((changed, gradients))
    torch.testing.assert_close(results[1], results[0])
    assert results[1][1][0][source.padding_mask].eq(0).all()
    assert all(gradient.any() for gradient in results[1][1])


@both_sides
def test_phrases_of_a_pyramid_attend_within_their_sentence(left_pad):
    """More annotations than words, and padding that is not at one end of them."""
    encoder, module = randomized(GRConvEncoder(3, SIZE, annotation_height=2)), of_encoder()
    embedded, mask, sentences = ragged(LENGTHS, left_pad=left_pad)
    source = encoder(embedded, mask)
    output = module(source)
    assert output.coverage is source.coverage and output.annotations.shape == (4, 7 + 6 + 5, SIZE)
    for row, sentence in enumerate(sentences):
        valid = ~source.padding_mask[row]
        if len(sentence):
            phrases = encoder(sentence[None], torch.zeros(1, len(sentence), dtype=torch.bool)).annotations[0]
            expected = equations(module, phrases, phrases)
            torch.testing.assert_close(output.annotations[row, valid], expected, **PARITY[torch.float64])
        assert output.annotations[row, ~valid].eq(0).all()


@every_number_of_heads
@both_sides
def test_the_decoder_follows_the_equations_on_packed_rows(heads, left_pad):
    module, packing = of_decoder(heads), packing_of(LENGTHS, left_pad=left_pad)
    source, sentences = encoded(LENGTHS, left_pad=left_pad)
    rows, past = module(packing.pack(source.annotations), packing)
    output = packing.unpack(rows)
    for row, sentence in enumerate(sentences):
        expected = equations(module, sentence, sentence, causal=True)
        torch.testing.assert_close(output[row, ~source.padding_mask[row]], expected, **PARITY[torch.float64])
    assert past.keys_and_values.shape == (4, 7, 2 * SIZE) and (~past.padding).sum(dim=1).tolist() == LENGTHS


@pytest.mark.parametrize("with_gradients", [False, True])
def test_step_by_step_from_anywhere_equals_the_whole(with_gradients):
    """Sentences of different lengths go on together, reordered at each step, some of them twice and some no more."""
    module, packing = of_decoder(), packing_of(LENGTHS, left_pad=False)
    source, sentences = encoded(LENGTHS, left_pad=False)
    with torch.set_grad_enabled(with_gradients):
        _, past = module(packing.pack(source.annotations), packing)
        for position, order in enumerate([[3, 0, 0, 1, 2], [4, 1, 1, 0], [0, 1, 2, 3], [3, 3], *[[0, 1]] * 20]):
            sentences, past = [sentences[row] for row in order], past.index_select(torch.tensor(order))
            states = random(len(order), SIZE, seed=position, dtype=torch.float64)
            output, past = module.step(states, past)
            sentences = [torch.cat([sentence, state[None]]) for sentence, state in zip(sentences, states)]
            expected = torch.stack([equations(module, sentence, sentence, causal=True)[-1] for sentence in sentences])
            torch.testing.assert_close(output, expected, **PARITY[torch.float64])
    assert output.requires_grad == with_gradients


@pytest.mark.parametrize("with_gradients", [False, True])
def test_gradients_go_back_through_steps_of_self_attention(with_gradients):
    """Whatever the past was made with, a step may be differentiated, and as often as wanted."""
    module, packing = of_decoder(), packing_of([3, 2])
    with torch.set_grad_enabled(with_gradients):
        _, past = module(random(5, SIZE, dtype=torch.float64), packing)
    states = random(3, 2, SIZE, seed=4, dtype=torch.float64).requires_grad_()
    total = 0
    for state in states:
        output, past = module.step(state, past)
        total = total + (output**3).sum()
    (gradient,) = torch.autograd.grad(total, states)
    assert all(step.abs().max() > 1e-3 for step in gradient)


@pytest.mark.parametrize("of_summary", [False, True], ids=["annotations", "summary"])
def test_gradients_of_the_encoders_self_attention_are_those_of_finite_differences(of_summary):
    module, (source, _) = of_encoder(of_summary=of_summary), encoded([3, 1, 0], left_pad=True, filler=0.5)
    names = [name for name, _ in module.named_parameters()]

    def outputs(annotations, summary, *parameters):
        batch = source._replace(annotations=annotations, summary=summary)
        output = torch.func.functional_call(module, dict(zip(names, parameters)), (batch,))
        return output.summary if of_summary else output.annotations

    assert_right_gradients(outputs, source.annotations, source.summary, module)


def test_gradients_of_the_decoders_self_attention_are_those_of_finite_differences():
    module, packing = of_decoder(), packing_of([3, 1, 0])
    names = [name for name, _ in module.named_parameters()]

    def outputs(rows, *parameters):
        return torch.func.functional_call(module, dict(zip(names, parameters)), (rows, packing))[0]

    assert_right_gradients(outputs, random(4, SIZE, dtype=torch.float64), module)


def assert_right_gradients(outputs, *inputs_and_module):
    *inputs, module = inputs_and_module
    leaves = [leaf.detach().clone().requires_grad_() for leaf in (*inputs, *module.parameters())]
    assert torch.autograd.gradcheck(outputs, leaves, fast_mode=True)


def test_a_batch_of_empty_sentences_begins_with_its_first_states():
    module, packing = of_decoder(), make_packing(torch.ones(2, 3, dtype=torch.bool))
    rows, past = module(torch.zeros(0, SIZE, dtype=torch.float64), packing)
    assert rows.shape == (0, SIZE) and past.padding.all()
    state = random(2, SIZE, dtype=torch.float64)
    alone = torch.cat([equations(module, row[None], row[None]) for row in state])
    for before in (past, None):
        torch.testing.assert_close(module.step(state, before)[0], alone, **PARITY[torch.float64])


@every_number_of_heads
def test_the_cost_in_parameters_does_not_depend_on_the_heads(heads):
    assert parameter_count(SelfAttention(SIZE, num_heads=heads)) == 4 * SIZE**2 + 2 * SIZE


def test_dropout_comes_before_the_sum_and_only_in_training():
    module = EncoderSelfAttention(SIZE, num_heads=2, dropout=1.0).double()
    source, _ = encoded([5], left_pad=True)
    expected = torch.nn.functional.layer_norm(source.annotations, (SIZE,))
    torch.testing.assert_close(module(source).annotations, expected)
    assert (module.eval()(source).annotations - expected).abs().max() > 1e-2


def test_self_attention_in_half_precision_stays_near():
    module, (source, _) = of_encoder().float(), encoded(LENGTHS, left_pad=True, filler=0.0)
    source = source._replace(annotations=source.annotations.float(), summary=source.summary.float())
    expected = module(source).annotations
    low = module.bfloat16()(source._replace(annotations=source.annotations.bfloat16())).annotations
    assert low.dtype is torch.bfloat16
    torch.testing.assert_close(low.float(), expected, rtol=0.05, atol=0.05)


def test_self_attention_does_not_depend_on_the_batch_in_single_precision():
    module, (source, sentences) = of_encoder().float(), encoded(LENGTHS, left_pad=True)
    together = module(source._replace(annotations=source.annotations.float())).annotations
    for row, sentence in enumerate(sentences):
        if len(sentence):
            mask = torch.zeros(1, len(sentence), dtype=torch.bool)
            alone = module(EncoderOutput(sentence[None].float(), mask, source.summary[:1])).annotations[0]
            torch.testing.assert_close(together[row, ~source.padding_mask[row]], alone, **INVARIANCE)
