"""Attention: how a decoder state is compared with the annotations, and multi-head self-attention."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..kernels.attention import AttentionWeights, Memory, attend
from ..kernels.packing import Packing
from .dropout import Dropout
from .encoder_output import EncoderOutput, for_each_hypothesis
from .grid import left_aligned, right_padding
from .weights import projection, xavier_blocks_

ATTENTIONS = ("additive", "dot", "general", "scaled_dot", "scaled_general")


class Attention(nn.Module):
    """The parameters of an attention.

    - ``additive``: v_a · tanh(W_a s + U_a h), Bahdanau et al. (2015), A.1.2, without biases;
    - ``dot``: s · h, Luong et al. (2015), eq. (8);
    - ``general``: s · (W h), likewise;
    - ``scaled_dot`` and ``scaled_general``: the last two divided by the root of the units that are summed over, as in
      Vaswani et al. (2017), section 3.2.1.

    The attending itself is in :mod:`recurrent_mt.kernels.attention`.

    Args:
        kind: one of :data:`ATTENTIONS`.
        state_size: H of the decoder.
        annotation_size: D of the encoder.
        hops: how often a step asks, 1 or, in a decoder of minimal GRUs, 2.

    Raises:
        ValueError: if it compares states with annotations directly and their sizes differ.
    """

    def __init__(self, kind: str, *, state_size: int, annotation_size: int, hops: int = 1) -> None:
        super().__init__()
        self.hops = hops
        compares_directly = kind in ("dot", "scaled_dot")
        if compares_directly and state_size != annotation_size:
            raise ValueError(
                f"--decoder-attention {kind} compares states of {state_size} units with annotations of "
                f"{annotation_size}: make --decoder-hidden-size the encoder's output size, or use scaled_general"
            )
        self.scale = state_size**-0.5 if kind.startswith("scaled_") else 1.0
        self.key = None if compares_directly else projection(annotation_size, state_size, bias=False)
        self.query_weight = self.score = None
        if kind == "additive":
            self.query_weight = nn.Parameter(torch.empty(state_size, state_size))
            self.score = nn.Parameter(torch.empty(state_size))
            nn.init.xavier_uniform_(self.query_weight)
            nn.init.uniform_(self.score, -0.1, 0.1)

    def project(self, annotations: Tensor) -> Tensor:
        """The keys (B, S', A) of annotations (B, S', D): computed and scaled once per sentence, not once per step."""
        keys = annotations if self.key is None else self.key(annotations)
        return keys if self.scale == 1 else keys * self.scale

    def weights(self) -> AttentionWeights:
        """What :func:`recurrent_mt.kernels.attention.attend` takes besides the keys."""
        return AttentionWeights(self.query_weight, self.score)


def readable(attention: Attention | None, source: EncoderOutput) -> Tensor:
    """What contexts are made of: the annotations (B, S', D), or, without attention, the summary (B, 1, C)."""
    return source.summary.unsqueeze(1) if attention is None else source.annotations


def read(
    attention: Attention | None, queries: Tensor, source: EncoderOutput, keys: Tensor, values: Tensor
) -> tuple[Tensor, Tensor | None]:
    """For queries (N, H) of a step, the sums (N, P) of values under their attention (N, S'), if there is attention.

    A product of the context is the same sum of the products of what is :func:`readable`, up to rounding.

    Args:
        attention: how queries ask; None where one value serves a whole sentence.
        queries: (N, H).
        source: the encoded batch.
        keys: (B, S', A) of :meth:`Attention.project`.
        values: as many as are :func:`readable`, of any width P.
    """
    if attention is None:
        return for_each_hypothesis(values.squeeze(1), source.beam), None
    return attend(queries, Memory(keys, values, source.padding_mask), attention.weights())


class KeyValueCache(NamedTuple):
    """Keys and values of B sentences at M places."""

    keys_and_values: Tensor  # (B, M, 2H)
    padding: Tensor  # (B, M) True on padding

    def append(self, keys_and_values: Tensor) -> KeyValueCache:
        """The cache with one more place: keys and values (B, 2H) of every sentence, none of them padding."""
        grown = torch.cat([self.keys_and_values, keys_and_values.unsqueeze(1)], dim=1)
        return KeyValueCache(grown, F.pad(self.padding, (0, 1)))

    def index_select(self, sentences: Tensor) -> KeyValueCache:
        """The ``sentences``, in that order."""
        return KeyValueCache(*(field.index_select(0, sentences) for field in self))


class SelfAttention(nn.Module):
    """Scaled dot-product attention with several heads, then a residual connection and a layer norm.

    Vaswani et al. (2017), "Attention Is All You Need", sections 3.2 and 3.1, without biases; with H units, each of N
    heads has d = H / N of its own::

        head_i = softmax(X W_i^Q (M W_i^K)ᵀ / √d) M W_i^V        Y = LayerNorm(X + [head_1; …; head_N] W^O)

    M is X, unless something else attends to M. Dropout comes before the sum (their section 5.4). No positions are
    added: what attends here comes from layers that see the order of words. 4 H² + 2 H parameters, whatever N is.

    Args:
        size: H.
        num_heads: N, a divisor of the size.
        dropout: probability of dropping a unit before the residual connection.
    """

    def __init__(self, size: int, *, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if size % num_heads:
            raise ValueError(f"the {num_heads} heads of {type(self).__name__} must divide its {size} units")
        self.num_heads = num_heads
        self.query = projection(size, size, bias=False)
        self.memory = projection(size, 2 * size, bias=False)
        xavier_blocks_(self.memory.weight, size)
        self.output = projection(size, size, bias=False)
        self.dropout = Dropout(dropout, owner=type(self).__name__)
        self.norm = nn.LayerNorm(size)

    def attend(self, queries: Tensor, memory: Tensor, *, visible: Tensor | None = None, causal: bool = False) -> Tensor:
        """The heads, side by side: (B, T, H).

        Args:
            queries: (B, T, H), through :attr:`query`.
            memory: (B, M, 2H), through :attr:`memory`: the keys of all heads, then their values.
            visible: (B, M) True where a query may look, at one place or more; None for everywhere.
            causal: whether query t looks only at the first t + 1 places.
        """
        mask = None if visible is None else visible[:, None, None]
        queries = queries.unflatten(2, (self.num_heads, -1)).transpose(1, 2)  # (B, N, T, d)
        keys, values = memory.unflatten(2, (2, self.num_heads, -1)).permute(2, 0, 3, 1, 4)  # (B, N, M, d) each
        heads = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, is_causal=causal)
        return heads.transpose(1, 2).flatten(2)

    def merge(self, states: Tensor, heads: Tensor) -> Tensor:
        """Y (…, H) of the states X (…, H) and the heads (…, H)."""
        return self.norm(states + self.dropout(self.output(heads)))


class EncoderSelfAttention(SelfAttention):
    """Each annotation attends to all annotations of its sentence.

    If the decoder only reads the summary, the summary attends to them instead. The other of the two is unchanged. An
    annotation keeps its place, and therefore the tokens it covers.

    Args:
        size: D of the annotations, and of the summary if that attends.
        num_heads: as in :class:`SelfAttention`.
        dropout: the same.
        of_summary: whether the summary attends to the annotations instead of them.
    """

    def __init__(self, size: int, *, num_heads: int, dropout: float = 0.0, of_summary: bool = False) -> None:
        super().__init__(size, num_heads=num_heads, dropout=dropout)
        self.of_summary = of_summary

    def forward(self, source: EncoderOutput) -> EncoderOutput:
        """The encoded batch with new annotations, or a new summary; zeros on padding and for an empty sentence."""
        padding = source.padding_mask
        empty = padding.all(dim=1, keepdim=True)
        annotations = source.annotations.masked_fill(padding.unsqueeze(2), 0)
        states = source.summary.unsqueeze(1) if self.of_summary else annotations
        # A softmax over nothing is NaN: an empty sentence looks at its zeros.
        heads = self.attend(self.query(states), self.memory(annotations), visible=~padding | empty)
        attentive = self.merge(states, heads)
        if self.of_summary:
            return source._replace(summary=attentive.squeeze(1).masked_fill(empty, 0))
        return source._replace(annotations=attentive.masked_fill(padding.unsqueeze(2), 0))


class DecoderSelfAttention(SelfAttention):
    """Each state attends to itself and to those before it in its sentence."""

    def forward(self, rows: Tensor, packing: Packing) -> tuple[Tensor, KeyValueCache]:
        """Y (N, H) of whole sentences' packed states (N, H); and what :meth:`step` needs, in the order of the batch."""
        packing = left_aligned(packing)
        memory = packing.unpack(self.memory(rows))
        heads = packing.pack(self.attend(packing.unpack(self.query(rows)), memory, causal=True))
        return self.merge(rows, heads), KeyValueCache(memory, right_padding(packing))

    def step(self, states: Tensor, past: KeyValueCache | None) -> tuple[Tensor, KeyValueCache]:
        """Continues by one state per sentence (B, H): Y (B, H), and the past of the next step.

        ``past`` is as returned by :meth:`forward` or an earlier step, not changed; None before the first state.
        """
        memory = self.memory(states)
        if past is None:
            past = KeyValueCache(memory.unsqueeze(1), states.new_zeros(states.size(0), 1).bool())
        else:
            past = past.append(memory)
        heads = self.attend(self.query(states).unsqueeze(1), past.keys_and_values, visible=~past.padding)
        return self.merge(states, heads.squeeze(1)), past
