"""Lets several processes binarize more than 2 GiB of text.

``fairseq-preprocess --workers`` merges the workers' files, and to find where each sentence begins, fairseq 0.12.2 adds
up the lengths that it reads from them, numbers of 32 bits. In numpy 2, their sum has 32 bits, too: beyond 2 GiB, the
positions become negative, and training stops with "offset must be non-negative and no greater than buffer length".
"""

import functools


def repair(indexed_dataset):
    """Let ``MMapIndexedDatasetBuilder`` add up Python's numbers, which have no limit."""
    builder_class = indexed_dataset.MMapIndexedDatasetBuilder
    finalize = builder_class.finalize

    @functools.wraps(finalize)
    def finalize_with_plain_sizes(self, index_file):
        self._sizes = list(map(int, self._sizes))
        finalize(self, index_file)

    builder_class.finalize = finalize_with_plain_sizes
