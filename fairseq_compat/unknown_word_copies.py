"""Makes ``--replace-unk`` copy the source word that an unknown target word is aligned with.

fairseq 0.12.2 looks up the source word in the alignment from ``--print-alignment``, which has pairs of positions, as if
it were a list of source positions (TypeError). If no alignment was requested, it looks into an empty tensor
(IndexError). It also joins subwords first, after which positions in the hypothesis count words and those in the
alignment count tokens.
"""

import functools


def repair(utils):
    """Let ``fairseq.utils`` look up words by pairs of positions, before subwords are joined."""
    post_process_prediction = utils.post_process_prediction
    utils.replace_unk = replace_unk

    @functools.wraps(post_process_prediction)
    def replace_then_join(*args, align_dict, tgt_dict, remove_bpe=None, **kwargs):
        if align_dict is None or remove_bpe is None:
            return post_process_prediction(
                *args, align_dict=align_dict, tgt_dict=tgt_dict, remove_bpe=remove_bpe, **kwargs
            )
        from fairseq.data.data_utils import post_process

        _, text, alignment = post_process_prediction(
            *args, align_dict=align_dict, tgt_dict=tgt_dict, remove_bpe=None, **kwargs
        )
        text = post_process(text, remove_bpe)
        return tgt_dict.encode_line(text, add_if_not_exist=True), text, alignment

    utils.post_process_prediction = replace_then_join


def replace_unk(hypo_str, src_str, alignment, align_dict, unk):
    """Replace each unknown word of a hypothesis by the translation, or a copy, of the source word it is aligned with.

    Args:
        hypo_str: the hypothesis, space-separated tokens.
        src_str: the source, the same way.
        alignment: pairs (source position, target position), one for each target token.
        align_dict: translations of source words; a missing word is copied.
        unk: the unknown word's symbol.

    Returns:
        The hypothesis with its unknown words replaced.

    Raises:
        ValueError: if there is no alignment for an unknown word.
    """
    source, hypothesis = src_str.split(), hypo_str.split()
    pairs = [pair for pair in alignment if isinstance(pair, tuple)]
    aligned = {target: position for position, target in pairs}
    for target, word in enumerate(hypothesis):
        if word == unk:
            if target not in aligned:
                raise ValueError("--replace-unk looks up source words in the alignment: add --print-alignment hard")
            copied = source[aligned[target]]
            hypothesis[target] = align_dict.get(copied, copied)
    return " ".join(hypothesis)
