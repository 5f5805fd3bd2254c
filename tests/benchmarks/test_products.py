"""The products that are recorded while models run."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.case import Setting
from benchmarks.families import FAMILIES
from benchmarks.measurement import products_of
from benchmarks.products import Product, operations, record, replay
from benchmarks.tables import label
from tests.kernels.batches import within
from user_dir.cli.count_operations import FORMULAS

#: torch's counter cannot follow gradients of leaves, as of a layer's inputs; these cases have the same layers.
COUNTABLE = [(FAMILIES[name], shape) for name in ("encoder", "translation") for shape in FAMILIES[name].quick]


def counted(function):
    with FlopCounterMode(display=False, custom_mapping=FORMULAS) as counter:
        function()
    return counter.get_total_flops()


def multiply():
    left, right, sums = torch.ones(2, 3), torch.ones(3, 5, requires_grad=True), torch.zeros(2, 5)
    product = sums.addmm_(left, right)
    (product @ torch.ones(5)).sum().backward()
    torch.bmm(torch.ones(7, 2, 3), torch.ones(7, 3, 4))
    left @ right.detach()


PRODUCTS = {
    Product(2, 3, 5): 2,
    Product(2, 5, 1): 1,
    Product(3, 2, 5): 1,  # the gradient of the right factor
    Product(2, 3, 4, batch=7): 1,
}


def test_products_are_recorded_with_those_of_gradients():
    found = record(multiply)
    assert {product: found[product] for product in PRODUCTS} == PRODUCTS
    assert operations(PRODUCTS) == 2 * (2 * 30 + 10 + 30 + 7 * 24)


def test_the_products_done_again_are_those_recorded():
    again = record(replay(PRODUCTS, "cpu", torch.float32))
    assert {product: times for product, times in again.items() if product.n > 1} == {
        product: times for product, times in PRODUCTS.items() if product.n > 1
    }
    assert operations(again) == operations(PRODUCTS)


@pytest.mark.parametrize(("family", "shape"), COUNTABLE, ids=[label(family.name, shape) for family, shape in COUNTABLE])
def test_the_products_of_a_case_are_those_that_torch_counts(family, shape):
    setting = Setting()
    run = family.case(setting, **shape).runs["ours"]
    assert operations(products_of(family, shape, setting)) == within("packed", counted)(run)


def test_products_do_not_depend_on_what_computes_a_case():
    family = FAMILIES["decoder"]
    settings = Setting(), Setting(dtype="autocast")
    found = [products_of(family, family.quick[0], setting) for setting in settings]
    assert found[0] == found[1] and operations(found[0])
