"""The matrix products that a computation cannot do without: of layers, of whole models by size, and of searches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recurrent_mt.layers.grconv import WAVES


class Product(NamedTuple):
    """A matrix (m, k) times a matrix (k, n).

    Attributes:
        m: rows of the left one.
        k: columns of the left one, rows of the right one.
        n: columns of the right one.
        times: how often it is done.
        batch: how many such products one call computes, each of different matrices.
    """

    m: int
    k: int
    n: int
    times: int = 1
    batch: int = 1

    @property
    def operations(self) -> int:
        """Floating-point operations, two for each multiplication with its addition."""
        return 2 * self.m * self.k * self.n * self.times * self.batch


@dataclass(frozen=True)
class ProductList:
    """The products of a computation and of its gradients.

    Attributes:
        forward: those of the computation.
        backward: those of the gradients of its inputs and weights.
    """

    forward: tuple[Product, ...] = ()
    backward: tuple[Product, ...] = ()

    def __add__(self, other: ProductList) -> ProductList:
        return ProductList(self.forward + other.forward, self.backward + other.backward)

    def all(self) -> tuple[Product, ...]:
        """Returns the products of the forward and of the backward pass."""
        return self.forward + self.backward

    def times(self, number: int) -> ProductList:
        """Returns the same products, each repeated that many times."""
        return ProductList(_repeated(self.forward, number), _repeated(self.backward, number))


def _repeated(products: Iterable[Product], number: int) -> tuple[Product, ...]:
    return tuple(product._replace(times=product.times * number) for product in products)


def operations(products: Iterable[Product]) -> int:
    """Counts the floating-point operations of all products."""
    return sum(product.operations for product in products)


def linear(rows: int, inputs: int, outputs: int) -> ProductList:
    """A weight (outputs, inputs) times all rows at once."""
    backward = Product(rows, outputs, inputs), Product(outputs, rows, inputs)
    return ProductList((Product(rows, inputs, outputs),), backward)


def recurrent(counts: Sequence[int], inputs: int, outputs: int) -> ProductList:
    """A weight (outputs, inputs) times the rows of one position after the other, ``counts`` of them.

    The gradients of the rows also take one product per position; the weight's gradient is a single product.
    """
    positions = sorted(Counter(counts).items(), reverse=True)
    return ProductList(
        tuple(Product(count, inputs, outputs, times) for count, times in positions),
        (
            *(Product(count, outputs, inputs, times) for count, times in positions),
            Product(outputs, sum(counts), inputs),
        ),
    )


class Sizes(NamedTuple):
    """Units of each part.

    Attributes:
        embedding: E, for both languages.
        encoder: H per direction of the encoder; an encoder without directions has twice as many units.
        decoder: H of the decoder.
        readout: maxout units, or for the stock model the layer before the vocabulary.
        vocabulary: V for each language, including fairseq's symbols.
    """

    embedding: int
    encoder: int
    decoder: int
    readout: int
    vocabulary: int

    @property
    def encoded(self) -> int:
        """The width of an annotation, D, and of the summary, C, of every encoder here."""
        return 2 * self.encoder


SIZES = {
    "tiny": Sizes(6, 5, 10, 7, 40),
    # configs/recommended-base.yaml, with the vocabulary of 6,000 joint merges.
    "small": Sizes(256, 256, 512, 256, 3300),
    # Bahdanau et al. (2015), A.2.3, with a vocabulary of 30,000 (section 4.1).
    "paper": Sizes(620, 1000, 1000, 500, 30000),
}


def running(lengths: Sequence[int]) -> list[int]:
    """For each position, how many sentences are longer than it."""
    return [sum(length > position for length in lengths) for position in range(max(lengths))]


def gru_layer(counts: Sequence[int], *, inputs: int, hidden: int, first_is_zero: bool) -> ProductList:
    """A GRU over packed rows; if its first state is zero, that position's recurrent products are not needed."""
    later = counts[1:] if first_is_zero else counts
    return (
        linear(sum(counts), inputs, 3 * hidden)
        + recurrent(later, hidden, 2 * hidden)
        + recurrent(later, hidden, hidden)
    )


def gru_encoder(lengths: Sequence[int], sizes: Sizes) -> ProductList:
    """Lists the products of a bidirectional GRU encoder with one layer."""
    one = gru_layer(running(lengths), inputs=sizes.embedding, hidden=sizes.encoder, first_is_zero=True)
    return one.times(2)


def grconv_levels(lengths: Sequence[int], *, width: int, height: int = 0) -> ProductList:
    """The nodes of the pyramids, level by level.

    A node's candidate and gates are a product of (H + 3, 2H) with its two children. Levels depend on each other,
    and the weights' gradient is accumulated on the way down, so it, too, is one product per level.
    """
    counts = running(lengths)
    top = min(height or len(counts), len(counts) - 1)
    nodes = [sum(counts[level:]) for level in range(1, top + 1)]
    return sum((linear(rows, 2 * width, width + 3) for rows in nodes), ProductList())


def grconv_encoder(lengths: Sequence[int], sizes: Sizes) -> ProductList:
    """Lists the products of a grConv encoder: its leaves and its pyramids."""
    return linear(sum(lengths), sizes.embedding, sizes.encoded) + grconv_levels(lengths, width=sizes.encoded)


def dilated_levels(lengths: Sequence[int], *, width: int, height: int = 0) -> ProductList:
    """The nodes of one direction of the dilated grConv, level by level, each a product as those of the pyramids."""
    rows: list[int] = []
    distance = 1
    while distance < max(lengths) and (not height or len(rows) < height):
        rows.append(sum(max(0, length - distance) for length in lengths))
        distance *= 2
    return sum((linear(count, 2 * width, width + 3) for count in rows), ProductList())


def dilated_grconv_encoder(lengths: Sequence[int], sizes: Sizes, *, height: int) -> ProductList:
    """Leaves with their positions, and the nodes of both directions up to a level."""
    leaves = linear(sum(lengths), sizes.embedding, sizes.encoded)
    # The waves get no gradient.
    rows, waves = max(lengths), 2 * WAVES
    positions = ProductList((Product(rows, waves, sizes.encoded),), (Product(sizes.encoded, rows, waves),))
    return leaves + positions + dilated_levels(lengths, width=sizes.encoder, height=height).times(2)


def decoder(source: Sequence[int], target: Sequence[int], sizes: Sizes, *, attention: bool) -> ProductList:
    """The decoder over given targets, including the scores over the vocabulary.

    Args:
        source: lengths of the sources.
        target: lengths of the targets.
        sizes: the model's.
        attention: additive, or none.
    """
    embedding, hidden, readout = sizes.embedding, sizes.decoder, 2 * sizes.readout
    counts, rows, sentences = running(target), sum(target), len(target)
    total = linear(sentences, sizes.encoded, hidden)
    total += gru_layer(counts, inputs=embedding, hidden=hidden, first_is_zero=False)
    total += linear(rows, hidden, readout) + linear(rows, embedding, readout)
    total += linear(rows, sizes.readout, sizes.vocabulary)
    if not attention:
        return total + linear(sentences, sizes.encoded, 3 * hidden) + linear(sentences, sizes.encoded, readout)
    total += linear(sum(source), sizes.encoded, hidden) + recurrent(counts, hidden, hidden)
    total += recurrent(counts, sizes.encoded, 3 * hidden) + linear(rows, sizes.encoded, readout)
    return total + _additive_attention(counts, positions=max(source), keys=hidden, annotation=sizes.encoded)


def _additive_attention(counts: Sequence[int], *, positions: int, keys: int, annotation: int) -> ProductList:
    """Scores v · tanh(…) and weighted sums, over the padded sources, as one call requires."""
    forward: list[Product] = []
    backward = [Product(positions, len(counts), annotation, batch=counts[0])]
    for count, times in sorted(Counter(counts).items(), reverse=True):
        scores = Product(count * positions, keys, 1, times)
        forward += [scores, Product(1, positions, annotation, times, batch=count)]
        backward += [
            Product(1, count * positions, keys, times),
            Product(positions, annotation, 1, times, batch=count),
        ]
    return ProductList(tuple(forward), tuple(backward))


def search(source: Sequence[int], sizes: Sizes, *, steps: int, beam: int) -> tuple[Product, ...]:
    """The decoder with additive attention in a beam search of that many steps, without gradients.

    The annotations are multiplied by every weight once per source, and a step sums their products. All hypotheses of a
    source start the same, so the first step is over sentences. How many different words the hypotheses of a step end in
    is not known beforehand, so one is counted.
    """
    embedding, hidden, readout = sizes.embedding, sizes.decoder, 2 * sizes.readout
    sentences, positions = len(source), max(source)
    products = 3 * hidden + readout
    once = linear(sentences, sizes.encoded, hidden) + linear(sum(source), sizes.encoded, hidden + products)

    def step(hypotheses: int, times: int) -> tuple[Product, ...]:
        rows = sentences * hypotheses
        dense = linear(1, embedding, products) + linear(rows, hidden, 2 * hidden) + linear(rows, hidden, hidden)
        dense += linear(rows, hidden, hidden) + linear(rows, hidden, readout)
        dense += linear(rows, sizes.readout, sizes.vocabulary)
        attention = (
            Product(rows * positions, hidden, 1, times),
            Product(hypotheses, positions, products, times, batch=sentences),
        )
        return dense.times(times).forward + attention

    return once.forward + step(1, 1) + step(beam, steps - 1)
