"""Time steps that no kernel knows, against their papers' equations written out for one sentence at a time."""

import pytest
import torch

from recurrent_mt.kernels.packing import make_packing
from recurrent_mt.layers.conditioned_gru import AttentiveGRU, FixedContextGRU
from recurrent_mt.layers.decoder import GRUDecoder, MaxoutReadout
from recurrent_mt.layers.encoder_output import EncoderOutput
from recurrent_mt.layers.gru import GRU, GRUEncoder
from recurrent_mt.layers.gru_cell import PLAIN, GRUVariant
from tests.combinations import half
from tests.kernels.batches import random
from tests.layers.one_sentence import EMBED, assert_every_parameter_learns, assert_follows, assert_gradients_are_right
from tests.tolerances import PARITY

HIDDEN = 4
DOUBLE = {"dtype": torch.float64}
VARIANTS = {
    "plain": PLAIN,
    "deep_transition": GRUVariant(transition_depth=3),
    "cell_layer_norm": GRUVariant(cell_layer_norm=True),
    "both": GRUVariant(transition_depth=2, cell_layer_norm=True),
}

every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)


def normalize(products, norm):
    """LN of Ba et al. (2016), eq. (4), of one sum of products."""
    if norm is None:
        return products
    deviation = ((products - products.mean()) ** 2).mean()
    return (products - products.mean()) / (deviation + norm.eps).sqrt() * norm.weight + norm.bias


def advance(cell, x, h):
    """The state after a cell, in the letters of Cho et al. (2014).

    Ba et al. (2016), supplementary material, and Nematus have four norms: of what enters and of what the state gives,
    for both gates together and for the candidate. Without an input, the biases are inside the state's norm, as in
    Nematus' cells without one.
    """
    b = cell.bias if x is None else torch.zeros(3 * HIDDEN, **DOUBLE)
    of_input = (None, None) if cell.input_norm is None else (cell.input_norm.gates, cell.input_norm.candidate)
    of_state = (None, None) if cell.state_norm is None else (cell.state_norm.gates, cell.state_norm.candidate)
    gates = normalize(cell.gate_weight @ h + b[: 2 * HIDDEN], of_state[0])
    if x is not None:
        gates = normalize(x[: 2 * HIDDEN], of_input[0]) + gates
    r, z = torch.sigmoid(gates).split(HIDDEN)
    candidate = normalize(cell.candidate_weight @ (r * h) + b[2 * HIDDEN :], of_state[1])
    if x is not None:
        candidate = normalize(x[2 * HIDDEN :], of_input[1]) + candidate
    return z * h + (1 - z) * torch.tanh(candidate)


def run_time_step(layer, x, h):
    """Miceli Barone et al. (2017), section 2.2: of the cells of a time step, the first alone has an input."""
    h = advance(layer, x, h)
    for cell in layer.transition:
        h = advance(cell, None, h)
    return h


def states_over(layer, words):
    h, states = torch.zeros(HIDDEN, **DOUBLE), []
    for word in words:
        h = run_time_step(layer, layer.input_weight @ word + layer.bias, h)
        states.append(h)
    return torch.stack(states)


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


@every_variant
def test_every_weight_of_an_encoder_learns(variant):
    assert_every_parameter_learns(GRUEncoder(EMBED, HIDDEN, variant=variant))


def build_decoder(attention, heads, variant, *, word_first):
    torch.manual_seed(3)
    if attention is None:
        first = FixedContextGRU(EMBED, HIDDEN, context_size=HIDDEN, variant=variant)
    else:
        first = AttentiveGRU(EMBED, HIDDEN, context_size=HIDDEN, attention=attention, heads=heads, variant=variant)
    readout = MaxoutReadout(state_size=HIDDEN, embed_size=EMBED, context_size=HIDDEN, output_size=2)
    decoder = GRUDecoder(first, readout, summary_size=HIDDEN, word_first=word_first).double()
    for parameter in decoder.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return decoder


def score(attention, s, annotations, part):
    """e of each annotation: Bahdanau et al. (2015), A.1.2; Luong et al. (2015), eq. (8); by the units of one head."""
    keys = annotations if attention.key is None else annotations @ attention.key.weight.t()
    if attention.score is None:
        return keys[:, part] @ s[part] * attention.scale
    return torch.tanh(attention.query_weight[part] @ s + keys[:, part]) @ attention.score[part]


def read(first, s, annotations, summary):
    """The context for the state s; several heads are those of Vaswani et al. (2017), section 3.2.2."""
    if not first.has_attention:
        return summary
    attention, contexts = first.attention, []
    width = HIDDEN // attention.heads
    for head in range(attention.heads):
        part = slice(head * width, (head + 1) * width)
        values = annotations if attention.value is None else annotations @ attention.value.weight[part].t()
        contexts.append(torch.softmax(score(attention, s, annotations, part), dim=0) @ values)
    return torch.cat(contexts)


def features_of(decoder, words, annotations, summary):
    """The features after each word (T, O); the first word is the begin symbol."""
    first, readout, features = decoder.first, decoder.readout, []

    def update(s, y, c):
        return run_time_step(first.gru, first.gru.input_weight @ y + first.gru.bias + first.context_weight @ c, s)

    s = torch.tanh(decoder.initial(summary))
    for position, y in enumerate(words):
        word = readout.previous_word(y)
        if not decoder.word_first:
            c = read(first, s, annotations, summary)
            s = update(s, y, c)
        elif position == 0:
            word, c = 0, read(first, s, annotations, summary)
        else:
            s = update(s, y, c)
            c = read(first, s, annotations, summary)
        features.append((readout.state(s) + word + readout.context(c)).unflatten(0, (-1, 2)).amax(dim=1))
    return torch.stack(features)


@pytest.mark.parametrize(
    ("attention", "word_first", "variant", "heads"),
    [
        *half([None], [True, False], list(VARIANTS), [1]),
        *half(["additive", "dot", "general", "scaled_general"], [True, False], list(VARIANTS), [1, 2]),
    ],
)
def test_a_decoder_has_the_features_and_the_gradients_of_the_equations(attention, word_first, variant, heads):
    decoder = build_decoder(attention, heads, VARIANTS[variant], word_first=word_first)
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
