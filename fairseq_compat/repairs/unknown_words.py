"""Alignments, and the source words that ``--replace-unk`` copies by them.

Sentences of a batch are padded on the left; fairseq's ``lstm`` moves the padding to the right, and its attention stays
that way. fairseq 0.12.2 reads the attention by the places of words in the source, so that the alignments of all but the
longest sentences of a batch are wrong.

fairseq 0.12.2 looks up the source word in the alignment from ``--print-alignment``, which has pairs of positions, as if
it were a list of source positions (TypeError). If no alignment was requested, it looks into an empty tensor
(IndexError). Positions count tokens, but it looks for them in the words that are left when subwords are joined: the
hypothesis with ``--remove-bpe``, the source in ``fairseq-interactive`` as well, and with ``--bpe`` or ``--tokenizer``.
There, a word that the source dictionary lacks is ``<unk>``, and copied so. And ``--replace-unk`` without a file opens
one called ``@@``.
"""

import torch

from ..replacements import around, in_place_of

NO_WORDS = ("<pad>", "</s>")


@around("fairseq.utils", "extract_soft_alignment")
@around("fairseq.utils", "extract_hard_alignment")
def extract_alignment(extract, attn, src_sent, tgt_sent, pad, eos):
    """Look where the attention is."""
    return extract(attn, pad_like_attention(attn, src_sent, pad), tgt_sent, pad, eos)


def pad_like_attention(attn, src_sent, pad):
    """Return a source (S,) with its padding at the end, if it is there that the attention (T, S) ignores the source.

    Attention to padding is exactly zero.
    """
    padding = src_sent == pad
    words = src_sent[~padding]
    if not attn[:, padding].any() or attn[:, len(words) :].any():
        return src_sent
    return torch.cat([words, src_sent[padding]])


@around("fairseq.utils", "post_process_prediction")
def replace_then_join(
    post_process_prediction, hypo_tokens, src_str, alignment, align_dict, tgt_dict, remove_bpe=None, **kwargs
):
    """Replace unknown words before subwords are joined."""
    if align_dict is None:
        return post_process_prediction(
            hypo_tokens, src_str, alignment, align_dict, tgt_dict, remove_bpe=remove_bpe, **kwargs
        )
    from fairseq.data.data_utils import post_process

    aligned = alignment if isinstance(alignment, Alignment) else Alignment(alignment, symbol=remove_bpe)
    tokens, text, _ = post_process_prediction(hypo_tokens, src_str, aligned, align_dict, tgt_dict, **kwargs)
    if remove_bpe is not None:
        text = post_process(text, remove_bpe)
        tokens = tgt_dict.encode_line(text, add_if_not_exist=True)
    return tokens, text, alignment


@around("fairseq.utils", "load_align_dict")
def load_align_dict(load, replace_unk):
    """Return the translations in a file, and none without a file, for which fairseq's parser has "@@ "."""
    return {} if replace_unk == "@@ " else load(replace_unk)


class Alignment(list):
    """What a hypothesis is aligned with, as fairseq has it: pairs (source position, target position).

    Attributes:
        source: the tokens of the source, separated by spaces; None if not known.
        symbol: what fairseq's options call the subwords.
    """

    def __init__(self, pairs, *, source=None, symbol=None):
        super().__init__(pairs)
        self.source = source
        self.symbol = symbol


@in_place_of("fairseq.utils", "replace_unk")
def replace_unk(hypo_str, src_str, alignment, align_dict, unk):
    """Replace each unknown word of a hypothesis by the translation, or a copy, of the source word it is aligned with.

    Of subwords, the whole word is copied, unless the hypothesis is in the middle of a word or goes on with the same
    word of the source: then the one subword is.

    Args:
        hypo_str: the hypothesis, space-separated tokens.
        src_str: the source, the same way, if the alignment does not know it.
        alignment: pairs (source position, target position), one for each target token.
        align_dict: translations of source words, or of single tokens; a missing word is copied.
        unk: the unknown word's symbol.

    Returns:
        The hypothesis with its unknown words replaced.

    Raises:
        ValueError: if there is no alignment for an unknown word.
    """
    text = getattr(alignment, "source", None)
    # Positions do not count these, not even where the text has them.
    source = [token for token in (src_str if text is None else text).split() if token not in NO_WORDS]
    aligned = {pair[1]: pair[0] for pair in alignment if isinstance(pair, tuple)}
    begins, copy = SUBWORDS.get(getattr(alignment, "symbol", None) or "", (_begins_everywhere, _copy_token))
    hypothesis = hypo_str.split()
    for target, token in enumerate(hypothesis):
        if token == unk:
            if target not in aligned:
                raise ValueError("--replace-unk looks up source words in the alignment: add --print-alignment hard")
            place = aligned[target]
            word = _word_of(source, place, begins)
            goes_on = aligned.get(target + 1) in word
            before = hypothesis[target - 1] if target else None
            hypothesis[target] = copy(source, place, word, align_dict, before, goes_on)
    return " ".join(hypothesis)


def _word_of(source, place, begins):
    """The places of the subwords of the same word, where `begins` says of a place whether a word begins there."""
    first, last = place, place
    while first > 0 and not begins(source, first):
        first -= 1
    while last + 1 < len(source) and not begins(source, last + 1):
        last += 1
    return range(first, last + 1)


def _begins_after_the_end(source, place):
    return not source[place - 1].endswith("@@")


def _begins_with_a_mark(source, place):
    return source[place].startswith("▁")


def _begins_everywhere(source, place):
    return True


def _copy_token(source, place, word, align_dict, before, goes_on):
    return align_dict.get(source[place], source[place])


def _copy_marked_at_the_end(source, place, word, align_dict, before, goes_on):
    piece = source[place]
    if goes_on or (before is not None and before.endswith("@@")):
        piece = align_dict.get(piece, piece)
        return piece if goes_on else piece.removesuffix("@@")
    whole = "".join(source[position].removesuffix("@@") for position in word)
    return align_dict.get(whole, align_dict.get(piece, whole))


def _copy_marked_at_the_beginning(source, place, word, align_dict, before, goes_on):
    piece = source[place]
    if goes_on or not (piece.startswith("▁") or before in (None, "▁")):
        copied = align_dict.get(piece, piece)
    else:
        whole = "".join(source[position] for position in word).removeprefix("▁")
        copied = "▁" + align_dict.get(whole, align_dict.get(piece, whole)).removeprefix("▁")
    return copied.removeprefix("▁") if before == "▁" else copied


#: By what fairseq's options call the subwords: where a word begins, and what is copied of it.
SUBWORDS = {
    **dict.fromkeys(("@@ ", "@@", "subword_nmt"), (_begins_after_the_end, _copy_marked_at_the_end)),
    "sentencepiece": (_begins_with_a_mark, _copy_marked_at_the_beginning),
}
