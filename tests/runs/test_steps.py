"""Outcomes that a plan lists, and command lines of its steps."""

from dataclasses import replace

import pytest

from recurrent_mt.runs.corpora import synthetic_folder
from recurrent_mt.runs.experiment import PROJECT, read_experiment
from recurrent_mt.runs.plan import System, has_finished, make_plan

EXPERIMENTS = PROJECT / "configs" / "experiments"


def plan_of(name, *changes):
    return make_plan(name, read_experiment(EXPERIMENTS / f"{name}.yaml", list(changes)))


def names(files):
    return [file.rpartition("/")[2] for file in files]


@pytest.fixture
def lstm(tmp_path, monkeypatch):
    """A system with data in shards, in an empty run folder."""
    monkeypatch.chdir(tmp_path)
    changes = ["systems=lstm", "shards=2", "seeds=1,2,3"]
    return plan_of("quickstart", *changes).systems["lstm"]


def write(file, text):
    file.parent.mkdir(parents=True)
    file.write_text(text)


def test_every_step_that_may_fail_has_an_outcome_of_its_own():
    plan = plan_of("quickstart", "systems=lstm,grconv_encoder-none", "seeds=1,2", "beams=1,5", "without_unknown=true")
    trainings = plan.training_outcomes
    assert [*trainings.values()] == [f"{name}, seed {seed}" for seed in (1, 2) for name in plan.systems]
    translations, searches = plan.translation_outcomes, plan.beam_outcomes(plan.systems["lstm"])
    assert names(translations) == ["test.outcome", "test-without-unknown.outcome"] * 4
    assert names(searches[:2]) == ["beam-1.outcome", "beam-1-unnormalized.outcome"]
    drawings = plan.drawing_outcomes
    assert names(drawings) == ["alignments-lstm.outcome", "structure-grconv_encoder-none.outcome"]
    assert len({*trainings, *translations, *searches, *drawings}) == 4 + 8 + 4 + 2


def test_what_follows_a_training_has_outcomes_too():
    plan = plan_of("quickstart", "systems=lstm,fconv", "beams=1")
    later = plan.later_outcomes
    assert len(later) == len(set(later)) == 2 + 4 + len(plan.drawing_outcomes)
    ablation = plan_of("ablations/skips")
    assert ablation.later_outcomes == [*ablation.translation_outcomes, *ablation.operation_outcomes]


def test_a_training_has_its_own_seed_and_data(lstm):
    corpus = lstm.corpus.folder
    line = lstm.command("7")
    assert line.startswith(f"{corpus}/data/shard0:{corpus}/data/shard1 --user-dir ")
    assert " --seed 7 " in line and "{" not in line
    whole = plan_of("quickstart").systems["lstm"]
    assert whole.command("1").startswith(f"{whole.corpus.folder}/data --user-dir ")


def test_the_first_training_that_has_finished_is_drawn(lstm, tmp_path):
    assert lstm.model == f"trainings/{lstm.folder}/seed-1/checkpoints/checkpoint_best.pt"
    for file, text in zip(lstm.outcomes, ("failed\nno room\n", "finished\n", "finished\n"), strict=True):
        write(tmp_path / file, text)
    assert lstm.model == f"trainings/{lstm.folder}/seed-2/checkpoints/checkpoint_best.pt"
    assert [has_finished(file) for file in (*lstm.outcomes, "missing")] == [False, True, True, False]


def test_a_log_and_text_follow_a_search(lstm):
    whole = plan_of("quickstart", "systems=lstm", "segmentation=sentencepiece:100").systems["lstm"]
    assert whole.finish(["beam-5/test.outcome"]) == (
        "mv beam-5/test.search beam-5/test.log && recurrent-mt hypotheses beam-5/test.log"
        " --out beam-5/test.detokenized > beam-5/test.search 2>&1"
    )
    assert " --detokenizer 'sacremoses --quiet " in lstm.finish(["x.outcome"])


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
    system = System("any", "any", None, arguments.split(), [], [1])
    assert (system.attends, system.has_structure) == expected


@pytest.fixture
def own_text(tmp_path):
    for name in ("train", "valid", "test", "more"):
        for language in ("fr", "en"):
            (tmp_path / f"{name}.{language}").write_text(f"{name} {language}\n")
    return tmp_path


def test_an_experiment_ends_in_tables_and_a_report():
    plan = plan_of("quickstart", "beams=1,5")
    assert plan.result_files == [f"{plan.results}/{name}" for name in ("table.txt", "report.html", "beams/beams.txt")]
    plan = make_plan("cells", read_experiment(EXPERIMENTS / "ablations" / "cells.yaml"))
    assert plan.result_files == [f"{plan.results}/cells.txt"]
    assert replace(plan, systems={}).result_files == []


def test_references_are_those_of_all_test_sets(own_text):
    plan = plan_of("quickstart", f"corpus={own_text}", f"extra_tests=more={own_text}/more")
    ((name, corpus),) = plan.corpora.items()
    extra = plan.extra_tests["more"]
    places = ("text", f"extra/{extra}")
    assert plan.reference_files == [f"corpora/{name}/{at}/raw/test.{side}" for at in places for side in ("fr", "en")]
    assert plan.extra_flags == f"--extra-tests more={extra}"
    assert plan_of("quickstart").extra_flags == ""
    assert corpus.translated_set(f"extra-{extra}") == "the test set more"
    assert corpus.translated_set("test") == "the test set"
    assert corpus.translated_set("test-without-unknown") == "the test set, <unk> forbidden,"


def test_what_differs_between_searches():
    assert System.search_flags("test") == System.search_flags("extra-more-1") == ""
    assert System.search_flags("test-without-unknown") == "--unkpen inf"
    flags = {"": "", "-unnormalized": "--unnormalized", "-lenpen-0.5": "--lenpen 0.5"}
    assert {penalty: System.penalized_flags(penalty) for penalty in flags} == flags


LINKS, TREES = "fr-en.align", "fr.ptb"


def test_the_synthetic_corpus_knows_its_links_and_trees():
    systems = plan_of("quickstart", "systems=lstm,grconv_encoder-none,grconv_encoder-none+grconv-dilated").systems
    folder = synthetic_folder("fr-en")
    assert systems["lstm"].gold_file(LINKS) == f"{folder}/test.{LINKS}"
    assert systems["grconv_encoder-none"].gold_flag("--trees", TREES) == f"--trees {folder}/test.{TREES}"
    assert systems["lstm"].gold_inputs(LINKS) == []  # it stays as it was made
    # No binary trees follow from gates that join the same windows everywhere.
    assert systems["grconv_encoder-none+grconv-dilated"].gold_flag("--trees", TREES) == ""
    pieces = plan_of("quickstart", "systems=lstm", "segmentation=sentencepiece:100").systems["lstm"]
    assert pieces.gold_file(LINKS) is None


def test_other_text_has_links_where_somebody_put_them_beside_its_words(own_text):
    changes = ["systems=lstm", f"corpus={own_text}", "segmentation=word:100"]
    system = plan_of("quickstart", *changes, "tokenizer=none").systems["lstm"]
    assert system.gold_file(LINKS) is None
    (own_text / f"test.{LINKS}").write_text("0-0\n")
    assert system.gold_inputs(LINKS) == [f"{own_text}/test.{LINKS}"]
    # Words that the tokenizer makes are not those of the file.
    assert plan_of("quickstart", *changes).systems["lstm"].gold_file(LINKS) is None
