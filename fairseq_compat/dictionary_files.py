"""Names the file if a dictionary cannot be read: fairseq 0.12.2 shows only the line, or not even that."""

import functools


def repair(dictionary_module):
    """Wrap ``fairseq.data.dictionary.Dictionary.add_from_file``."""
    add_from_file = dictionary_module.Dictionary.add_from_file

    @functools.wraps(add_from_file)
    def add_from_named_file(self, f):
        try:
            add_from_file(self, f)
        except (ValueError, RuntimeError) as error:
            if not isinstance(f, str):
                raise
            raise ValueError(f"{f}: {error}") from error

    dictionary_module.Dictionary.add_from_file = add_from_named_file
