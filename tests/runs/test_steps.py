"""Outcomes that a plan lists, and command lines of its steps."""

import shutil
import subprocess

import pytest

from recurrent_mt.runs.corpora import synthetic_folder
from recurrent_mt.runs.experiment import PROJECT
from recurrent_mt.runs.plan import (
    attends,
    beam_names,
    beam_outcomes,
    chosen_rate,
    compared_with,
    copy_unless_chosen,
    data_argument,
    drawing_outcomes,
    extra_flags,
    finishing_command,
    first_finished,
    gold_file,
    gold_flag,
    gold_inputs,
    has_finished,
    has_structure,
    later_outcomes,
    make_plan,
    operation_outcomes,
    penalized_flags,
    reference_files,
    result_files,
    search_flags,
    search_outcomes,
    system_outcomes,
    training_command,
    training_outcomes,
    translated_set,
    translation_outcomes,
)
from recurrent_mt.runs.reading import read_experiment

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


def test_searches_for_a_rate_have_outcomes_and_so_has_what_follows_a_training():
    plan = plan_of("quickstart", "systems=lstm,fconv", "learning_rates=1e-3,1e-2", "beams=1")
    searches = [file.partition("/")[2].partition("/")[2] for file in search_outcomes(plan)]
    assert searches == ["seed-1/1e-3/outcome", "seed-1/1e-2/outcome", "outcome"] * 2
    later = later_outcomes(plan)
    assert len(later) == len(set(later)) == 2 + 4 + len(drawing_outcomes(plan))
    ablation = plan_of("ablations/skips")
    assert later_outcomes(ablation) == [*translation_outcomes(ablation), *operation_outcomes(ablation)]


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
        ("--arch grconv_encoder --grconv-dilated --grconv-height 2", (False, True)),
        ("--arch lstm --decoder-attention 1", (True, False)),
        ("--arch lstm --decoder-attention 0", (False, False)),
        ("--arch lstm --decoder-attention False", (False, False)),
        ("--arch transformer --decoder-attention additive", (False, False)),
    ],
)
def test_alignments_and_structure_are_drawn_where_a_system_has_them(arguments, expected):
    assert (attends(arguments.split()), has_structure(arguments.split())) == expected


def test_searches_are_called_after_their_beam_and_exponent():
    assert beam_names({"beams": [3], "lenpens": [1, 0, 0.5]}) == ["beam-3", "beam-3-unnormalized", "beam-3-lenpen-0.5"]


@pytest.fixture
def own_text(tmp_path):
    for name in ("train", "valid", "test", "more"):
        for language in ("fr", "en"):
            (tmp_path / f"{name}.{language}").write_text(f"{name} {language}\n")
    return tmp_path


def test_an_experiment_ends_in_tables_and_a_report():
    plan = plan_of("quickstart")
    assert result_files(plan) == [f"{plan['results']}/table.txt", f"{plan['results']}/report.html"]
    plan = plan_of("quickstart", "beams=1,5")
    assert result_files(plan)[2:] == [f"{plan['results']}/beams/beams.txt"]
    plan = make_plan("cells", read_experiment(EXPERIMENTS / "ablations" / "cells.yaml"))
    assert result_files(plan) == [f"{plan['results']}/cells.txt"]
    assert result_files({**plan, "systems": {}}) == []


def test_every_seed_of_a_system_may_be_drawn_and_counted():
    plan = plan_of("quickstart", "systems=lstm,fconv", "seeds=1,2")
    folder = plan["systems"]["fconv"]["folder"]
    assert system_outcomes(plan, "fconv") == [f"trainings/{folder}/seed-{seed}/outcome" for seed in (1, 2)]
    assert f"trainings/{folder}/seed-2/beam-5/operations.outcome" in operation_outcomes(plan)
    assert len(operation_outcomes(plan)) == 4


def test_references_are_those_of_all_test_sets(own_text):
    plan = plan_of("quickstart", f"corpus={own_text}", f"extra_tests=more={own_text}/more")
    (corpus,) = plan["corpora"]
    extra = plan["extra_tests"]["more"]["id"]
    places = ("text", f"extra/{extra}")
    assert reference_files(plan) == [f"corpora/{corpus}/{at}/raw/test.{side}" for at in places for side in ("fr", "en")]
    assert extra_flags(plan) == f"--extra-tests more={extra}"
    assert extra_flags(plan_of("quickstart")) == ""
    assert translated_set(plan, f"extra-{extra}") == "the test set more"
    assert translated_set(plan, "test") == "the test set"
    assert translated_set(plan, "test-without-unknown") == "the test set, <unk> forbidden,"


def test_what_differs_between_searches():
    assert search_flags("test", "5") == "--nbest 5" and search_flags("test", "50") == "--nbest 10"
    assert search_flags("test-without-unknown", "5") == "--nbest 5 --unkpen inf"
    assert search_flags("extra-more-1", "5") == "--nbest 1"
    flags = {"": "", "-unnormalized": " --unnormalized", "-lenpen-0.5": " --lenpen 0.5"}
    assert {penalty: penalized_flags(penalty, "3") for penalty in flags} == {
        penalty: f"--nbest 3{flag}" for penalty, flag in flags.items()
    }


@pytest.mark.parametrize(("outcome", "ends_as"), [("finished\n", "trained"), ("diverged\nwhy\n", "diverged\nwhy\n")])
def test_a_training_without_a_learning_rate_ends_as_the_search_did(outcome, ends_as, tmp_path):
    (tmp_path / "choice").write_text(outcome)
    line = copy_unless_chosen(str(tmp_path / "choice"), str(tmp_path / "outcome"))
    subprocess.run([shutil.which("bash"), "-c", f"{line}printf trained > {tmp_path}/outcome"], check=True)
    assert (tmp_path / "outcome").read_text() == ends_as


def test_a_report_compares_with_what_the_tables_do(tmp_path):
    assert compared_with(str(tmp_path / "table.json")) == "BASELINE"
    (tmp_path / "table.json").write_text('{"test_sets": [{"baseline": "lstm"}]}')
    assert compared_with(str(tmp_path / "table.json")) == "lstm"


def test_the_synthetic_corpus_knows_its_links_and_trees():
    plan = plan_of("quickstart", "systems=lstm,grconv_encoder-none,grconv_encoder-none+grconv-dilated")
    folder = synthetic_folder("fr-en")
    assert gold_file(plan, "lstm", "fr-en.align") == f"{folder}/test.fr-en.align"
    assert gold_flag(plan, "grconv_encoder-none", "--trees", "fr.ptb") == f"--trees {folder}/test.fr.ptb"
    assert gold_inputs(plan, "lstm", "fr-en.align") == []  # it stays as it was made
    # No binary trees follow from gates that join the same windows everywhere.
    assert gold_flag(plan, "grconv_encoder-none+grconv-dilated", "--trees", "fr.ptb") == ""
    pieces = plan_of("quickstart", "systems=lstm", "segmentation=sentencepiece:100")
    assert gold_file(pieces, "lstm", "fr-en.align") is None


def test_other_text_has_links_where_somebody_put_them_beside_its_words(own_text):
    changes = ["systems=lstm", f"corpus={own_text}", "segmentation=word:100"]
    plan = plan_of("quickstart", *changes, "tokenizer=none")
    assert gold_file(plan, "lstm", "fr-en.align") is None
    (own_text / "test.fr-en.align").write_text("0-0\n")
    assert gold_inputs(plan, "lstm", "fr-en.align") == [f"{own_text}/test.fr-en.align"]
    # Words that the tokenizer makes are not those of the file.
    assert gold_file(plan_of("quickstart", *changes), "lstm", "fr-en.align") is None
