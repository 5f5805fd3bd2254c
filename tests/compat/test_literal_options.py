"""Options are data: what fairseq evaluates cannot run code, wherever it comes from."""

from __future__ import annotations

import ast
import importlib
import re
from argparse import Namespace
from pathlib import Path

import fairseq
import fairseq.utils
import pytest
import torch
from fairseq import checkpoint_utils

import fairseq_compat
from fairseq_compat.literal_options import evaluate
from tests.models.building import build_adaptive, dictionary

FAIRSEQ = Path(fairseq.__file__).parent
EXPRESSIONS = {
    "0.25": 0.25,
    "-1": -1,
    " (0.9, 0.98) ": (0.9, 0.98),
    "0.001,0.0005": (0.001, 0.0005),
    "[(512, 3)] * 3 + [(1024, 1)]": [(512, 3)] * 3 + [(1024, 1)],
    "[3, 7] + [31] * 2": [3, 7, 31, 31],
    "(-(2), 4 * 5)": (-2, 20),
    "{'a': [1, None], 'b': 'text'}": {"a": [1, None], "b": "text"},
    "True": True,
}
PROGRAMS = [
    *("__import__('os').getcwd()", "[x for x in (1, 2)]", "open('x')", "lambda: 1", "lr", "(1).__class__", "1; 2", ""),
    *("2 ** 9", "[1] * [2]", "'a' + 1", "(" * 5000, "9" * 5000),
]


@pytest.mark.parametrize(("source", "value"), EXPRESSIONS.items())
def test_an_option_that_is_data_has_the_value_that_python_gives_it(source, value):
    assert evaluate(source) == value == eval(source)


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda source: source[:20])
def test_an_option_that_is_a_program_is_refused(source):
    with pytest.raises(ValueError, match=r"an option must consist of numbers, text, or lists .* of these, not"):
        evaluate(source)


def test_no_module_of_fairseq_that_loads_with_it_evaluates_otherwise():
    """Its examples are not modules of the package, and its commands only evaluate their own command line."""
    found = set()
    for path in FAIRSEQ.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "examples" in path.relative_to(FAIRSEQ).parts or not re.search(r"\b(eval|exec)\b", text):
            continue
        calls = (node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        if any(isinstance(function, ast.Name) and function.id in ("eval", "exec") for function in calls):
            found.add(".".join(("fairseq", *path.relative_to(FAIRSEQ).with_suffix("").parts)))
    assert found == set(fairseq_compat.NEEDED["literal_options"])
    for name in ("fairseq.utils", "fairseq.optim.adam", "fairseq.models.fconv"):
        assert importlib.import_module(name).eval is evaluate


def test_a_checkpoint_whose_options_are_a_program_is_refused_and_not_run(tmp_path):
    made = tmp_path / "made by the option"
    program = f"[__import__('os').mkdir({str(made)!r})]"
    for side in ("src", "tgt"):
        dictionary(11, "s").save(str(tmp_path / f"dict.{side}.txt"))
    task = {"task": "translation", "data": str(tmp_path), "source_lang": "src", "target_lang": "tgt"}
    options = Namespace(arch="lstm", criterion="adaptive_loss", adaptive_softmax_cutoff=program, **task)
    history = [{"optimizer_name": "FairseqAdam", "lr_scheduler_state": {}, "num_updates": 1}]
    state = {"args": options, "model": build_adaptive().state_dict(), "extra_state": {"epoch": 1}}
    torch.save({**state, "optimizer_history": history}, tmp_path / "checkpoint.pt")
    with pytest.raises(ValueError, match="an option must consist of numbers"):
        checkpoint_utils.load_model_ensemble_and_task([str(tmp_path / "checkpoint.pt")])
    assert not made.exists()
    eval(program)
    assert made.exists(), "the program is live"
