"""Makes ``--replace-unk`` copy the source word that an unknown target word is aligned with.

fairseq 0.12.2 looks up the source word in the alignment from ``--print-alignment``, which has pairs of positions, as if
it were a list of source positions (TypeError). If no alignment was requested, it looks into an empty tensor
(IndexError). Positions count tokens, but it looks for them in the words that are left when subwords are joined: the
hypothesis with ``--remove-bpe``, the source in ``fairseq-interactive`` as well, and with ``--bpe`` or ``--tokenizer``.
There, a word that the source dictionary lacks is ``<unk>``, and copied so. And ``--replace-unk`` without a file opens
one called ``@@``.
"""

import contextlib
import functools

from .module_view import ModuleView
from .text_lines import open_text

#: What fairseq's options call the two kinds of subwords that words can be put together from.
MARKED_AT_THE_END = ("@@ ", "@@", "subword_nmt")
MARKED_AT_THE_BEGINNING = ("sentencepiece",)
NO_WORDS = ("<pad>", "</s>")


def repair(module):
    """Repair ``fairseq.utils``, or let a command that translates keep the source's own tokens."""
    repairs = {"fairseq.utils": _repair_utils, "fairseq_cli.generate": _repair_generate}
    repairs.get(module.__name__, _repair_interactive)(module)


def _repair_utils(utils):
    post_process_prediction, load_align_dict = utils.post_process_prediction, utils.load_align_dict
    utils.replace_unk = replace_unk

    @functools.wraps(post_process_prediction)
    def replace_then_join(hypo_tokens, src_str, alignment, align_dict, tgt_dict, remove_bpe=None, **kwargs):
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

    @functools.wraps(load_align_dict)
    def load_dictionary(replace_unk):
        # What fairseq's parser makes of the option without a file.
        return {} if replace_unk == "@@ " else _read_dictionary(replace_unk) if replace_unk else load_align_dict(None)

    utils.post_process_prediction = replace_then_join
    utils.load_align_dict = load_dictionary


def _read_dictionary(path):
    with open_text(path) as file:
        pairs = [line.split() for line in file]
    for number, pair in enumerate(pairs, 1):
        if len(pair) != 2:
            raise ValueError(f"{path}, line {number}: expected a word of the source and one of the target")
    return dict(pairs)


def _repair_generate(generate):
    translate = generate._main

    @functools.wraps(translate)
    def translate_with_sources(cfg, output_file):
        if cfg.generation.replace_unk is None:
            return translate(cfg, output_file)

        def sources(task, sample):
            texts = task.dataset(cfg.dataset.gen_subset).src
            return [texts.get_original_text(number) for number in sample["id"].tolist()]

        with _known_sources(generate, cfg, sources):
            return translate(cfg, output_file)

    generate._main = translate_with_sources


def _repair_interactive(interactive):
    translate, make_batches = interactive.main, interactive.make_batches
    batch: list[str] = []

    @functools.wraps(make_batches)
    def make_known_batches(lines, cfg, task, max_positions, encode_fn):
        for made in make_batches(lines, cfg, task, max_positions, encode_fn):
            if cfg.generation.replace_unk is not None:
                batch[:] = [encode_fn(lines[number]) for number in made.ids.tolist()]
            yield made

    @functools.wraps(translate)
    def translate_with_sources(cfg):
        if getattr(getattr(cfg, "generation", None), "replace_unk", None) is None:
            return translate(cfg)
        with _known_sources(interactive, cfg, lambda task, sample: batch):
            return translate(cfg)

    interactive.make_batches = make_known_batches
    interactive.main = translate_with_sources


@contextlib.contextmanager
def _known_sources(command, cfg, sources):
    """While it lasts, hypotheses of a command have an :class:`Alignment` that knows their source.

    Args:
        command: the module.
        cfg: its options.
        sources: from the task and a batch to the sources' tokens, separated by spaces.

    Raises:
        ValueError: if no alignment is asked for.
    """
    if cfg.generation.print_alignment != "hard":
        raise ValueError("--replace-unk looks up source words in the alignment: add --print-alignment hard")
    tasks = command.tasks
    symbol = cfg.common_eval.post_process or getattr(cfg.bpe, "_name", None)

    def setup_task(*args, **kwargs):
        task = tasks.setup_task(*args, **kwargs)
        search = task.inference_step

        def search_and_align(generator, models, sample, **kwargs):
            found = search(generator, models, sample, **kwargs)
            for source, hypotheses in zip(sources(task, sample), found, strict=True):
                for hypothesis in hypotheses:
                    hypothesis["alignment"] = Alignment(hypothesis["alignment"], source=source, symbol=symbol)
            return found

        task.inference_step = search_and_align
        return task

    command.tasks = ModuleView(tasks, setup_task=setup_task)
    try:
        yield
    finally:
        command.tasks = tasks


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
    find_word, copy = SUBWORDS.get(getattr(alignment, "symbol", None) or "", (_single_token, _copy_token))
    hypothesis = hypo_str.split()
    for target, token in enumerate(hypothesis):
        if token == unk:
            if target not in aligned:
                raise ValueError("--replace-unk looks up source words in the alignment: add --print-alignment hard")
            place = aligned[target]
            word = find_word(source, place)
            goes_on = aligned.get(target + 1) in word
            before = hypothesis[target - 1] if target else None
            hypothesis[target] = copy(source, place, word, align_dict, before, goes_on)
    return " ".join(hypothesis)


def _single_token(source, place):
    return range(place, place + 1)


def _copy_token(source, place, word, align_dict, before, goes_on):
    return align_dict.get(source[place], source[place])


def _word_marked_at_the_end(source, place):
    """The places of the subwords of the same word: all but the last end in @@."""
    first, last = place, place
    while first > 0 and source[first - 1].endswith("@@"):
        first -= 1
    while last + 1 < len(source) and source[last].endswith("@@"):
        last += 1
    return range(first, last + 1)


def _copy_marked_at_the_end(source, place, word, align_dict, before, goes_on):
    piece = source[place]
    if goes_on or (before is not None and before.endswith("@@")):
        piece = align_dict.get(piece, piece)
        return piece if goes_on else piece.removesuffix("@@")
    whole = "".join(source[position].removesuffix("@@") for position in word)
    return align_dict.get(whole, align_dict.get(piece, whole))


def _word_marked_at_the_beginning(source, place):
    """The places of the subwords of the same word: the first begins with ▁."""
    first, last = place, place
    while first > 0 and not source[first].startswith("▁"):
        first -= 1
    while last + 1 < len(source) and not source[last + 1].startswith("▁"):
        last += 1
    return range(first, last + 1)


def _copy_marked_at_the_beginning(source, place, word, align_dict, before, goes_on):
    piece = source[place]
    if goes_on or not (piece.startswith("▁") or before in (None, "▁")):
        copied = align_dict.get(piece, piece)
    else:
        whole = "".join(source[position] for position in word).removeprefix("▁")
        copied = "▁" + align_dict.get(whole, align_dict.get(piece, whole)).removeprefix("▁")
    return copied.removeprefix("▁") if before == "▁" else copied


#: Which tokens belong to a word, and what is copied of it.
SUBWORDS = {
    **dict.fromkeys(MARKED_AT_THE_END, (_word_marked_at_the_end, _copy_marked_at_the_end)),
    **dict.fromkeys(MARKED_AT_THE_BEGINNING, (_word_marked_at_the_beginning, _copy_marked_at_the_beginning)),
}
