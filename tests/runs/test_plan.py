"""Plans: what decides a result is in its path, and what does not, is not; the command lines of every system."""

from dataclasses import replace
from itertools import pairwise

import pytest
from fairseq.models import MODEL_REGISTRY

from recurrent_mt import numerics
from recurrent_mt.layers import attention
from recurrent_mt.runs import systems
from recurrent_mt.runs.experiment import PROJECT, read_experiment
from recurrent_mt.runs.plan import make_plan
from recurrent_mt.runs.view import link, show_results
from recurrent_mt.text_files import FileError

QUICKSTART = PROJECT / "configs" / "experiments" / "quickstart.yaml"
WMT = PROJECT / "configs" / "experiments" / "wmt-fr-en.yaml"


def plan(*changes, file=QUICKSTART):
    return make_plan(file.stem, read_experiment(file, changes))


def folders(*changes):
    return {name: system.folder for name, system in plan(*changes).systems.items()}


def arguments(name, *changes):
    return " ".join(plan(f"systems={name}", *changes).systems[name].arguments)


@pytest.mark.parametrize("change", ["dropout=0.2", "updates=501", "max_length=90", "lowercase=true", "pair=zh-en"])
def test_a_changed_option_trains_in_another_folder(change):
    before, after = folders(), folders(change)
    assert before.keys() == after.keys() and not set(before.values()) & set(after.values())


@pytest.mark.parametrize("version", ["TEXT", "SYNTHETIC", "TRAINING"])
def test_a_version_of_the_numbers_is_in_the_names_of_what_has_them(version, monkeypatch):
    before = plan()
    monkeypatch.setattr(numerics, version, 999)
    after = plan()
    assert not {one.folder for one in before.systems.values()} & {one.folder for one in after.systems.values()}
    assert (before.corpora.keys() == after.corpora.keys()) == (version == "TRAINING")
    places = [next(iter(one.corpora.values())).reference for one in (before, after)]
    assert (places[0] == places[1]) == (version != "SYNTHETIC")
    assert before.results != after.results


def test_scores_of_another_version_are_other_results_of_the_same_trainings(monkeypatch):
    before = plan()
    monkeypatch.setattr(numerics, "SCORES", 999)
    after = plan()
    assert before.systems == after.systems and before.corpora == after.corpora
    assert before.results != after.results


@pytest.mark.parametrize("change", ["seeds=1,2", "systems=lstm,gru_encoder-none", "beam=7", "without_unknown=true"])
def test_what_changes_no_training_leaves_it_where_it_is(change):
    assert set(folders(change).values()) <= set(folders().values())
    assert plan(change).results != plan().results


def test_the_same_text_somewhere_else_is_the_same_corpus(tmp_path):
    ids = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for split in ("train", "valid", "test"):
            for language in ("fr", "en"):
                (tmp_path / name / f"{split}.{language}").write_text(f"{split} {language}\n")
        ids.append(list(plan(f"corpus={tmp_path / name}").corpora))
    (tmp_path / "two" / "train.fr").write_text("another\n")
    assert ids[0] == ids[1] != list(plan(f"corpus={tmp_path / 'two'}").corpora)


@pytest.mark.parametrize("collected", [False, True])
@pytest.mark.parametrize("changed", ["train", "valid", "test"])
def test_texts_with_one_file_name_in_different_folders_are_told_apart(changed, collected, tmp_path):
    splits = ["train", "valid", "test"]
    for split in (*splits, "more"):
        (tmp_path / split).mkdir()
        for language in ("fr", "en"):
            (tmp_path / split / f"text.{language}").write_text(f"{split} {language}\n")
    changes = [f"corpus={tmp_path}", *(f"{split}={split}/text" for split in splits)]
    changes += [f"add={tmp_path}/more/text", "out=x"] if collected else []
    file = WMT if collected else QUICKSTART
    before = list(plan(*changes, file=file).corpora)
    (tmp_path / changed / "text.fr").write_text("another\n")
    assert list(plan(*changes, file=file).corpora) != before


def test_a_test_set_is_limited_where_a_system_has_positions_and_its_text_stays_where_it_is():
    (with_positions,) = plan("systems=lstm,fconv").corpora.values()
    (without,) = plan("systems=lstm,gru_encoder-additive,rnnsearch-50-small").corpora.values()
    assert with_positions.lengths == {"train": 100, "valid": 100, "test": 1023}
    assert without == replace(with_positions, lengths={"train": 100, "valid": 100, "test": None})


def test_systems_of_one_size_differ_in_their_architecture_alone():
    sizes = "--encoder-embed-dim 128 --decoder-embed-dim 128 --decoder-hidden-size 256 --decoder-out-embed-dim 256"
    assert f"{sizes} --arch lstm --encoder-bidirectional --encoder-hidden-size 128 --decoder-attention 1" in arguments(
        "lstm"
    )
    assert "--arch gru_encoder --encoder-bidirectional --encoder-hidden-size 128 --decoder-attention dot" in arguments(
        "gru_encoder-dot"
    )
    assert "--arch grconv_encoder --encoder-hidden-size 256 --decoder-attention none" in arguments(
        "grconv_encoder-none"
    )
    # It reads in both directions without being asked.
    stacked = arguments("min_gru_encoder-dot", "layer_norm=true")
    assert "--arch min_gru_encoder --encoder-hidden-size 128 --decoder-attention dot --encoder-layer-norm" in stacked
    assert "--criterion cross_entropy --max-tokens" in arguments("lstm")
    assert "--criterion chunked_cross_entropy --max-tokens" in arguments("gru_encoder-none")


@pytest.mark.parametrize("name", ["lstm", "fconv", "transformer", "gru_encoder-additive", "grconv_encoder-none"])
def test_all_systems_have_one_optimizer_and_can_have_one_matrix_for_both_ends_of_the_decoder(name):
    tied = arguments(name, "tied=true")
    assert "--optimizer fused_adam" in tied
    assert ("--share-input-output-embed" if name == "fconv" else "--share-decoder-input-output-embed") in tied.split()
    assert name == "transformer" or ("--decoder-embed-dim 128" in tied and "--decoder-out-embed-dim 128" in tied)


def test_a_system_can_have_every_attention_that_there_is():
    assert ("none", *attention.ATTENTIONS) == systems.ATTENTIONS


def test_every_architecture_is_a_system(tmp_path):
    from user_dir import models

    registered = {model for model in MODEL_REGISTRY if MODEL_REGISTRY[model].__module__.startswith(models.__name__)}
    assert registered == set(systems.ARCHITECTURES)
    for name in registered:
        made = arguments(f"{name}-additive")
        assert f"--arch {name} " in made and "--decoder-attention additive" in made


def test_a_system_takes_options_of_its_own():
    made = arguments(
        "grconv_encoder-none+grconv_height=2+dropout=0.3+decoder-hidden-size=40", "layer_norm=true"
    ).split()
    assert made[made.index("--grconv-height") + 1] == "2"
    assert made.count("--dropout") == made.count("--decoder-hidden-size") == 1
    assert made[made.index("--dropout") + 1] == "0.3"
    assert "--encoder-layer-norm" not in made
    plain, other = (folders(f"systems=grconv_encoder-none{end}") for end in ("", "+grconv-dilated"))
    assert set(plain.values()).isdisjoint(other.values())


def test_a_switch_of_a_system_may_be_on_or_off():
    assert "--encoder-bidirectional" not in arguments("gru_encoder-none+encoder-bidirectional=false")
    assert arguments("grconv_encoder-none+grconv-dilated=true") == arguments("grconv_encoder-none+grconv-dilated")
    # fairseq's flag switches it off.
    off, on = (arguments(f"gru_encoder-none+left_pad_source={value}") for value in ("false", "true"))
    assert "--left-pad-source --seed" in off and "--left-pad-source" not in on
    # Of fairseq's lstm, it is no flag, and without it there is attention.
    assert "--decoder-attention False --seed" in arguments("lstm+decoder-attention=false")
    assert "--decoder-attention True --seed" in arguments("lstm+decoder_attention=true")


@pytest.mark.parametrize("configuration", ["", "configuration: recommended-small\n"])
def test_a_mistyped_option_that_a_system_switches_off_is_named(configuration, tmp_path):
    with pytest.raises(ValueError, match="switches off encoder-bidirectinal, which is on in no system"):
        plan("systems=gru_encoder-none,gru_encoder-none+encoder-bidirectinal=false")
    file = tmp_path / "mine.yaml"
    text = f"pair: fr-en\nupdates: 3\nbaseline: plain\n{configuration}systems: {{plain: {{}}, other: {{skip-io: false}}"
    file.write_text(f"{text}}}\n")
    with pytest.raises(ValueError, match="other switches off skip-io, which is on in no system"):
        plan(file=file)
    # As the opposite of another system's, it says something.
    file.write_text(f"{text}, third: {{skip-io: true}}}}\n")
    assert plan(file=file).systems["other"].arguments == plan(file=file).systems["plain"].arguments


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("seed=2", "seed cannot be a flag"),
        ("user-dir=x", "could run code"),
        ("save-dir=x", "cannot be a flag"),
        ("segmentation=word", "only a system of an ablation has a segmentation of its own"),
        ("word_dropout=0.1+word-dropout=0.4", "sets word-dropout twice"),
    ],
)
def test_options_of_a_system_reach_nothing_else(setting, message):
    with pytest.raises(ValueError, match=message):
        plan(f"systems=gru_encoder-none+{setting}")


def test_models_of_this_project_can_have_layer_norm():
    norms = ["--encoder-layer-norm", "--decoder-layer-norm"]
    for name, expected in {"gru_encoder-none": norms, "grconv_encoder-none": norms[1:], "transformer": []}.items():
        assert [norm for norm in norms if norm in arguments(name, "layer_norm=true").split()] == expected
        assert not [norm for norm in norms if norm in arguments(name).split()]


def test_all_systems_have_one_schedule_and_only_the_transformer_needs_it():
    assert "--warmup-updates" in arguments("transformer") and "--warmup-updates" in arguments("fconv")
    assert "--warmup-updates" in arguments("transformer", "schedule=constant")
    assert "--warmup-updates" not in arguments("fconv", "schedule=constant")


def test_all_systems_have_one_objective():
    smoothed = "label_smoothing=.1"
    assert "--criterion label_smoothed_cross_entropy --label-smoothing 0.1" in arguments("lstm", smoothed)
    assert "--criterion chunked_cross_entropy --label-smoothing 0.1" in arguments("gru_encoder-none", smoothed)


def test_stock_systems_are_half_as_wide_as_the_recurrent_decoder():
    assert "--encoder-layers [(64, 3)] * 4" in arguments("fconv", "decoder_size=127")
    transformer = arguments("transformer", "decoder_size=250", "updates=500")
    assert "--encoder-embed-dim 128 --encoder-ffn-embed-dim 512 --encoder-attention-heads 4" in transformer
    assert "--warmup-updates 50" in transformer
    assert "--warmup-updates 400" in arguments("transformer", "epochs=3")
    assert "--warmup-updates 4000" in arguments("transformer", "updates=90000")
    assert "--warmup-updates 1" in arguments("transformer", "updates=5")
    assert "--warmup-updates 7" in arguments("transformer", "warmup=7")


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ("updates=7", "--max-epoch 0 --max-update 7"),
        ("epochs=3", "--max-update 0 --max-epoch 3"),
        ("minutes=90", "--max-update 0 --max-epoch 0 --stop-time-hours 1.500000"),
        ("minutes=.05", "--max-update 0 --max-epoch 0 --stop-time-hours 0.000833"),
    ],
)
def test_a_budget_is_updates_epochs_or_minutes(budget, words):
    assert " ".join(plan(budget).systems["lstm"].budget) == words


def test_a_configuration_keeps_its_own_settings_and_its_rate():
    systems = plan("systems=rnnsearch-30-small,lstm", "learning_rate=1e-2").systems
    published = " ".join(systems["rnnsearch-30-small"].arguments)
    assert "--initialization published" in published and "--source-lang fr --target-lang en" in published
    assert published.endswith("--seed {seed}") and "--lr 1e-2 " not in published
    assert "--lr 1e-2 " in " ".join(systems["lstm"].arguments)


def test_a_training_is_named_after_what_its_files_say_and_not_after_where_they_are(tmp_path, monkeypatch):
    file = tmp_path / "mine.yaml"

    def folders(vectors):
        flags = f"arch: gru_encoder, encoder-embed-path: {vectors}"
        file.write_text(f"pair: fr-en\nupdates: 3\nflags: {{{flags}}}\nbaseline: plain\nsystems: {{plain: {{}}}}\n")
        (system,) = plan(file=file).systems.values()
        given = dict(pairwise(system.arguments))
        assert given["--encoder-embed-path"] == str((tmp_path / vectors).resolve())
        return system.folder

    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.vec").write_text("1 2\nun 0.1 0.2\n")
    copy = (tmp_path / "first.vec").rename(tmp_path / "copy.vec")
    before = folders(copy.name)
    assert folders(copy.rename(tmp_path / "moved.vec").name) == before
    (tmp_path / "moved.vec").write_text("1 2\nun 0.9 0.9\n")
    changed = folders("moved.vec")
    assert before != changed
    with pytest.raises(FileError, match="nowhere: there is no such file"):
        folders("nowhere")


def test_what_is_cleaned_is_named_after_the_further_test_sets_too(tmp_path):
    for name in ("train", "valid", "test", "far"):
        for language in ("fr", "en"):
            (tmp_path / f"{name}.{language}").write_text(f"{name}\n")
    file = PROJECT / "configs/experiments/wmt-fr-en.yaml"
    far = f"extra_tests=far={tmp_path / 'far'}"

    def corpus(*changes):
        (name,) = plan(f"corpus={tmp_path}", *changes, file=file).corpora
        return name

    alone, first = corpus(), corpus(far)
    assert corpus(far, "cleaning=false") == corpus("cleaning=false") != alone
    (tmp_path / "far.fr").write_text("other\n")
    assert len({alone, first, corpus(far)}) == 3


def test_systems_of_an_ablation_differ_in_their_own_options_and_may_have_data_of_their_own(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "pair: fr-en\nupdates: 3\nsegmentation: word:50\nflags: {arch: gru_encoder, encoder-bidirectional: true}\n"
        "baseline: plain\n"
        "systems: {plain: {}, one-way: {encoder-bidirectional: false}, few: {segmentation: word:5}}\n"
    )
    made = plan(file=file)
    assert "--arch gru_encoder --encoder-bidirectional" in " ".join(made.systems["plain"].arguments)
    assert "--encoder-bidirectional" not in made.systems["one-way"].arguments
    assert made.systems["few"].corpus != made.systems["plain"].corpus and len(made.corpora) == 2


def test_a_system_of_an_ablation_can_leave_out_what_all_experiments_set(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "pair: fr-en\nupdates: 3\nsegmentation: word:50\nflags: {arch: gru_encoder}\nschedule: constant\n"
        "baseline: plain\n"
        "systems: {plain: {}, unclipped: {clip-norm: null}, clipped: {clip-norm: 5.0}, transformer: {}}\n"
    )
    made = plan(file=file).systems
    plain, unclipped, clipped = (made[name].arguments for name in ("plain", "unclipped", "clipped"))
    assert [word for word in plain if word not in unclipped] == ["--clip-norm", "1.0"]
    assert clipped.count("--clip-norm") == 1 and clipped[clipped.index("--clip-norm") + 1] == "5.0"
    assert made["transformer"].arguments == plain, "a name says nothing"


def test_a_configuration_without_its_own_limit_of_time_has_the_budget_of_the_experiment(monkeypatch):
    limited = ["--arch", "gru_encoder", "--stop-time-hours", "0.1", "--dropout", "0.3"]
    monkeypatch.setattr(systems, "read_arguments", lambda *_: limited)
    system = plan("systems=recommended-small").systems["recommended-small"]
    assert system.arguments == ["--arch", "gru_encoder", "--dropout", "0.3", "--seed", "{seed}"]


def test_systems_of_an_ablation_may_start_from_a_configuration(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "pair: fr-en\nminutes: 3\nsegmentation: word:50\nconfiguration: recommended-small\nflags: {dropout: 0.1}\n"
        "baseline: plain\nsystems: {plain: {}, other: {arch: grconv_encoder, encoder_bidirectional: false, lr: 1e-3}}\n"
    )
    plain, other = (system.arguments for system in plan(file=file).systems.values())
    assert plain[plain.index("--dropout") + 1] == other[other.index("--dropout") + 1] == "0.1"
    assert plain[plain.index("--arch") + 1] == "gru_encoder" and "--encoder-bidirectional" in plain
    assert other[other.index("--arch") + 1] == "grconv_encoder" and "--encoder-bidirectional" not in other
    same = {"--share-decoder-input-output-embed", "--label-smoothing", "--encoder-embed-dim", "--max-tokens"}
    assert same < set(plain) and same < set(other)
    for arguments in (plain, other):
        names = [word for word in arguments if word.startswith("--") and word != "--seed"]
        assert len(names) == len(set(names)) and arguments[-2:] == ["--seed", "{seed}"]
        assert "0.004" not in other and "0.2" not in arguments


def test_systems_of_an_ablation_have_their_configuration_read_once(monkeypatch):
    read, read_arguments = [], systems.read_arguments
    monkeypatch.setattr(systems, "read_arguments", lambda *given: read.append(given) or read_arguments(*given))
    assert len(plan(file=PROJECT / "configs/experiments/ablations/cells.yaml").systems) > len(read) == 1


def test_a_configuration_that_does_not_exist_is_named(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("pair: fr-en\nupdates: 3\nbaseline: a\nsystems: {a: {}}\nconfiguration: nowhere\n")
    with pytest.raises(FileNotFoundError, match=r"there is no configuration .*nowhere\.yaml"):
        plan(file=file)


def test_the_run_folder_shows_the_latest_results_and_keeps_what_is_not_a_link(tmp_path):
    for name in ("one", "two"):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "table.txt").write_text(name)
    (tmp_path / "results" / "one" / "report.html").touch()
    for name in ("one", "two"):
        show_results(f"results/{name}", tmp_path)
        assert (tmp_path / "table.txt").read_text() == name
    assert not (tmp_path / "report.html").exists() and (tmp_path / "results" / "one" / "report.html").exists()
    (tmp_path / "table.txt").unlink()
    (tmp_path / "table.txt").write_text("mine")
    with pytest.raises(FileError, match=r"table\.txt: a link to results must be here and none is"):
        show_results("results/one", tmp_path)
    assert (tmp_path / "table.txt").read_text() == "mine"


def test_a_link_is_relative_and_replaced_where_it_leads_elsewhere(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    place = tmp_path / "c" / "link"
    for name in ("a", "a/b"):
        link(place, tmp_path / name)
        assert str(place.readlink()) == f"../{name}" and place.resolve() == tmp_path / name
