"""How fast a model translates here, exported, and in eight bits, beside fairseq's lstm: ratios of one run.

    python -m benchmarks.exported_models --checkpoint OURS.pt --lstm LSTM.pt --data DATA

Each round translates the same sentences with every system in turn, so that a load on the machine slows all of them; a
system's ratio is the median over the rounds of its sentences a second by those of our model in PyTorch.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import torch
from fairseq.sequence_generator import SequenceGenerator
from torch import nn

from recurrent_mt.onnx_export import export_model
from recurrent_mt.onnx_translation import OnnxModel, translate
from user_dir.checkpoints.checkpoint import Checkpoint, make_batches, token_ids
from user_dir.checkpoints.exporting import take_apart

#: What PyTorch's dynamic quantization is told to quantize: all that it can of an lstm.
QUANTIZED = {nn.Linear, nn.LSTM, nn.LSTMCell}


def in_pytorch(checkpoint: Checkpoint, *, int8: bool, batch: int) -> Callable[[Sequence[str]], None]:
    """Returns a function that translates with PyTorch and fairseq's search."""
    model: nn.Module = checkpoint.model
    if int8:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # torch.ao.quantization gives way to torchao
            model = torch.ao.quantization.quantize_dynamic(model, QUANTIZED, dtype=torch.qint8)
    generator = SequenceGenerator([model], checkpoint.task.target_dictionary, beam_size=5)

    def run(sentences: Sequence[str]) -> None:
        ids = token_ids(sentences, checkpoint.task.source_dictionary)
        room = batch * max(map(len, ids))
        for some in make_batches(checkpoint.task, ids, max_tokens=room, max_sentences=batch, left_pad_source=True):
            generator.generate([model], some)

    return run


def exported(checkpoint: Checkpoint, folder: Path, *, int8: bool, batch: int) -> Callable[[Sequence[str]], None]:
    """Returns a function that translates with onnxruntime."""
    export_model(take_apart(checkpoint), folder, int8=int8)
    model = OnnxModel(folder, threads=1)

    def run(sentences: Sequence[str]) -> None:
        translate(model, sentences, batch=batch)

    return run


def main() -> None:
    """Prints how fast each exported model is beside PyTorch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", required=True, help="a model of this plug-in")
    parser.add_argument("--lstm", required=True, help="fairseq's lstm, trained on the same data")
    parser.add_argument("--data", required=True, help="folder of binarized data with a test set")
    parser.add_argument("--sentences", type=int, default=64, help="how many are translated in a round")
    parser.add_argument("--batch", type=int, default=32, help="how many are translated at a time")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    ours, lstm = (Checkpoint(path, options.data) for path in (options.checkpoint, options.lstm))
    sentences, _ = ours.first_pairs(options.sentences)
    with tempfile.TemporaryDirectory() as folder:
        systems = {
            "ours, PyTorch": in_pytorch(ours, int8=False, batch=options.batch),
            "ours, PyTorch, int8": in_pytorch(ours, int8=True, batch=options.batch),
            "ours, ONNX": exported(ours, Path(folder, "float"), int8=False, batch=options.batch),
            "ours, ONNX, int8": exported(ours, Path(folder, "int8"), int8=True, batch=options.batch),
            "lstm, PyTorch": in_pytorch(lstm, int8=False, batch=options.batch),
            "lstm, PyTorch, int8": in_pytorch(lstm, int8=True, batch=options.batch),
        }
        times: dict[str, list[float]] = {name: [] for name in systems}
        for number in range(options.rounds + 1):
            for name, run in systems.items():
                start = time.process_time()
                run(sentences)
                if number:  # the first round warms up
                    times[name].append(time.process_time() - start)
    first = times["ours, PyTorch"]
    for name, taken in times.items():
        ratio = median(base / own for base, own in zip(first, taken))
        print(f"{name:22} {ratio:5.2f} times  {options.sentences / median(taken):7.1f} sentences per processor second")


if __name__ == "__main__":
    main()
