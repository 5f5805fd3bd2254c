"""Prints the alignments of fairseq's ``lstm`` for the words that they belong to.

Sentences of a batch are padded on the left; this model moves the padding to the right, and its attention stays that
way. fairseq 0.12.2 reads the attention by the places of words in the source, so that the alignments of all but the
longest sentences of a batch are wrong, and so are the words that ``--replace-unk`` copies.
"""

import functools

import torch


def repair(utils):
    """Let ``fairseq.utils.extract_hard_alignment`` and ``extract_soft_alignment`` look where the attention is."""
    for name in ("extract_hard_alignment", "extract_soft_alignment"):
        setattr(utils, name, look_where_attention_is(getattr(utils, name)))


def look_where_attention_is(extract):
    """Wrap one of the two functions that make alignments."""

    @functools.wraps(extract)
    def extract_alignment(attn, src_sent, tgt_sent, pad, eos):
        return extract(attn, pad_like_attention(attn, src_sent, pad), tgt_sent, pad, eos)

    return extract_alignment


def pad_like_attention(attn, src_sent, pad):
    """Return a source (S,) with its padding at the end, if it is there that the attention (T, S) ignores the source.

    Attention to padding is exactly zero.
    """
    padding = src_sent == pad
    words = src_sent[~padding]
    if not attn[:, padding].any() or attn[:, len(words) :].any():
        return src_sent
    return torch.cat([words, src_sent[padding]])
