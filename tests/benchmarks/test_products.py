"""The lists of products compared with what is counted while the models run."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.case import Setting, runner
from benchmarks.families import BEAM, FAMILIES, translator
from benchmarks.layers import Layer, outputs_of_pyramid, sums_and_roots
from benchmarks.products import (
    SIZES,
    Product,
    ProductList,
    decoder,
    dilated_levels,
    grconv_levels,
    linear,
    operations,
    recurrent,
    running,
    search,
)
from benchmarks.systems import SYSTEMS, prepare_models
from benchmarks.tables import label
from user_dir.checkpoints.inspection import FORMULAS
from user_dir.models import products

SETTING = Setting(backend="packed")
TINY = SIZES["tiny"]


@pytest.fixture(autouse=True)
def no_products_to_time(monkeypatch):
    """Once in a process, a model in training times products of its own, for a hint at bfloat16."""
    monkeypatch.setattr(products, "suggest_if_fast", lambda number: None)


def counted(function):
    with FlopCounterMode(display=False, custom_mapping=FORMULAS) as counter:
        function()
    return counter.get_total_flops()


def models_of(system, lengths="equal"):
    return prepare_models(SETTING, system=system, size="tiny", sentences=3, length=6, lengths=lengths)


def zero_states(system, sentences):
    """The recurrent products of the encoder's first positions, which are computed even though their states are zero."""
    return 2 * 2 * sentences * 3 * TINY.encoder**2 if "RNN" in system else 0


@pytest.mark.parametrize(
    ("products", "expected"),
    [
        (linear(2, 3, 5).forward, 60),
        (linear(2, 3, 5).all(), 180),
        (recurrent([4, 4, 2], 3, 5).forward, 300),
        (recurrent([4, 4, 2], 3, 5).all(), 900),
        (linear(2, 3, 5).times(4).backward, 480),
        ((linear(2, 3, 5) + ProductList((Product(1, 1, 1, 2, 3),))).forward, 72),
    ],
)
def test_operations_of_products_are_those_counted_by_hand(products, expected):
    assert operations(products) == expected


def test_one_product_per_position_and_one_for_the_weight():
    assert recurrent([4, 4, 2], 3, 5).forward == (Product(4, 3, 5, 2), Product(2, 3, 5, 1))
    assert recurrent([4, 4, 2], 3, 5).backward[-1] == Product(5, 10, 3)


def test_sentences_running_at_each_position():
    assert running([2, 4, 1]) == [3, 2, 1, 1]


def test_the_products_run_are_those_listed():
    products = (Product(2, 3, 5, 4), Product(2, 3, 1, 1, batch=7))
    assert counted(runner(products, SETTING)) == operations(products)


@pytest.mark.parametrize("lengths", [[5, 5], [6, 3, 1]])
@pytest.mark.parametrize("options", [{}, {"height": 2}])
def test_the_products_of_the_pyramid_are_those_it_makes(lengths, options):
    shapes = [(4, 4), (4, 4), (4,), (3, 4), (3, 4), (3,)]
    layer = Layer("pyramid", lengths, [*map(torch.ones, shapes)], SETTING, outputs_of_pyramid(**options))
    listed = grconv_levels(lengths, width=4, **options)
    assert counted(layer.passes("reference", "tanh", torch.float32)) == operations(listed.all())


@pytest.mark.parametrize("lengths", [[5, 5], [6, 3, 1]])
@pytest.mark.parametrize("height", [0, 2])
def test_the_products_of_the_dilated_grconv_are_those_it_makes(lengths, height):
    shapes = [(1, 4, 4), (1, 4, 4), (1, 4), (1, 3, 4), (1, 3, 4), (1, 3)]
    layer = Layer("dilated", lengths, [*map(torch.ones, shapes)], SETTING, sums_and_roots(height))
    listed = dilated_levels(lengths, width=4, height=height)
    assert counted(layer.passes("reference", "tanh", torch.float32)) == operations(listed.all())


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_products_of_the_encoder_are_those_it_makes(system):
    models = models_of(system)
    tokens = {name: models.sample["net_input"][name] for name in ("src_tokens", "src_lengths")}
    with torch.no_grad():
        done = counted(lambda: models.ours.encoder(**tokens))
    listed = models.system.encoder_products(models.source, TINY).forward
    assert done == operations(listed) + zero_states(system, 3)


@pytest.mark.parametrize("system", ["RNNsearch", "RNNenc"])
def test_the_products_of_the_decoder_are_those_it_makes(system):
    models = models_of(system)
    with torch.no_grad():
        done = counted(lambda: models.ours(**models.sample["net_input"]))
        done -= counted(lambda: models.ours.encoder(models.sample["net_input"]["src_tokens"]))
    attention = models.system.attention
    listed = decoder(models.source, models.target, TINY, attention=attention)
    assert done == operations(listed.forward)


@pytest.mark.parametrize("steps", [3, 8])
def test_the_products_of_the_search_are_those_it_makes(steps):
    models, sentences, rows = models_of("RNNsearch"), 3, 3 * BEAM
    listed = search(models.source, TINY, steps=steps, beam=BEAM)
    listed += models.system.encoder_products(models.source, TINY).forward
    done = counted(translator(models.ours, models, models.sample, steps)) - zero_states("RNNsearch", 3)
    # The first step multiplies contexts, not annotations, and scores every hypothesis; a step multiplies one to all of
    # its words.
    width = 3 * TINY.decoder + 2 * TINY.readout
    first = 2 * sentences * (TINY.encoded * width - 6 * (width - TINY.encoded))
    first += 2 * (rows - sentences) * TINY.readout * TINY.vocabulary
    # The second has the contexts that the first words were scored with: read before the source's products were made.
    first += 2 * rows * TINY.encoded * width
    words = 2 * steps * (rows - 1) * TINY.embedding * width
    assert operations(listed) + first <= done <= operations(listed) + first + words


#: torch's counter cannot follow the decoder's gradients of leaves; training steps have the same ones.
COUNTABLE = [(family, shape) for family in FAMILIES.values() if family.name != "decoder" for shape in family.quick]


@pytest.mark.parametrize(("family", "shape"), COUNTABLE, ids=[label(family.name, shape) for family, shape in COUNTABLE])
def test_no_case_can_do_with_fewer_products(family, shape):
    case = family.case(SETTING, shape)
    listed = operations(case.products)
    # Not in the list: padding, all-zero states, and what is recomputed in the backward pass to save memory.
    assert listed <= counted(case.run) <= 1.5 * listed
