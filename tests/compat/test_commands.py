"""fairseq's own commands with its own models: trained, resumed, and translated with."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import fairseq_cli.interactive
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf

from fairseq_compat.needless_advice import ADVICE, ignore_advice
from tests.cli import toy

from .repairs.commands import generate, printed, train
from .test_checkpoints import globals_in

TRANSFORMER = [
    *("--arch", "transformer", "--encoder-embed-dim", "32", "--encoder-ffn-embed-dim", "64", "--encoder-layers", "1"),
    *("--encoder-attention-heads", "2", "--decoder-embed-dim", "32", "--decoder-ffn-embed-dim", "64"),
    *("--decoder-layers", "1", "--decoder-attention-heads", "2"),
]
BLEU = [
    *("--eval-bleu", "--eval-bleu-args", '{"beam": 2, "max_len_b": 10}', "--validate-interval", "1"),
    *("--best-checkpoint-metric", "bleu", "--maximize-best-checkpoint-metric"),
]


def losses(log: str) -> list[float]:
    return [float(loss) for loss in re.findall(r'"loss": "([\d.]+)"', log)]


def test_transformer_trains_in_bfloat16_resumes_and_translates(data: Path, tmp_path: Path, logged):
    with warnings.catch_warnings(record=True) as shown:
        # As at the start of a process: pytest shows all.
        warnings.resetwarnings()
        ignore_advice(None)
        train(data, tmp_path, "--bf16", "--max-update", 10, *BLEU, model=TRANSFORMER)
    assert not [warning for warning in shown if any(re.match(advice, str(warning.message)) for advice in ADVICE)]
    first = losses(logged())
    assert len(first) == 10 and first[-1] < first[0] - 0.5
    # With --eval-bleu, the meters are numpy arrays.
    checkpoint = tmp_path / "checkpoint_last.pt"
    assert "numpy._core.multiarray _reconstruct" in globals_in(checkpoint)
    assert "argparse Namespace" in globals_in(checkpoint)
    train(data, tmp_path, "--bf16", "--max-update", 15, *BLEU, model=TRANSFORMER)
    log = logged()
    assert re.search(r"Loaded checkpoint .*checkpoint_last.pt \(epoch \d+ @ 10 updates\)", log)
    assert losses(log)[-1] < first[-1]
    assert len(toy.lines(generate(data, checkpoint), "H")) == 20

    (tmp_path / "typed").write_text("w1 w2 w3\nw4 w5 w6 w7 w0\n")
    # The padded batch of two is what fairseq's fast path stops at.
    batches = ("--buffer-size", "2", "--batch-size", "2", "--input", str(tmp_path / "typed"))
    line = [str(data), "--path", str(checkpoint), "--cpu", *batches]
    config = convert_namespace_to_omegaconf(
        options.parse_args_and_arch(options.get_interactive_generation_parser(), line)
    )
    output = printed(fairseq_cli.interactive.main, config)
    assert toy.lines(output, "S") == {0: "w1 w2 w3", 1: "w4 w5 w6 w7 w0"} and len(toy.lines(output, "H")) == 2
