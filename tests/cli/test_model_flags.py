"""What the recipes request from fairseq-train: models of comparable size, schedules, budgets, run folders."""

import shlex
import subprocess

import pytest
from fairseq import options, tasks
from fairseq.data import Dictionary

from recurrent_mt.evaluation.train_log import FastPathCopies
from tests.cli.recipes import ROOT
from user_dir import models  # noqa: F401 - registers the architectures

SIZES = {"EMBEDDING_SIZE": 256, "ENCODER_SIZE": 256, "DECODER_SIZE": 512}


def shell(script, **variables):
    """What a piece of the recipes' library prints, with these variables set."""
    values = {"BUDGET": "epochs 6", **variables}
    setting = "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in values.items())
    line = f'ROOT={shlex.quote(str(ROOT))}\n. "$ROOT/scripts/lib/recipe.sh"\n{setting}{script}'
    return subprocess.run(["bash", "-euc", line], check=True, capture_output=True, text=True).stdout


def flags(name, **variables):
    text = shell(f"set_model_flags {name}\nprintf '%s\\n' \"${{MODEL_FLAGS[@]}}\"", **SIZES, **variables)
    return text.splitlines()


def parameters(name, words=6000):
    """Of a model with these flags and dictionaries of so many words, as `analysis.train_log` counts them."""
    parser = options.get_training_parser()
    arguments = options.parse_args_and_arch(
        parser, ["data", "-s", "fr", "-t", "en", "--optimizer", "adam", *flags(name)]
    )
    dictionaries = [Dictionary() for _ in range(2)]
    for dictionary in dictionaries:
        for number in range(words):
            dictionary.add_symbol(str(number))
    task = tasks.get_task("translation")(arguments, *dictionaries)
    model, copies = task.build_model(arguments), FastPathCopies()
    for line in str(model).splitlines():
        copies.read(line)
    return sum(parameter.numel() for parameter in model.parameters()) - copies.take()


def test_models_of_one_recipe_are_of_comparable_size():
    lstm = parameters("lstm")
    for name in ("fconv", "transformer", "gru_encoder-additive", "grconv_encoder-none"):
        assert 0.95 < parameters(name) / lstm < 1.05, name


@pytest.mark.parametrize(("size", "width"), [(512, 256), (250, 128), (16, 8), (1, 8)])
def test_a_transformers_heads_divide_its_width(size, width):
    found = shell(
        "set_model_flags transformer\nprintf '%s\\n' \"${MODEL_FLAGS[@]}\"", **{**SIZES, "DECODER_SIZE": size}
    ).splitlines()
    assert found[found.index("--encoder-embed-dim") + 1] == str(width)
    assert found[found.index("--decoder-ffn-embed-dim") + 1] == str(4 * width)


@pytest.mark.parametrize(
    ("budget", "warmup", "expected"),
    [
        ("updates 500", "", 50),
        ("updates 100000", "", 4000),
        ("updates 5", "", 1),
        ("epochs 6", "", 400),
        ("minutes 60", "", 400),
        ("minutes 60", "7", 7),
    ],
)
def test_the_transformer_alone_warms_up_over_a_share_of_the_budget(budget, warmup, expected):
    found = flags("transformer", BUDGET=budget, WARMUP=warmup)
    assert found[found.index("--warmup-updates") + 1] == str(expected)
    assert "--warmup-updates" not in flags("fconv")


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ("updates 30", "--max-update 30"),
        ("epochs 6", "--max-update 0 --max-epoch 6"),
        ("minutes 90", "--max-update 0 --max-epoch 0 --stop-time-hours 1.500000"),
        ("minutes .05", "--max-update 0 --max-epoch 0 --stop-time-hours 0.000833"),
    ],
)
def test_a_budget_becomes_fairseqs_flags(budget, expected):
    assert shell('set_budget_flags\necho "${BUDGET_FLAGS[@]}"', BUDGET=budget) == f"{expected}\n"


def test_options_that_are_not_given_change_no_run_folder():
    """Folders of earlier versions have none of them in their options file."""
    names = [
        "SOURCE_LANG", "TARGET_LANG", "TRAIN_PREFIX", "VALID_PREFIX", "TEST_PREFIX", "SEGMENTATION", "TOKENIZER",
        "LOWERCASE", "MAX_LENGTH", "BUDGET", "MAX_TOKENS", "EMBEDDING_SIZE", "ENCODER_SIZE", "DECODER_SIZE", "DROPOUT",
        "LEARNING_RATE", "BEAM",
    ]  # fmt: skip
    values = {name: name.lower() for name in names}
    before = "".join(f"{name} {value}\n" for name, value in values.items())
    assert shell("describe_run", **values, CORPUS="") == before
    assert shell("describe_run", **values, CORPUS="", BASELINE="lstm", AT_ONCE=2, EXTRA_TESTS="a=b") == before
    found = shell("describe_run", **values, CORPUS="", LEARNING_RATES="1,2", WARMUP=9)
    assert found == before + "LEARNING_RATES 1,2\nWARMUP 9\n"
