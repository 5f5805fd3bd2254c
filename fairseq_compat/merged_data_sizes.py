"""Lets several processes binarize more than 2 GiB of text.

``fairseq-preprocess --workers`` merges the workers' files, and to find where each sentence begins, fairseq 0.12.2 adds
up the lengths that it reads from them, numbers of 32 bits. In numpy 2, their sum has 32 bits, too: beyond 2 GiB, the
positions become negative, and training stops with "offset must be non-negative and no greater than buffer length".
"""

from .replacements import around


@around("fairseq.data.indexed_dataset", "MMapIndexedDatasetBuilder.finalize")
def finalize_with_plain_sizes(finalize, self, index_file):
    """Add up Python's numbers, which have no limit."""
    self._sizes = list(map(int, self._sizes))
    finalize(self, index_file)
