from pathlib import Path

import pytest

from recurrent_mt.evaluation.ablation.plan import PlanError, read_plan

ROOT = Path(__file__).parents[3]
PLANS = sorted((ROOT / "configs" / "ablations").glob("*.yaml"))

PLAN = """
recipe: {segmentation: "bpe:40", lowercase: true, updates: 5, seeds: "1,2"}
train:
  arch: gru_encoder
  encoder-bidirectional: true
base: plain
cells:
  plain: {}
  other: {arch: grconv_encoder, encoder-bidirectional: false, dropout: 0.5, segmentation: "word:9"}
"""


def write(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_plan_becomes_command_lines(tmp_path):
    plan = read_plan(write(tmp_path, PLAN))
    assert (plan.name, plan.base, list(plan.cells)) == ("mine", "plain", ["plain", "other"])
    assert list(plan.recipe_arguments()) == [
        *("--segmentation", "bpe:40"), "--lowercase", *("--updates", "5"), *("--seeds", "1,2"),
    ]  # fmt: skip
    assert list(plan.train_arguments("plain")) == ["--arch", "gru_encoder", "--encoder-bidirectional"]
    assert list(plan.train_arguments("other")) == ["--arch", "grconv_encoder", "--dropout", "0.5"]
    assert (plan.segmentation("plain"), plan.segmentation("other")) == (None, "word:9")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("base: plain", "base: simple"), r"mine.yaml: base is 'simple', which is none of the cells: plain, other"),
        (("base: plain", "basis: plain"), r"unknown section 'basis': choose of recipe, train, base, cells"),
        (("other:", "plain:"), r"'plain' stands twice .*line 9"),
        (("other:", "Über/all:"), r"cell 'Über/all': use small letters"),
        (("other:", "7:"), r"cells: 7 must be a text"),
        (("plain: {}", "plain: 3"), r"cell plain must be a mapping, not 3"),
        (("dropout: 0.5", "dropout: [1, 2]"), r"cell other: dropout is a list"),
        (("dropout: 0.5", "dropout: {rate: 2}"), r"cell other: dropout must be one value"),
        (("train:", "train: ["), r"mine.yaml: .*line"),
        (("dropout: 0.5", "user_dir: /x"), r"cell other: user_dir would run code: it cannot be set in a file"),
        (
            ("dropout: 0.5", "bf16: --user-dir=/x"),
            r"cell other: bf16 is '--user-dir=/x': a value may not begin with '-'",
        ),
        (("dropout: 0.5", '"bf16=1": 2'), r"cell other: 'bf16=1' is no name of an option"),
        (("dropout: 0.5", r'lr: "1\n--user-dir"'), r"cell other: lr is '1\\n--user-dir': a value must be one line"),
        (("base: plain", "base: {plain: 1}"), r"base is {'plain': 1}, which is none"),
        (("dropout: 0.5", "dropout: 2014-99-99"), r"mine.yaml: month must be in 1..12"),
        ((PLAN, ""), r"base is None, which is none of the cells: there are none"),
        ((PLAN, "just words"), r"the plan must be a mapping, not 'just words'"),
    ],
)
def test_what_is_wrong_with_a_plan_is_named(tmp_path, change, message):
    with pytest.raises(PlanError, match=message):
        read_plan(write(tmp_path, PLAN.replace(*change)))


def test_a_plan_runs_no_code(tmp_path):
    with pytest.raises(PlanError, match="could not determine a constructor"):
        read_plan(write(tmp_path, "base: !!python/object/apply:os.getcwd []"))


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_plans_here_share_one_recipe_and_base(path):
    plan, first = read_plan(path), read_plan(PLANS[0])
    assert (plan.recipe, plan.train, plan.base) == (first.recipe, first.train, first.base)
    assert plan.cells[plan.base] == {}


def test_a_cell_means_the_same_in_every_plan():
    seen = {}
    for path in PLANS:
        plan = read_plan(path)
        for name, cell in plan.cells.items():
            assert seen.setdefault(name, cell) == cell, f"{path}: {name}"
