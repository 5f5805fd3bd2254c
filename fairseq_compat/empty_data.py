"""Names binarized data without sentences: fairseq 0.12.2 says "cannot mmap an empty file"."""

import functools
import os


def repair(indexed_dataset):
    """Look at the size of the file before ``fairseq.data.indexed_dataset.make_dataset`` maps it into memory."""
    make = indexed_dataset.make_dataset

    @functools.wraps(make)
    def make_from_sentences(path, *args, **kwargs):
        data = indexed_dataset.data_file_path(path)
        if os.path.isfile(data) and not os.path.getsize(data):
            raise ValueError(f"{data} has no sentences: binarize text that has some, or leave this set out")
        return make(path, *args, **kwargs)

    indexed_dataset.make_dataset = make_from_sentences
