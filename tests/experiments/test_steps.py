"""Outcomes that a plan lists, and command lines of its steps."""

import pytest

from recurrent_mt.experiments.options import PROJECT, read_experiment
from recurrent_mt.experiments.plan import make_plan
from recurrent_mt.experiments.steps import (
    all_finished,
    attends,
    beam_names,
    chosen_rate,
    data_argument,
    finishing_command,
    first_finished,
    has_structure,
    list_attempts,
    training_command,
)

EXPERIMENTS = PROJECT / "configs" / "experiments"


def plan_of(name, *changes):
    return make_plan(name, read_experiment(EXPERIMENTS / f"{name}.yaml", list(changes)))


def test_every_step_that_may_fail_has_an_outcome():
    plan = plan_of("quickstart", "systems=lstm,grconv_encoder-none", "seeds=1,2", "beams=1,5", "without_unknown=true")
    titles = list(list_attempts(plan).values())
    assert titles[:4] == [f"{system}, seed {seed}" for seed in (1, 2) for system in ("lstm", "grconv_encoder-none")]
    assert "translating the test set without unknown words with lstm, seed 2" in titles
    assert "drawing the alignments of lstm" in titles and "drawing the structure of grconv_encoder-none" in titles
    assert "searching with lstm, beam-5-unnormalized" in titles
    assert len(titles) == len(set(list_attempts(plan))) == 4 + 8 + 2 + 8


def test_an_ablation_counts_operations_and_draws_nothing():
    plan = make_plan("skips", read_experiment(EXPERIMENTS / "ablations" / "skips.yaml"))
    titles = " ".join(list_attempts(plan).values())
    assert "counting operations of" in titles and "drawing" not in titles and "searching" not in titles


def test_a_training_has_its_own_seed_rate_and_data():
    plan = plan_of("quickstart", "systems=lstm", "learning_rates=1e-3,1e-2", "shards=2")
    (corpus,) = plan["corpora"]
    line = training_command(plan, plan["systems"]["lstm"], "7", "1e-2")
    assert line.startswith(f"corpora/{corpus}/data/shard0:corpora/{corpus}/data/shard1 --user-dir ")
    assert " --seed 7 " in line and " --lr 1e-2 " in line and "{" not in line
    whole = plan_of("quickstart")
    (corpus,) = whole["corpora"]
    assert data_argument(whole, corpus) == f"corpora/{corpus}/data"


def test_a_rate_is_read_once_it_is_chosen(tmp_path):
    assert chosen_rate(str(tmp_path)) == "CHOSEN"
    (tmp_path / "choice.json").write_text('{"seed": 1, "chosen": "1e-3", "valid_losses": {"1e-3": 2.0}}')
    assert chosen_rate(str(tmp_path)) == "1e-3"


def test_the_first_training_that_has_finished_is_drawn(tmp_path):
    files = []
    for seed, text in enumerate(("failed\nno room\n", "finished\n", "finished\n"), start=1):
        files.append(tmp_path / f"seed-{seed}" / "outcome")
        files[-1].parent.mkdir()
        files[-1].write_text(text)
    assert first_finished(map(str, files)) == tmp_path / "seed-2"
    assert first_finished(["a/outcome", "b/outcome"]).name == "a"
    assert all_finished(map(str, files[1:])) and all_finished(["missing"]) and not all_finished(map(str, files))


def test_a_log_and_text_follow_a_search():
    assert finishing_command("beam-5/test.outcome", "cat") == (
        "mv beam-5/test.search beam-5/test.log && { recurrent-mt hypotheses beam-5/test.log"
        " --out beam-5/test.detokenized; } > beam-5/test.search 2>&1"
    )
    line = finishing_command("x.outcome", "sacremoses detokenize", lists=True)
    assert line.count(" --detokenizer 'sacremoses detokenize' ") == 2 and " --all --out x.nbest && " in line


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--arch grconv_encoder --decoder-attention additive", (True, True)),
        ("--arch grconv_encoder --grconv-height 2", (False, False)),
        ("--arch lstm --decoder-attention 1", (True, False)),
        ("--arch lstm --decoder-attention 0", (False, False)),
        ("--arch transformer --decoder-attention additive", (False, False)),
    ],
)
def test_alignments_and_structure_are_drawn_where_a_system_has_them(arguments, expected):
    assert (attends(arguments.split()), has_structure(arguments.split())) == expected


def test_searches_are_called_after_their_beam_and_exponent():
    assert beam_names({"beams": [3], "lenpens": [1, 0, 0.5]}) == ["beam-3", "beam-3-unnormalized", "beam-3-lenpen-0.5"]
