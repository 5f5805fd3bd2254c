"""Binarized data beyond 2 GiB: positions do not overflow, whatever kind of number the sizes are."""

import numpy as np
from fairseq.data.indexed_dataset import MMapIndexedDataset, MMapIndexedDatasetBuilder


def test_positions_beyond_two_gibibytes_are_right(tmp_path):
    builder = MMapIndexedDatasetBuilder(str(tmp_path / "train.bin"), dtype=np.uint16)
    # As merge_file_ reads them from a worker's index.
    builder._sizes = [np.int32(2**30)] * 3
    builder.finalize(str(tmp_path / "train.idx"))
    index = MMapIndexedDataset.Index(str(tmp_path / "train.idx"))
    assert [int(index[number][0]) for number in range(3)] == [0, 2**31, 2**32]
