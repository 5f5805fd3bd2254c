"""A GRU that reads the source: one fixed vector, or a context found by attention at every step."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..kernels.attention import AttentionWeights, AttentiveGRUWeights, Memory, attend
from ..kernels.attentive_gru import attentive_gru
from ..kernels.dispatch import products_dtype, using
from ..kernels.matrix import as_matrix
from ..kernels.packing import Packing
from .attention import Attention, readable
from .encoder_output import EncoderOutput
from .gru import GRU
from .gru_cell import PLAIN, GRUVariant, run_steps
from .weights import kernel_weight, multiply, weight_of_rank, xavier_blocks_


class Contexts(NamedTuple):
    """The contexts of packed rows."""

    values: Tensor  # (N, D), or (B, D) if one context serves a whole sentence
    rows: Tensor | None = None  # (N,) which value each row has; None if each has its own

    def through(self, linear: nn.Module) -> Tensor:
        """The contexts through a linear layer: (N, …); a context that serves a whole sentence is multiplied once."""
        projected = linear(self.values)
        return projected if self.rows is None else projected.index_select(0, self.rows)


class ConditionedGRU(nn.Module):
    """The source enters the candidate and both gates at every step.

    With attention, a context is read with the previous state; see :mod:`recurrent_mt.kernels.attentive_gru`. Without,
    it is the summary (Cho et al. 2014a, section 2.2 and appendix). The paper's decoder also applies the reset gate to
    the context term C c of the candidate; the authors' released code does not, and neither does this layer.

    Args:
        input_size: E.
        hidden_size: H.
        context_size: D of the annotations, or C of the summary.
        attention: the kind of :class:`~recurrent_mt.layers.attention.Attention`; None to read the summary.
        variant: as in :class:`~recurrent_mt.layers.gru.GRU`.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        context_size: int,
        attention: str | None = None,
        variant: GRUVariant = PLAIN,
    ) -> None:
        super().__init__()
        self.attention = None
        if attention is not None:
            self.attention = Attention(attention, state_size=hidden_size, annotation_size=context_size)
        self.gru = GRU(input_size, hidden_size, variant=variant)
        context = xavier_blocks_(torch.empty(3 * hidden_size, context_size), hidden_size)
        self.context_weight = weight_of_rank(context, variant.rank)

    def keys(self, source: EncoderOutput) -> Tensor:
        """What is computed once per sentence for all steps: keys (B, S', A), or the summary's products (B, 1, 3H)."""
        return self._products(source) if self.attention is None else self.attention.project(source.annotations)

    def forward(
        self, rows: Tensor, initial: Tensor, packing: Packing, source: EncoderOutput, keys: Tensor
    ) -> tuple[Tensor, Contexts, Tensor | None]:
        """Runs over packed rows.

        Args:
            rows: (N, E).
            initial: (B, H) in packed order; (B, K, H) as :class:`~recurrent_mt.layers.gru.GRU` takes it.
            packing: where the rows are.
            source: the encoded batch, with a row for each hypothesis of a search.
            keys: as returned by :meth:`keys`, also with such rows.

        Returns:
            The states (N, H), the contexts, each read with the state before that of its row, and the attention (N, S')
            or None.
        """
        if self.attention is None:
            context = packing.sort(keys).squeeze(1).index_select(0, packing.sentence)
            states = self.gru(rows, initial, packing.batch_sizes, context=context)
            return states, Contexts(packing.sort(source.summary), packing.sentence), None
        memory = Memory(*(packing.sort(tensor) for tensor in (keys, source.annotations, source.padding_mask)))
        inputs, batch_sizes = self.gru.project(rows), packing.batch_sizes
        if self.gru.variant.in_kernels or not batch_sizes:
            weights = AttentiveGRUWeights(
                *self.gru.recurrent_weights(), kernel_weight(self.context_weight), *self.attention.weights()
            )
            states, contexts, attention = attentive_gru(inputs, initial, memory, weights, batch_sizes=batch_sizes)
        else:
            own = self.gru.bias.dtype
            step = self._time_step(memory, self.attention.weights(), len(batch_sizes))
            states, contexts, attention = run_steps(
                step, inputs.to(own), initial.to(own), batch_sizes, self.gru.time_skip
            )
        return states, Contexts(contexts), attention

    def _time_step(
        self, memory: Memory, weights: AttentionWeights, steps: int
    ) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]:
        """Attention, then all cells of a time step, for some steps of one batch.

        Returns:
            A function from a position's inputs (n, 3H) and the state that enters (n, H) to the next state (n, H), the
            context (n, D), and the attention (n, S'), which carries no gradient.
        """
        advance = self.gru.time_step(steps)
        products = products_dtype(self.gru.bias)
        context_weight = as_matrix(kernel_weight(self.context_weight)).to(products).for_steps(steps)

        def step(inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            with using("packed"):  # these steps may need gradients
                context, attention = attend(state, memory, weights)
            return advance(context_weight.add_to(inputs, context), state), context, attention.detach()

        return step

    def products(self, source: EncoderOutput, keys: Tensor) -> Tensor:
        """What each :func:`~recurrent_mt.layers.attention.readable` adds to gates and candidate: (B, S', 3H)."""
        return keys if self.attention is None else self._products(source)

    def _products(self, source: EncoderOutput) -> Tensor:
        return multiply(readable(self.attention, source), self.context_weight)
