"""The ways of comparing a decoder state with an annotation, with one head or several."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..kernels.matrix import precision, product

ATTENTIONS = ("additive", "dot", "general", "scaled_dot", "scaled_general")


class Attention(nn.Module):
    """The parameters of an attention.

    - ``additive``: v_a · tanh(W_a s + U_a h), Bahdanau et al. (2015), A.1.2, without biases;
    - ``dot``: s · h, Luong et al. (2015), eq. (8);
    - ``general``: s · (W h), likewise;
    - ``scaled_dot`` and ``scaled_general``: the last two divided by the root of the units that are summed over, as in
      Vaswani et al. (2017), section 3.2.1.

    With one head, the attending itself is in :mod:`recurrent_mt.kernels.attentive_gru`. With N of them, it is here, in
    PyTorch operations: each head has its own part of the sum in a score, its own softmax, and its own part V_k h of a
    projection of the annotations, and the context is what all heads read, one after the other::

        e_{k,j} = v_k · tanh(W_k s + U_k h_j)    α_k = softmax(e_k)    c = [Σ_j α_{1,j} V_1 h_j; …; Σ_j α_{N,j} V_N h_j]

    Chen et al. (2018), "The Best of Both Worlds", section 4.1 (RNMT+), with additive scores; the heads are those of
    Vaswani et al. (2017), section 3.2.2, whose output projection is in the weights that the context is multiplied by.

    Args:
        kind: one of :data:`ATTENTIONS`.
        state_size: H of the decoder.
        annotation_size: D of the encoder.
        heads: N.

    Raises:
        ValueError: if the kind is unknown, if it compares states with annotations directly and their sizes differ, or
            if the heads do not divide the sizes.
    """

    def __init__(self, kind: str, *, state_size: int, annotation_size: int, heads: int = 1) -> None:
        super().__init__()
        if kind not in ATTENTIONS:
            raise ValueError(f"there is no attention {kind!r}; there are: {', '.join(ATTENTIONS)}")
        compares_directly = kind in ("dot", "scaled_dot")
        if compares_directly and state_size != annotation_size:
            raise ValueError(
                f"--decoder-attention {kind} compares states of {state_size} units with annotations of "
                f"{annotation_size}: make --decoder-hidden-size the encoder's output size, or use scaled_general"
            )
        if heads < 1 or state_size % heads or annotation_size % heads:
            raise ValueError(
                f"--decoder-attention-heads {heads} must be at least 1 and divide --decoder-hidden-size, {state_size}, "
                f"and the units of the annotations, {annotation_size}"
            )
        self.heads = heads
        self.scale = (state_size // heads) ** -0.5 if kind.startswith("scaled_") else 1.0
        self.key = None if compares_directly else nn.Linear(annotation_size, state_size, bias=False)
        self.query_weight = self.score = None
        if self.key is not None:
            nn.init.xavier_uniform_(self.key.weight)
        if kind == "additive":
            self.query_weight = nn.Parameter(torch.empty(state_size, state_size))
            self.score = nn.Parameter(torch.empty(state_size))
            nn.init.xavier_uniform_(self.query_weight)
            nn.init.uniform_(self.score, -0.1, 0.1)
        self.value = nn.Linear(annotation_size, annotation_size, bias=False) if heads > 1 else None
        if self.value is not None:
            nn.init.xavier_uniform_(self.value.weight)

    def project(self, annotations: Tensor) -> Tensor:
        """The keys (B, S', A) of annotations (B, S', D): computed and scaled once per sentence, not once per step."""
        keys = annotations if self.key is None else self.key(annotations)
        return keys if self.scale == 1 else keys * self.scale

    def values(self, annotations: Tensor) -> Tensor:
        """What each of several heads reads (B, N, S', D / N) of annotations (B, S', D)."""
        assert self.value is not None, "one head reads the annotations themselves"
        return self.value(annotations).unflatten(2, (self.heads, -1)).transpose(1, 2).contiguous()

    def placed_values(self, annotations: Tensor) -> Tensor:
        """The same, each head's values at its place in the context and zeros elsewhere: (B, N · S', D).

        The context is the sum of all of them under their heads' attention, and so is each of its products.
        """
        values = self.values(annotations)
        place = torch.eye(self.heads).to(values).view(self.heads, 1, self.heads, 1)
        return (values.unsqueeze(3) * place).flatten(3).flatten(1, 2)

    def read(self, state: Tensor, keys: Tensor, values: Tensor, padding_mask: Tensor) -> tuple[Tensor, Tensor]:
        """What several heads read with states (n, H); state i of n reads source i // (n / B).

        Args:
            state: (n, H).
            keys: (B, S', A), as :meth:`project` returns them.
            values: (B, N, S', W), such as :meth:`values` returns, of any width.
            padding_mask: (B, S') True on padding.

        Returns:
            What each head has read (n, N, W), and the mean of their attentions (n, S').
        """
        states, products, outside_autocast = precision(state if self.score is None else self.score, "packed")
        with outside_autocast:
            state, keys, values = (rows.to(states) for rows in (state, keys, values))
            query = state if self.query_weight is None else product(state, self.query_weight.to(products).t())
            energy = self._energy(query.to(states).view(keys.size(0), -1, keys.size(2)), keys)
            energy = energy.masked_fill(padding_mask[:, None, None], torch.finfo(states).min)
            attention = energy.softmax(dim=3)
            return (attention @ values).transpose(1, 2).flatten(0, 1), attention.mean(dim=1).flatten(0, 1)

    def _energy(self, query: Tensor, keys: Tensor) -> Tensor:
        """The scores (B, N, n / B, S') of queries (B, n / B, A) and keys (B, S', A)."""
        if self.score is None:
            query, keys = (rows.unflatten(2, (self.heads, -1)).transpose(1, 2) for rows in (query, keys))
            return query @ keys.mT
        # Each head's part of the score vector is in a column of its own: (A, N).
        score = torch.block_diag(*self.score.unflatten(0, (self.heads, -1, 1)))
        return ((query.unsqueeze(2) + keys.unsqueeze(1)).tanh() @ score).permute(0, 3, 1, 2)
