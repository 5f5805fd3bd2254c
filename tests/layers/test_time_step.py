"""Time steps that no kernel knows, against their papers' equations written out for one sentence at a time."""

import pytest
import torch

from recurrent_mt.kernels.packing import make_packing
from recurrent_mt.layers.conditioned_gru import ConditionedGRU
from recurrent_mt.layers.decoder import GRUDecoder, Readout
from recurrent_mt.layers.encoder_output import EncoderOutput
from recurrent_mt.layers.gru import GRU, GRUEncoder
from recurrent_mt.layers.gru_cell import PLAIN, GRUVariant
from tests.combinations import half
from tests.kernels.batches import random
from tests.layers.one_sentence import EMBED, assert_follows, assert_gradients_are_right
from tests.tolerances import PARITY

HIDDEN = 4
DOUBLE = {"dtype": torch.float64}
VARIANTS = {
    "plain": PLAIN,
    "deep_transition": GRUVariant(transition_depth=3),
    "skip_in_time": GRUVariant(time_skip=3),
    "both": GRUVariant(transition_depth=2, time_skip=2),
}

every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)


def advance(cell, x, h):
    """The state after a cell, in the letters of Cho et al. (2014)."""
    x = cell.bias if x is None else x
    r, z = torch.sigmoid(cell.gate_weight @ h + x[: 2 * HIDDEN]).split(HIDDEN)
    candidate = torch.tanh(cell.candidate_weight @ (r * h) + x[2 * HIDDEN :])
    return z * h + (1 - z) * candidate


def entering(layer, states):
    """What enters the step after these states: the last, or with a skip in time g ⊙ h_{t−1} + (1 − g) ⊙ h_{t−K}."""
    if layer.time_skip is None:
        return states[-1]
    g = torch.sigmoid(layer.time_skip.bias)
    return g * states[-1] + (1 - g) * states[max(0, len(states) - layer.time_skip.span)]


def run_time_step(layer, x, h):
    """Miceli Barone et al. (2017), section 2.2: of the cells of a time step, the first alone has an input."""
    h = advance(layer, x, h)
    for cell in layer.transition:
        h = advance(cell, None, h)
    return h


def states_over(layer, words):
    states = [torch.zeros(HIDDEN, **DOUBLE)]
    for word in words:
        states.append(run_time_step(layer, layer.input_weight @ word + layer.bias, entering(layer, states)))
    return torch.stack(states[1:])


@every_variant
@pytest.mark.parametrize("bidirectional", [False, True])
def test_an_encoder_has_the_states_of_the_equations(variant, bidirectional):
    encoder = GRUEncoder(EMBED, HIDDEN, num_layers=2, bidirectional=bidirectional, variant=variant)

    def reference(words):
        for directions in encoder.layers:
            forward = states_over(directions[0], words)
            backward = [states_over(layer, words.flip(0)).flip(0) for layer in directions[1:]]
            words = torch.cat([forward, *backward], dim=1)
        return words, torch.cat([forward[-1], *(states[0] for states in backward)])

    assert_follows(encoder, reference)


@every_variant
def test_an_encoders_gradients_are_right(variant):
    assert_gradients_are_right(GRUEncoder(EMBED, HIDDEN, bidirectional=True, variant=variant), [3, 1, 0, 4])


def build_decoder(attention, variant, *, word_first):
    torch.manual_seed(3)
    first = ConditionedGRU(EMBED, HIDDEN, context_size=HIDDEN, attention=attention, variant=variant)
    readout = Readout(state_size=HIDDEN, embed_size=EMBED, context_size=HIDDEN, output_size=2)
    decoder = GRUDecoder(first, readout, summary_size=HIDDEN, word_first=word_first).double()
    for parameter in decoder.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return decoder


def score(attention, s, annotations):
    """e of each annotation: Bahdanau et al. (2015), A.1.2; Luong et al. (2015), eq. (8)."""
    keys = annotations if attention.key is None else annotations @ attention.key.weight.t()
    if attention.score is None:
        return keys @ s * attention.scale
    return torch.tanh(attention.query_weight @ s + keys) @ attention.score


def read(first, s, annotations, summary):
    """The context for the state s."""
    if first.attention is None:
        return summary
    return torch.softmax(score(first.attention, s, annotations), dim=0) @ annotations


def features_of(decoder, words, annotations, summary):
    """The features after each word (T, O); the first word is the begin symbol."""
    first, readout, features = decoder.first, decoder.readout, []

    def find():
        return read(first, entering(first.gru, states), annotations, summary)

    def update(y, c):
        x = first.gru.input_weight @ y + first.gru.bias + first.context_weight @ c
        states.append(run_time_step(first.gru, x, entering(first.gru, states)))

    states = [torch.tanh(decoder.initial(summary))]
    for position, y in enumerate(words):
        word = readout.previous_word(y)
        if not decoder.word_first:
            c = find()
            update(y, c)
        elif position == 0:
            word, c = 0, find()
        else:
            update(y, c)
            c = find()
        features.append((readout.state(states[-1]) + word + readout.context(c)).unflatten(0, (-1, 2)).amax(dim=1))
    return torch.stack(features)


@pytest.mark.parametrize(
    ("attention", "word_first", "variant"),
    half([None, "additive", "dot", "general", "scaled_general"], [True, False], list(VARIANTS)),
)
def test_a_decoder_has_the_features_and_the_gradients_of_the_equations(attention, word_first, variant):
    decoder = build_decoder(attention, VARIANTS[variant], word_first=word_first)
    source_lengths, target_lengths = [4, 1, 3], [3, 5, 1]
    mask = torch.arange(4) >= torch.tensor(source_lengths)[:, None]
    annotations = random(3, 4, HIDDEN, **DOUBLE).masked_fill(mask.unsqueeze(2), 0).requires_grad_()
    summary, words = (random(3, *size, **DOUBLE).requires_grad_() for size in ((HIDDEN,), (5, EMBED)))
    padding = torch.arange(5) >= torch.tensor(target_lengths)[:, None]

    packing = make_packing(padding)
    found, weights, _ = decoder(packing.pack(words), packing, EncoderOutput(annotations, mask, summary))
    found, weights = (None if rows is None else packing.unpack(rows) for rows in (found, weights))
    expected = torch.zeros_like(found)
    for row, (source, target) in enumerate(zip(source_lengths, target_lengths)):
        sentence = features_of(decoder, words[row, :target], annotations[row, :source], summary[row])
        expected = expected.index_put((torch.tensor(row), torch.arange(target)), sentence)
    torch.testing.assert_close(found, expected, **PARITY[torch.float64])
    assert weights is None or not weights.requires_grad

    leaves, loss = [words, summary, *decoder.parameters()], random(*found.shape, seed=5, **DOUBLE)
    leaves += [annotations] if attention else []
    gradients, expected_gradients = (torch.autograd.grad((x * loss).sum(), leaves) for x in (found, expected))
    torch.testing.assert_close(gradients, expected_gradients, **PARITY[torch.float64])
    assert all(gradient.any() for gradient in gradients)


def test_a_plain_layer_has_the_parameters_of_every_checkpoint_in_their_order():
    assert [name for name, _ in GRU(EMBED, HIDDEN).named_parameters()] == [
        *("input_weight", "gate_weight", "candidate_weight", "bias")
    ]


def test_recurrent_dropout_reaches_every_cell_of_a_time_step():
    """With all numbers of the recurrent matrices dropped, only the biases of the second cell move its state."""
    layer = GRU(EMBED, HIDDEN, variant=GRUVariant(transition_depth=2, recurrent_dropout=1.0)).double()
    (cell,) = layer.transition
    with torch.no_grad():
        cell.bias.copy_(random(3 * HIDDEN, **DOUBLE))
    rows, h = random(2, EMBED, **DOUBLE), torch.zeros(1, HIDDEN, **DOUBLE)
    states = layer(rows, h, (1, 1))
    for step, inputs in enumerate(layer.project(rows).split(1)):
        for x in (inputs, cell.bias[None]):
            _, x_z, x_h = x.split(HIDDEN, dim=1)
            z = torch.sigmoid(x_z)
            h = z * h + (1 - z) * torch.tanh(x_h)
        torch.testing.assert_close(states[step : step + 1], h)
