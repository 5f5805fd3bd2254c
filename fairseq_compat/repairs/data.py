"""Repairs of fairseq's text, dictionaries, and binarized data."""

import os

from fairseq.tokenizer import tokenize_line

from ..replacements import around, in_place_of
from .text_lines import count_lines


@around("fairseq_cli.preprocess", "main")
def compare_files(main, args):
    """Refuse files of different lengths, which fairseq-preprocess 0.12.2 takes for a source and its translation."""
    if args.target_lang and not args.only_source and not args.dict_only:
        for prefix in [args.trainpref or "", *(args.validpref or "").split(","), *(args.testpref or "").split(",")]:
            files = [f"{prefix}.{language}" for language in (args.source_lang, args.target_lang)]
            if prefix and all(map(os.path.isfile, files)):
                (first, lines), (other, others) = [(file, count_lines(file)) for file in files]
                if lines != others:
                    raise ValueError(
                        f"{first} has {lines} lines, and {other} has {others}: line n of one must be the translation "
                        "of line n of the other"
                    )
    return main(args)


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
            f"--valid-subset {options.valid_subset} leaves out {', '.join(sorted(ignored))}: name it there, too, or "
            "set --combine-valid-subsets to make one set of all, or --ignore-unused-valid-subsets"
        )
