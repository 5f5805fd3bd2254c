"""Outcomes that a plan lists, and command lines of its steps."""

import pytest

from recurrent_mt.experiments.options import PROJECT, read_experiment
from recurrent_mt.experiments.plan import make_plan
from recurrent_mt.experiments.steps import (
    attends,
    beam_names,
    beam_outcomes,
    chosen_rate,
    data_argument,
    drawing_outcomes,
    finishing_command,
    first_finished,
    has_finished,
    has_structure,
    training_command,
    training_outcomes,
    translation_outcomes,
)

EXPERIMENTS = PROJECT / "configs" / "experiments"


def plan_of(name, *changes):
    return make_plan(name, read_experiment(EXPERIMENTS / f"{name}.yaml", list(changes)))


def test_every_step_that_may_fail_has_an_outcome_of_its_own():
    plan = plan_of("quickstart", "systems=lstm,grconv_encoder-none", "seeds=1,2", "beams=1,5", "without_unknown=true")
    trainings = training_outcomes(plan)
    assert [*trainings.values()] == [f"{name}, seed {seed}" for seed in (1, 2) for name in plan["systems"]]
    translations, searches = translation_outcomes(plan), beam_outcomes(plan, "lstm")
    assert [file.rpartition("/")[2] for file in translations] == ["test.outcome", "test-without-unknown.outcome"] * 4
    assert [file.rpartition("/")[2] for file in searches[:2]] == ["beam-1.outcome", "beam-1-unnormalized.outcome"]
    drawings = [file.rpartition("/")[2] for file in drawing_outcomes(plan)]
    assert drawings == ["alignments-lstm.outcome", "structure-grconv_encoder-none.outcome"]
    assert len({*trainings, *translations, *searches, *drawings}) == 4 + 8 + 4 + 2


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
    assert first_finished([*map(str, files)]) == tmp_path / "seed-2"
    assert first_finished(["a/outcome", "b/outcome"]).name == "a"
    assert [has_finished(file) for file in (*files, "missing")] == [False, True, True, False]


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
