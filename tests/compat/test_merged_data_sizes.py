"""Binarized data beyond 2 GiB: positions do not overflow, whatever kind of number the sizes are."""

import numpy as np
import torch
from fairseq.data.indexed_dataset import MMapIndexedDataset, MMapIndexedDatasetBuilder


def test_positions_beyond_two_gibibytes_are_right(tmp_path):
    builder = MMapIndexedDatasetBuilder(str(tmp_path / "train.bin"), dtype=np.uint16)
    # As merge_file_ reads them from a worker's index.
    builder._sizes = [np.int32(2**30)] * 3
    builder.finalize(str(tmp_path / "train.idx"))
    index = MMapIndexedDataset.Index(str(tmp_path / "train.idx"))
    assert [int(index[number][0]) for number in range(3)] == [0, 2**31, 2**32]


def test_merged_files_are_read_back(tmp_path):
    sentences = [torch.tensor([4, 5, 2]), torch.tensor([6, 2])]
    for name, content in (("worker", sentences[1:]), ("train", sentences[:1])):
        builder = MMapIndexedDatasetBuilder(str(tmp_path / f"{name}.bin"), dtype=np.uint16)
        for sentence in content:
            builder.add_item(sentence)
        if name == "train":
            builder.merge_file_(str(tmp_path / "worker"))
        builder.finalize(str(tmp_path / f"{name}.idx"))
    merged = MMapIndexedDataset(str(tmp_path / "train"))
    assert [merged[number].tolist() for number in range(2)] == [[4, 5, 2], [6, 2]]
