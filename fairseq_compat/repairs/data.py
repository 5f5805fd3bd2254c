"""Repairs of how fairseq makes data of text."""

import os

from fairseq.tokenizer import tokenize_line

from ..replacements import around
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
