"""What is made of a command line."""

from __future__ import annotations

import pytest
from fairseq import options


@pytest.mark.parametrize("flags", ["", "--bf16", "--tpu", "--bf16 --tpu"])
def test_only_tpu_asks_for_a_tpu(flags: str, monkeypatch: pytest.MonkeyPatch):
    line = ["data", "--arch", "lstm", *flags.split()]
    monkeypatch.setattr("sys.argv", ["fairseq-train", *line])
    for given in (line, None):
        parsed = options.parse_args_and_arch(options.get_training_parser(), given)
        assert (parsed.bf16, parsed.tpu) == ("bf16" in flags, "tpu" in flags)
