"""What every encoder must provide to the decoder, whatever is inside it. A new encoder adds a line to ENCODERS."""

import pytest
import torch

from recurrent_mt.layers.grconv import DilatedGRConvEncoder, GRConvEncoder
from recurrent_mt.layers.grnn import GRNNEncoder
from recurrent_mt.layers.gru import GRUEncoder
from recurrent_mt.layers.gru_cell import GRUVariant
from recurrent_mt.layers.hourglass import UNetEncoder, VNetEncoder
from recurrent_mt.layers.min_gru import MinGRUEncoder
from recurrent_mt.layers.separable_convolution import SeparableConvolutionEncoder
from tests.kernels.batches import every_backend, needs_native, random, within
from tests.tolerances import INVARIANCE

EMBED, HIDDEN = 6, 5
LENGTHS = [4, 1, 7, 2]

#: Encoders whose layers have several implementations, of which each is tested.
WITH_BACKENDS = {
    "gru": lambda: GRUEncoder(EMBED, HIDDEN),
    "gru_bidirectional": lambda: GRUEncoder(EMBED, HIDDEN, bidirectional=True),
    "gru_backward_summary": lambda: GRUEncoder(
        EMBED, HIDDEN, bidirectional=True, summary="backward", variant=GRUVariant(gate_bias=False)
    ),
    "gru_two_layers": lambda: GRUEncoder(EMBED, HIDDEN, num_layers=2, bidirectional=True),
    "min_gru": lambda: MinGRUEncoder(EMBED, HIDDEN, num_layers=2, bidirectional=True),
    "gru_low_rank": lambda: GRUEncoder(EMBED, HIDDEN, variant=GRUVariant(rank=2)),
    "gru_input_skip": lambda: GRUEncoder(
        EMBED, HIDDEN, num_layers=2, bidirectional=True, variant=GRUVariant(input_skip=True)
    ),
    "gru_time_skip": lambda: GRUEncoder(EMBED, HIDDEN, bidirectional=True, variant=GRUVariant(time_skip=3)),
    "gru_layer_norm": lambda: GRUEncoder(EMBED, HIDDEN, num_layers=2, variant=GRUVariant(layer_norm=True)),
    "gru_deep_transition": lambda: GRUEncoder(
        EMBED, HIDDEN, num_layers=2, bidirectional=True, variant=GRUVariant(transition_depth=3)
    ),
    "grconv_tanh": lambda: GRConvEncoder(EMBED, HIDDEN),
    "grconv_relu": lambda: GRConvEncoder(EMBED, HIDDEN, activation="relu"),
    "grconv_bounded": lambda: GRConvEncoder(EMBED, HIDDEN, height=2),
    "grconv_pyramid": lambda: GRConvEncoder(EMBED, HIDDEN, annotation_height=2),
    "grconv_whole_pyramid": lambda: GRConvEncoder(EMBED, HIDDEN, annotation_height=9),
    "grconv_bounded_pyramid": lambda: GRConvEncoder(EMBED, HIDDEN, height=3, annotation_height=3),
    "dilated": lambda: DilatedGRConvEncoder(EMBED, 2 * HIDDEN),
    "dilated_max": lambda: DilatedGRConvEncoder(EMBED, 2 * HIDDEN, summary="max"),
    "dilated_positions": lambda: DilatedGRConvEncoder(EMBED, 2 * HIDDEN, height=2, positions=True),
    "dilated_own_weights": lambda: DilatedGRConvEncoder(EMBED, 2 * HIDDEN, weight_sets=9),
}
ENCODERS = {
    **WITH_BACKENDS,
    "sepconv": lambda: SeparableConvolutionEncoder(EMBED, HIDDEN, num_modules=2),
    "unet": lambda: UNetEncoder(EMBED, HIDDEN),
    "vnet": lambda: VNetEncoder(EMBED, HIDDEN, depth=2),
    "grnn": lambda: GRNNEncoder(EMBED, HIDDEN),
}

every_encoder = pytest.mark.parametrize("name", ENCODERS)
every_encoder_and_backend = pytest.mark.parametrize(
    ("name", "backend"),
    [
        # The others are compared with it on sentences with padding by default, too.
        *(pytest.param(name, "reference", marks=pytest.mark.slow) for name in WITH_BACKENDS),
        *((name, "packed") for name in WITH_BACKENDS),
        *(pytest.param(name, "native", marks=needs_native) for name in WITH_BACKENDS),
        *((name, "packed") for name in ENCODERS if name not in WITH_BACKENDS),
    ],
)
both_sides = pytest.mark.parametrize("left_pad", [True, False], ids=["left", "right"])


def build(name, backend="packed"):
    torch.manual_seed(7)
    encoder = ENCODERS[name]()
    for parameter in encoder.parameters():  # no gate or bias may stay at a value that hides it
        torch.nn.init.normal_(parameter, std=0.4)
    encoder.forward = within(backend, encoder.forward)
    return encoder


def batch(sentences, *, left_pad, filler=0.0):
    """Sentences (n, E) as a padded batch and its mask, with ``filler`` on padding."""
    width = max(len(sentence) for sentence in sentences)
    embedded = torch.full((len(sentences), width, EMBED), filler)
    mask = torch.ones(len(sentences), width, dtype=torch.bool)
    for row, sentence in enumerate(sentences):
        columns = slice(width - len(sentence), width) if left_pad else slice(0, len(sentence))
        embedded[row, columns] = sentence
        mask[row, columns] = False
    return embedded, mask


def sentences():
    return [random(length, EMBED, seed=length) for length in LENGTHS]


@every_encoder_and_backend
@both_sides
def test_a_sentence_does_not_depend_on_its_batch_or_its_padding(name, backend, left_pad):
    encoder = build(name, backend)
    together = encoder(*batch(sentences(), left_pad=left_pad))
    for row, sentence in enumerate(sentences()):
        alone = encoder(*batch([sentence], left_pad=left_pad))
        torch.testing.assert_close(together.summary[row], alone.summary[0], **INVARIANCE)
        valid = ~together.padding_mask[row]
        torch.testing.assert_close(together.annotations[row][valid], alone.annotations[0], **INVARIANCE)


@every_encoder_and_backend
@both_sides
def test_poison_on_padding_reaches_no_output_and_no_gradient(name, backend, left_pad):
    encoder = build(name, backend)
    results = []
    for filler in (0.0, float("nan")):
        embedded, mask = batch(sentences(), left_pad=left_pad, filler=filler)
        embedded.requires_grad_()
        output = encoder(embedded, mask)
        loss = (output.summary**2).sum() + (output.annotations**3).sum()
        results.append((output, torch.autograd.grad(loss, [embedded, *encoder.parameters()])))
    torch.testing.assert_close(results[1][0], results[0][0])
    torch.testing.assert_close(results[1][1], results[0][1])
    assert results[1][1][0][mask].eq(0).all()


@pytest.mark.parametrize("name", WITH_BACKENDS)
@every_backend(["packed", "native"])
def test_backends_of_an_encoder_agree(backend, name):
    reference, other = build(name, "reference"), build(name, backend)
    arguments = batch(sentences(), left_pad=True)
    torch.testing.assert_close(other(*arguments), reference(*arguments), **INVARIANCE)


@every_encoder
def test_shapes_zeros_on_padding_and_every_parameter_used(name):
    encoder = build(name)
    embedded, mask = batch(sentences(), left_pad=True)
    output = encoder(embedded, mask)
    assert output.annotations.shape == (*output.padding_mask.shape, encoder.annotation_size)
    assert output.summary.shape == (len(LENGTHS), encoder.summary_size)
    assert output.annotations[output.padding_mask].eq(0).all()
    for parameter, gradient in zip(
        encoder.parameters(), torch.autograd.grad(output.summary.sum() + output.annotations.sum(), encoder.parameters())
    ):
        assert gradient.abs().sum() > 0, parameter.shape


@every_encoder_and_backend
def test_an_empty_sentence_in_a_batch_is_a_zero_summary(name, backend):
    encoder = build(name, backend)
    embedded, mask = batch(sentences(), left_pad=True)
    expected = encoder(embedded, mask)
    mask[2] = True
    output = encoder(embedded, mask)
    assert output.summary[2].eq(0).all() and output.annotations[2].eq(0).all()
    torch.testing.assert_close(output.summary[[0, 1, 3]], expected.summary[[0, 1, 3]], **INVARIANCE)


@every_encoder
@both_sides
def test_every_annotation_covers_tokens_of_its_own_sentence(name, left_pad):
    """Attention moved to the tokens has the same sum, and none of it ends up on padding."""
    _, mask = arguments = batch(sentences(), left_pad=left_pad)
    output = build(name)(*arguments)
    if output.coverage is None:
        assert torch.equal(output.padding_mask, mask)
    weights = random(len(LENGTHS), 3, output.padding_mask.size(1)).exp() * ~output.padding_mask[:, None]
    over_tokens = output.over_tokens(weights)
    assert over_tokens.shape == (len(LENGTHS), 3, max(LENGTHS))
    torch.testing.assert_close(over_tokens.sum(dim=2), weights.sum(dim=2))
    assert over_tokens.masked_select(mask[:, None]).eq(0).all()


@every_encoder
def test_index_select_takes_every_field_of_a_sentence(name):
    output = build(name)(*batch(sentences(), left_pad=True))
    rows = torch.tensor([2, 2, 0])
    selected = output.index_select(rows)
    for before, after in zip(output[:3], selected[:3], strict=True):
        assert torch.equal(after, before[rows])
    assert selected.beam == 1
    assert selected.coverage is output.coverage


def test_the_bidirectional_summary_is_the_last_forward_and_the_first_backward_state():
    encoder = build("gru_bidirectional")
    output = encoder(*batch([sentences()[2]], left_pad=False))
    torch.testing.assert_close(output.summary[0, :HIDDEN], output.annotations[0, -1, :HIDDEN])
    torch.testing.assert_close(output.summary[0, HIDDEN:], output.annotations[0, 0, HIDDEN:])


@pytest.mark.parametrize(("summary", "columns"), [("forward", slice(0, HIDDEN)), ("backward", slice(HIDDEN, None))])
def test_a_summary_of_one_direction_is_its_part_of_both(summary, columns):
    both, one = build("gru_bidirectional"), build("gru_bidirectional")
    one.summary = summary
    arguments = batch(sentences(), left_pad=True)
    torch.testing.assert_close(one(*arguments).summary, both(*arguments).summary[:, columns])


def test_an_impossible_summary_is_named():
    with pytest.raises(ValueError, match="--encoder-summary backward needs --encoder-bidirectional"):
        GRUEncoder(EMBED, HIDDEN, summary="backward")


def test_the_backward_direction_is_the_forward_one_of_the_mirrored_sentence():
    encoder = build("gru_bidirectional")
    forward, backward = encoder.layers[0]
    backward.load_state_dict(forward.state_dict())
    sentence = sentences()[2]
    output = encoder(*batch([sentence], left_pad=False)).annotations[0]
    mirrored = encoder(*batch([sentence.flip(0)], left_pad=False)).annotations[0]
    torch.testing.assert_close(output[:, HIDDEN:], mirrored[:, :HIDDEN].flip(0))


def test_dropout_between_layers_is_drawn_in_training_only():
    torch.manual_seed(1)
    encoder = GRUEncoder(EMBED, HIDDEN, num_layers=2, dropout=0.5)
    arguments = batch(sentences(), left_pad=True)
    assert not torch.equal(encoder(*arguments).summary, encoder(*arguments).summary)
    encoder.eval()
    assert torch.equal(encoder(*arguments).summary, encoder(*arguments).summary)
