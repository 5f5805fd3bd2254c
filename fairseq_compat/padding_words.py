"""Takes a word of a text that is written like the padding symbol for an unknown word.

fairseq 0.12.2 takes a literal ``<pad>`` for padding. A sentence of such words ends ``fairseq-interactive`` with a bare
AssertionError (lstm); elsewhere, models read a sentence that is shorter than its line, and targets lose the word.
"""

import functools

from fairseq.tokenizer import tokenize_line


def repair(dictionary_module):
    """Let ``fairseq.data.dictionary.Dictionary.encode_line`` find no padding in a text."""
    encode_line = dictionary_module.Dictionary.encode_line

    @functools.wraps(encode_line)
    def encode_words(self, line, line_tokenizer=tokenize_line, *args, **kwargs):
        def tokenize(line):
            return [self.unk_word if word == self.pad_word else word for word in line_tokenizer(line)]

        return encode_line(self, line, tokenize, *args, **kwargs)

    dictionary_module.Dictionary.encode_line = encode_words
