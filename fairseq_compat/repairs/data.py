"""Repairs of fairseq's text, dictionaries, and binarized data."""

import os

from fairseq.tokenizer import tokenize_line

from ..replacements import around, in_place_of
from .text_lines import count_lines

MEANING = "line n of one must be the translation of line n of the other"


class UnequalSidesError(ValueError):
    """There are more sentences on one side than on the other."""


@around("fairseq_cli.preprocess", "main")
def compare_files(main, args):
    """Say which files do not belong together, and how many lines each has.

    fairseq-preprocess 0.12.2 takes files of different lengths for a source and its translation.
    """
    if args.target_lang and not args.only_source and not args.dict_only:
        for files in _parallel_files(args):
            counts = {file: count_lines(file) for file in files if os.path.isfile(file)}
            for file, count in counts.items():
                first = next(iter(counts))
                if not count:
                    raise ValueError(f"{file} has no line: give it some, or leave its option out")
                if count != counts[first]:
                    raise UnequalSidesError(f"{first} has {counts[first]} lines, and {file} has {count}: {MEANING}")
    return main(args)


def _parallel_files(args):
    """Yield the names of files of one split: source, target, and the alignments between them."""
    others = (args.validpref or "").split(",") + (args.testpref or "").split(",")
    for prefix in filter(None, [args.trainpref, *others]):
        endings = filter(None, (args.source_lang, args.target_lang, args.align_suffix))
        alignments = [args.alignfile] if args.alignfile and prefix == args.trainpref else []
        yield [*(f"{prefix}.{ending}" for ending in endings), *alignments]


@around("fairseq.data.language_pair_dataset", "LanguagePairDataset.__init__")
def compare_sides(initialize, self, src, src_sizes, src_dict, tgt=None, *args, **kwargs):
    """Refuse a source and a target of different lengths with both numbers, not with an AssertionError later on."""
    if tgt is not None and len(src) != len(tgt):
        raise UnequalSidesError(f"{len(src)} source sentences and {len(tgt)} target sentences: {MEANING}")
    initialize(self, src, src_sizes, src_dict, tgt, *args, **kwargs)


@around("fairseq.data.indexed_dataset", "make_dataset")
def make_from_sentences(make, path, *args, **kwargs):
    """Name binarized data without sentences: fairseq 0.12.2 says "cannot mmap an empty file"."""
    from fairseq.data.indexed_dataset import data_file_path

    data = data_file_path(path)
    if os.path.isfile(data) and not os.path.getsize(data):
        raise ValueError(f"{data} has no sentences: binarize text that has some, or leave this set out")
    return make(path, *args, **kwargs)


@around("fairseq.data.dictionary", "Dictionary.add_from_file")
def add_from_named_file(add_from_file, self, f):
    """Name the file if it cannot be read: fairseq 0.12.2 shows only the line, or not even that."""
    try:
        add_from_file(self, f)
    except (ValueError, RuntimeError) as error:
        if not isinstance(f, str):
            raise
        raise ValueError(f"{f}: {error}") from error


@around("fairseq.data.dictionary", "Dictionary.encode_line")
def encode_words(encode_line, self, line, line_tokenizer=tokenize_line, *args, **kwargs):
    """Take a word that is written like the padding symbol for an unknown word.

    fairseq 0.12.2 takes a literal ``<pad>`` for padding. A sentence of such words ends ``fairseq-interactive`` with a
    bare AssertionError (lstm); elsewhere, models read a sentence that is shorter than its line, and targets lose the
    word.
    """

    def tokenize(line):
        return [self.unk_word if word == self.pad_word else word for word in line_tokenizer(line)]

    return encode_line(self, line, tokenize, *args, **kwargs)


@in_place_of("fairseq.data.data_utils", "raise_if_valid_subsets_unintentionally_ignored")
def raise_if_valid_subsets_unintentionally_ignored(train_cfg) -> None:
    """Raise a ValueError if the data have validation sets that are neither named, nor combined, nor ignored.

    fairseq 0.12.2 compares names of files with those of subsets: ``valid1.fr-en.fr`` is never named. It advises an
    option that does not exist, ``--combine-val``.
    """
    from fairseq.data.data_utils import _find_extra_valid_paths

    options = train_cfg.dataset
    if options.ignore_unused_valid_subsets or options.combine_valid_subsets or options.disable_validation:
        return
    if not hasattr(train_cfg.task, "data"):
        return
    # A file is named after its subset, and perhaps its languages: valid1.fr-en.fr.
    named = tuple(f"{subset}." for subset in options.valid_subset.split(","))
    found = _find_extra_valid_paths(train_cfg.task.data)
    ignored = {path.split(".")[0] for path in found if not f"{path}.".startswith(named)}
    if ignored:
        raise ValueError(
            f"there is more to validate on than --valid-subset {options.valid_subset}: "
            f"{', '.join(sorted(ignored))}. Name it there, too, or set --combine-valid-subsets to make one set of "
            "all, or --ignore-unused-valid-subsets"
        )
