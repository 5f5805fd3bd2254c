"""Experiments: what their files and the command line may say, and what is refused before anything starts."""

import re

import pytest
import yaml

from recurrent_mt.runs.corpora import find_teacher
from recurrent_mt.runs.experiment import PROJECT, Experiment, OptionError, identify, read_experiment
from recurrent_mt.runs.plan import Plan, make_plan
from tests.commands import call

EXPERIMENTS = sorted((PROJECT / "configs" / "experiments").rglob("*.yaml"))
QUICKSTART = PROJECT / "configs" / "experiments" / "quickstart.yaml"

#: What names the results of each experiment and its trainings: what makes them anew changes it.
IDENTITIES = {
    "attention": "79367c40",
    "cells": "3d33e6ef",
    "decoders": "77c534d4",
    "depth": "635515fc",
    "dilated": "495d8be2",
    "encoders": "c8521c7b",
    "precision": "85aa3a87",
    "rank": "0b4c8e44",
    "regularization": "7e3d58d6",
    "skips": "4728730a",
    "vocabulary": "574a1a7b",
    "comparison": "d6d0516b",
    "quickstart": "040c698f",
    "replication": "1f9f528e",
    "wmt-fr-en": "cec43923",
    "wmt-zh-en": "22b6d583",
}

NAME = "a name of letters, digits, '.', '_', and '-' that begins with a letter or digit"
SYSTEM = "a name, followed by +OPTION=VALUE, if by anything, of letters, digits, '.', '_', and '-'"
SPLITS = ("train", "valid", "test")


def write(folder, text, name="mine.yaml"):
    file = folder / name
    file.write_text(text)
    return file


@pytest.mark.parametrize("file", EXPERIMENTS, ids=lambda file: file.stem)
def test_every_experiment_of_the_project_has_a_plan(file):
    assert len(EXPERIMENTS) >= 11
    options = read_experiment(file, ["corpus="] if "corpus:" in file.read_text() else [])
    plan = make_plan(file.stem, options)
    folders = [system.folder for system in plan.systems.values()]
    assert plan.corpora and list(plan.systems) == list(options.systems)
    assert identify([plan.results, *folders]) == IDENTITIES[file.stem]
    assert Plan.from_record(yaml.safe_load(yaml.safe_dump(plan.to_record()))) == plan


def test_the_command_line_replaces_what_the_file_says():
    changes = ["seeds=3,1", "systems=lstm", "dropout=.5", "lowercase=true", "minutes=1.5"]
    options = read_experiment(QUICKSTART, [*changes, "corpus=a/b", "extra_tests=far=c/d,near=e"])
    assert options.seeds == [3, 1] and options.systems == ["lstm"] and options.dropout == 0.5
    assert options.lowercase is True and options.minutes == 1.5 and options.updates is None
    assert options.learning_rate == "2e-3"
    assert options.extra_tests == {"far": "c/d", "near": "e"} and options.corpus == "a/b"


def test_two_budgets_are_refused_with_their_place_and_an_empty_one_is_none():
    with pytest.raises(OptionError, match=r"^command line: give one budget"):
        read_experiment(QUICKSTART, ["epochs=3", "minutes=2"])
    options = read_experiment(QUICKSTART, ["updates=", "minutes=2"])
    assert options.updates is options.epochs is None and options.minutes == 2


def test_a_flag_of_the_command_line_has_the_value_that_a_file_would_give_it():
    file = PROJECT / "configs" / "experiments" / "ablations" / "skips.yaml"
    flags = read_experiment(file, ["flags=skip-io=true,tied=false,gru-rank=8,clip-norm=.5,arch=lstm,lr=1e-3"]).flags
    assert flags == {"skip-io": True, "tied": False, "gru-rank": 8, "clip-norm": 0.5, "arch": "lstm", "lr": "1e-3"}
    assert read_experiment(QUICKSTART, ["seeds=010,2"]).seeds == [10, 2]


@pytest.mark.parametrize("written", ["2e-1", "2E-01", "0.2", "2.e-1", ".2"])
def test_a_number_may_have_an_exponent_and_no_point(written, tmp_path):
    assert read_experiment(QUICKSTART, [f"dropout={written}"]).dropout == 0.2
    file = tmp_path / "mine.yaml"
    file.write_text(f"pair: fr-en\ndropout: {written}\nminutes: 1e1\nwarmup: 010\nsystems: [lstm]\n")
    experiment = read_experiment(file)
    assert (experiment.dropout, experiment.minutes, experiment.warmup) == (0.2, 10, 10)
    with pytest.raises(OptionError, match="dropout should be less than 1, not '2e1'"):
        read_experiment(QUICKSTART, ["dropout=2e1"])


def test_a_rate_that_yaml_takes_for_a_number_stays_as_it_is_written(tmp_path):
    file = write(tmp_path, "pair: fr-en\nlearning_rate: 0.001\n")
    options = read_experiment(file)
    assert options.learning_rate == "0.001"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("dropuot=0.1", "command line: there is no option dropuot: did you mean dropout?"),
        (
            "max_tokens=many",
            "command line: max_tokens should be a valid integer, unable to parse string as an integer, not 'many'",
        ),
        ("beam=0", "beam should be greater than or equal to 1, not '0'"),
        ("seeds=1,1", "seeds must have each value once, not '1,1'"),
        ("seeds=1,two", "seeds.1 should be a valid integer, unable to parse string as an integer, not 'two'"),
        ("minutes=0", "minutes should be greater than or equal to 0.001, not '0'"),
        ("segmentation=char:3", "segmentation must be word:N, bpe:N, or sentencepiece:N, not 'char:3'"),
        ("pair=fr", "pair must be two languages like fr-en, not 'fr'"),
        ("pair=fr-fr", "source and target language of pair are both fr"),
        ("corpus=$(touch ran)", "corpus must be a path of letters, digits, spaces, and ._/~+@%-, not '$(touch ran)'"),
        *((f"extra_tests={name}=x", f"extra_tests must be {NAME}, not '{name}'") for name in ("..", "a/b", "a b")),
        ("lowercase=maybe", "lowercase should be a valid boolean, unable to interpret input, not 'maybe'"),
        ("baseline=fconv", "baseline fconv is not among the systems"),
        ("extra_tests=far=x", "extra_tests needs a corpus"),
        ("corpus=", "corpus is empty: name a folder"),
        ("extra_tests=far", "extra_tests must be NAME=VALUE, several separated by commas, not 'far'"),
        ("learning_rate=fast", "learning_rate must be a number, not 'fast'"),
        ("tokenizer=jieba", "tokenizer should be 'moses' or 'none', not 'jieba'"),
        ("updates", "'updates' is no option: write KEY=VALUE"),
        ("minutes=1:30", "minutes should be a valid number, unable to parse string as a number, not '1:30'"),
        ("lenpens=0.00001", "lenpens must be 0 or from 0.0001 to 999999"),
        ("pair=fr-en\n", "pair must be two languages like fr-en, not 'fr-en\\n'"),
        *(
            (f"systems=lstm{end}", f"systems.0 must be {SYSTEM}, not {f'lstm{end}'!r}")
            for end in ("\x1b", ";touch ran", "+dropout=$(touch ran)")
        ),
        *((f"{split}=other", f"command line: {split} would do nothing: there is no corpus") for split in SPLITS),
        ("lenpens=0.5", "command line: lenpens would do nothing: there are no beams"),
        ("select_words=0", "select_words must be a number of words such as 348M, not '0'"),
        ("cleaning=true", "cleaning is for collected text"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_by_name_and_value(change, message):
    with pytest.raises(OptionError) as error:
        read_experiment(QUICKSTART, [change])
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        (["schedule=constant", "systems=lstm", "warmup=7"], "warmup"),
        (["beams=1,2", "schedule=constant", "systems=lstm,transformer+dropout=0", "warmup=7", "lenpens=0.5"], None),
        (["systems=recommended-small,rnnsearch-30-small", "dropout=0.7"], "dropout"),
        (["systems=recommended-small,lstm", "dropout=0.7"], None),
        (["corpus=.", "size=full"], "size"),
        (["corpus=.", "mirror=https://near"], "mirror"),
        (["corpus=.", "train=other"], None),
        (["size=full"], None),
    ],
)
def test_what_another_option_makes_useless_is_refused_on_the_command_line(changes, name, tmp_path):
    """A file may have it: it may wait for what the command line says."""
    published = "published: [{role: train, sizes: [small], id: mine}]"
    file = write(tmp_path, f"pair: fr-en\nupdates: 1\nsystems: [lstm]\nlenpens: [1]\ntrain: mine\n{published}\n")
    if name is None:
        assert read_experiment(file, changes)
        return
    with pytest.raises(OptionError, match=f"command line: {name} would do nothing: "):
        read_experiment(file, changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- pair\n", "it must be a mapping of options to values"),
        ("pair: fr-en\npair: en-fr\n", "'pair' is there twice"),
        *((f"pair: fr-en\nwarmup: {number}\n", "warmup should be a valid integer") for number in ("1:30", "0x10")),
        ("pair: [fr\n", "mine.yaml: "),
        ("seeds: [1]\n", "pair is required"),
        ("pair: fr-en\nsystems: [lstm]\n", "give a budget: updates, epochs, minutes"),
        ("pair: fr-en\nsystems: [lstm]\nupdates: yes\n", "updates must be a number, not 'True'"),
        ("pair: fr-en\nupdates: 3\nsystems: {a: {}}\n", "an ablation needs a baseline: one of a"),
        ("pair: fr-en\nupdates: 3\nsystems: {A b: {}}\nbaseline: A b\n", "systems must be a name of small letters"),
        ("pair: fr-en\nupdates: 3\nsystems: {a: {arch: [x]}}\nbaseline: a\n", "systems.a.arch must be one value"),
        ("pair: fr-en\nsystems: [lstm]\nupdates: 3\nconfiguration: rnnenc-30\n", "configuration is for ablations"),
        ("pair: fr-en\nsystems: [lstm]\nupdates: 3\nflags: {lr: 1}\n", "flags are for ablations"),
        (
            "pair: fr-en\nupdates: 3\nsystems: {a: {}}\nbaseline: a\nconfiguration: rnnenc-30\ndropout: 0.1\n",
            "dropout is configuration rnnenc-30's: flags can change it",
        ),
        *(
            (
                f"pair: fr-en\nupdates: 3\nsystems: {{a: {{{flag}: 7}}}}\nbaseline: a\n",
                f"{flag} cannot be a flag: the experiment sets it for every training",
            )
            for flag in ("max-update", "stop_time_hours")
        ),
        (
            "pair: fr-en\nupdates: 3\nsystems: {a: {}}\nbaseline: a\nflags: {segmentation: word:5}\n",
            "segmentation is an option of the experiment and of its systems, and no flag",
        ),
        (
            "pair: fr-en\nupdates: 3\nsystems: {a: {}}\nbaseline: a\ndecoder_size: 64\n",
            "decoder_size is no option of an ablation: flags can change it",
        ),
        ("pair: fr-en\nupdates: 3\nsystems: {off: {}}\nbaseline: a\n", "systems should be a valid string, not 'False'"),
        ("pair: fr-en\nupdates: 3\nsystems: {a: {}}\nbaseline: a\nwithout_unknown: true\n", "takes no without_unknown"),
        (
            "pair: fr-en\nupdates: 3\nsystems: {a: {lr: 1, encoder_layers: 2, encoder-layers: 3}}\nbaseline: a\n",
            "flags are there twice, with hyphens and with underscores: lr, encoder_layers, encoder-layers",
        ),
        *(
            (
                f"pair: fr-en\nupdates: 3\nsystems: {{a: {{segmentation: '{segmentation}'}}}}\nbaseline: a\n",
                "systems.a.segmentation must be word:N, bpe:N, or sentencepiece:N",
            )
            for segmentation in ("../x:100", "word:100;touch ran", "word")
        ),
        ("pair: fr-en\nconfiguration: ../mine\n", "configuration must be the name of a file of configs/"),
        ("pair: fr-en\nmirror: http://x;touch\n", "mirror must be an address"),
        (
            "pair: fr-en\nminutes: .inf\n",
            "minutes should be a valid number, unable to parse string as a number, not '.inf'",
        ),
        ("pair: fr-en\ndropuot: 1\nbeam: 0\n", "there is no option dropuot: did you mean dropout?"),
        ("pair: fr-en\npublished: [{role: train}]\n", "published.0.sizes is required"),
        (
            "pair: fr-en\npublished: [{role: train, sizes: [small], id: a b}]\n",
            f"published.0.id must be {NAME}, not 'a b'",
        ),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_with_its_name(text, message, tmp_path):
    with pytest.raises(OptionError) as error:
        read_experiment(write(tmp_path, text))
    assert message in str(error.value) and "mine.yaml" in str(error.value)


def test_a_file_whose_name_a_shell_would_take_for_something_else_is_refused(tmp_path):
    with pytest.raises(OptionError, match="its name must consist of letters"):
        read_experiment(write(tmp_path, "pair: fr-en\n", "a;b.yaml"))


@pytest.mark.parametrize(
    "flag",
    [
        "user-dir: /x",
        "log-file: /x",
        "ema-seed-model: /x",
        "quantization-config-path: /x",
        "pretrained-checkpoint: /x",
        "restore_file: x",
        "distributed-port: 1",
        "User_Dir: /x",
        "lr: --user-dir=/x",
        "'a b': 1",
        'lr: "1\\n2"',
    ],
)
def test_an_experiment_runs_no_code_of_a_stranger_and_reaches_nothing_else(flag, tmp_path):
    text = f"pair: fr-en\nupdates: 3\nsystems: {{a: {{}}}}\nbaseline: a\nflags: {{arch: lstm, {flag}}}\n"
    with pytest.raises(ValueError, match=r"could run code, write, load|may not begin|must be one line"):
        make_plan("mine", read_experiment(write(tmp_path, text)))


def test_a_system_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="unknown system 'lstn'"):
        make_plan("mine", read_experiment(QUICKSTART, ["systems=lstn"]))


def test_a_language_without_spaces_needs_a_segmentation_of_raw_text(tmp_path):
    options = read_experiment(QUICKSTART, ["pair=en-ja", f"corpus={tmp_path}", "segmentation=bpe:50"])
    with pytest.raises(ValueError, match=r"ja is written without spaces, .*: use segmentation=sentencepiece:N"):
        make_plan("mine", options)


def test_a_pair_of_no_languages_is_refused_before_any_work(tmp_path):
    with pytest.raises(ValueError, match="unknown language code 'xx': use one of ISO 639"):
        make_plan("mine", read_experiment(QUICKSTART, ["pair=xx-en", f"corpus={tmp_path}"]))


@pytest.mark.parametrize(
    ("pair", "tokenizer", "segmentation", "command"),
    [
        ("en-fr_CA", "moses", "bpe:50", "recurrent-mt words join --language fr_CA"),
        ("eng-FRA", "moses", "word:50", "recurrent-mt words join --language FRA"),
        ("en-zho_Hant", "moses", "bpe:50", "recurrent-mt words join --language zho_Hant"),
        ("en-ar_EG", "moses", "bpe:50", "recurrent-mt words join --language ar_EG"),
        ("en-fr", "none", "bpe:50", "cat"),
        ("en-ja", "none", "word:50", "cat"),
        ("en-ja", "moses", "sentencepiece:50", "cat"),
    ],
)
def test_translations_take_the_form_of_the_references(tmp_path, pair, tokenizer, segmentation, command):
    changes = [f"pair={pair}", f"corpus={tmp_path}", f"tokenizer={tokenizer}", f"segmentation={segmentation}"]
    (corpus,) = make_plan("mine", read_experiment(QUICKSTART, changes)).corpora.values()
    assert corpus.form.join_command == command


def test_the_synthetic_corpus_has_two_pairs():
    with pytest.raises(ValueError, match="the synthetic corpus has the pairs fr-en and zh-en, not de-en"):
        make_plan("mine", read_experiment(QUICKSTART, ["pair=de-en"]))


def test_help_lists_every_option_with_what_it_does_and_its_default():
    listed = call("experiment", "--help").stdout.partition("KEYs:")[2]
    assert len(Experiment.model_fields) > 40
    for key in Experiment.model_fields:
        assert re.search(rf"^  {key} +\w", listed, re.MULTILINE), key
    assert "beam size (5)" in listed and "true" in listed


def test_a_teacher_is_one_system_of_a_run_folder(tmp_path):
    run = tmp_path / "run"
    for system in ("one", "two"):
        file = run / f"systems/{system}/seed-1/checkpoints/checkpoint_best.pt"
        file.parent.mkdir(parents=True)
        file.write_text(system)
    (run / "options").write_text("SOURCE_LANG fr\nTARGET_LANG en\nSEGMENTATION bpe:60\nTOKENIZER moses\nLOWERCASE \n")
    checkpoint = run / "systems/two/seed-1/checkpoints/checkpoint_best.pt"
    assert find_teacher(f"{run} two") == [str(run), str(checkpoint)]
    with pytest.raises(ValueError, match=r'distill must name one of the systems of .*, as in ".* SYSTEM": one, two'):
        find_teacher(str(run))


def test_the_synthetic_corpus_is_not_distilled():
    with pytest.raises(ValueError, match="distill needs text as people write it"):
        make_plan("mine", read_experiment(QUICKSTART, ["distill=nowhere"]))
