"""Every file of configs/: composed by Hydra, turned into a command, parsed by fairseq, built, parameters counted."""

import shlex
from functools import cache
from pathlib import Path

import pytest
import torch
import yaml
from fairseq import options
from fairseq.data import Dictionary
from fairseq.tasks import TASK_REGISTRY

import user_dir.models  # noqa: F401, registers them
from recurrent_mt.runs.experiment import identify, read_experiment
from recurrent_mt.runs.systems import SEED, list_training_arguments
from recurrent_mt.runs.training_command import compose_settings, read_arguments
from tests.commands import call
from tests.kernels.batches import needs_native
from user_dir.tasks import native_translation

ROOT = Path(__file__).resolve().parents[1]
CONFIGS = {path.stem: path for path in sorted((ROOT / "configs").glob("*.yaml"))}
FILES = [path for path in sorted((ROOT / "configs").rglob("*.yaml")) if "experiments" not in path.parts]
ABLATIONS = sorted((ROOT / "configs/experiments/ablations").glob("*.yaml"))
PUBLISHED = ["grconv-30", "rnnenc-30", "rnnenc-50", "rnnsearch-30", "rnnsearch-50"]
PAIRS = sorted(path.stem for path in (ROOT / "configs/pair").glob("*.yaml"))

#: What each system's settings amount to.
DIGESTS = {
    "grconv-30-small": "b663af5e",
    "grconv-30": "96479f38",
    "recommended-base": "018c283d",
    "recommended-grconv": "e5ab9b56",
    "recommended-large": "fff44f00",
    "recommended-small": "2016afb9",
    "recommended-small-gru": "fab52564",
    "rnnenc-30-small": "8b909c6d",
    "rnnenc-30": "610ba8ba",
    "rnnenc-50-small": "392c271b",
    "rnnenc-50": "b2ddc676",
    "rnnsearch-30-small": "84b2733f",
    "rnnsearch-30": "29506ab4",
    "rnnsearch-50-small": "dcc0307e",
    "rnnsearch-50": "0704e052",
}

#: What the shapes of the authors' released code add up to, in millions; see tests/parity for the shapes.
MILLIONS = {"rnnenc": 72.5, "rnnsearch": 84.3}


@cache
def command(name, *overrides):
    done = call("train", "--dry-run", CONFIGS[name], "task.data=DATA", *overrides)
    assert (done.returncode, done.stderr) == (0, "")
    return shlex.split(done.stdout.partition("$ ")[2])[1:]


def build(line, words):
    """The options that fairseq parses from a command, and their model, without memory for its numbers."""
    line = [word for i, word in enumerate(line) if "--user-dir" not in line[max(i - 1, 0) : i + 1]]
    parsed = options.parse_args_and_arch(options.get_training_parser(), line)
    dictionary = Dictionary()
    for word in range(words):
        dictionary.add_symbol(f"w{word}")
    task = TASK_REGISTRY[parsed.task](parsed, dictionary, dictionary)
    parsed.initialization = "default"  # singular vectors cannot be had without numbers
    parsed.encoder_spectral_radius = parsed.decoder_spectral_radius = 1.0
    with torch.device("meta"):
        return parsed, task.build_model(parsed)


def test_all_systems_of_the_papers_and_their_small_twins_are_there():
    assert set(PUBLISHED) | {f"{name}-small" for name in PUBLISHED} <= set(CONFIGS)
    assert PAIRS == ["en-fr", "en-zh", "fr-en", "zh-en"]


@pytest.mark.parametrize("name", CONFIGS)
def test_every_configuration_builds(name):
    parsed, model = build(command(name), words=50)
    assert sum(parameter.numel() for parameter in model.parameters()) > 10_000
    assert (parsed.source_lang, parsed.target_lang) == (
        ("fr", "en") if name.startswith("recommended") else ("en", "fr")
    )


@needs_native
@pytest.mark.parametrize("name", [name for name in CONFIGS if name.startswith("recommended")])
def test_what_is_recommended_is_translated_by_the_fast_search(name):
    _, model = build(command(name), words=50)
    assert native_translation.reason_unsupported(model.to_empty(device="cpu")) is None


@pytest.mark.parametrize("file", ABLATIONS, ids=lambda file: file.stem)
def test_every_system_of_an_ablation_is_another_one_that_builds(file):
    experiment, built = read_experiment(file), set()
    for name, arguments in list_training_arguments(experiment).items():
        line = [word.replace(SEED, "1") for word in arguments]
        parsed, model = build(line, words=50)
        segmentation = experiment.changes[name].get("segmentation")
        built.add((segmentation, str(sorted(vars(parsed).items(), key=lambda item: item[0]))))
        assert sum(parameter.numel() for parameter in model.parameters()) > 10_000, name
    assert len(built) == len(experiment.systems)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_sizes_give_the_published_models_number_of_parameters(name):
    """30,000 words, <unk> among them, and </s>; fairseq's <s> and <pad> have embeddings and output rows besides."""
    _, model = build(command(name), words=29_999)
    extra = 2 * (3 * 620 + 1)
    count = sum(parameter.numel() for parameter in model.parameters()) - extra
    kind = name.split("-")[0]
    if kind in MILLIONS:
        assert count / 1e6 == pytest.approx(MILLIONS[kind], abs=0.06)
    else:
        encoder = sum(p.numel() for n, p in model.named_parameters() if n.startswith("encoder.layer"))
        assert encoder + 30_001 * 620 + 620 == pytest.approx(27.9e6, abs=0.06e6)


@pytest.mark.parametrize("pair", [*PAIRS, "de-en", "pt_BR-no"])
def test_a_pair_is_chosen_by_name(pair):
    arguments = command("rnnsearch-50", f"pair={pair}")
    source, target = pair.split("-")
    assert arguments[arguments.index("--source-lang") + 1] == source
    assert arguments[arguments.index("--target-lang") + 1] == target


def test_the_settings_of_a_system_change_only_on_purpose():
    """A line in a shared file changes other systems too; the digests are also in the paths of their results."""
    found = {name: identify(read_arguments(path, ["task.data=DATA"])) for name, path in CONFIGS.items()}
    assert found == DIGESTS


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT / "configs")))
def test_a_file_contains_only_what_it_does_not_inherit(file):
    own = yaml.safe_load(file.read_text())
    for base in own.pop("defaults", ["_self_"]):
        if base == "_self_":
            break
        if not isinstance(base, str):  # a choice, such as the pair
            continue
        inherited = compose_settings(ROOT / "configs", base.lstrip("/"))
        for group, values in own.items():
            repeated = {key for key, value in values.items() if inherited.get(group, {}).get(key) == value}
            assert not repeated, f"{group}.{repeated} is already in {base}"


def test_every_value_of_a_published_system_has_its_source():
    parts = [*(ROOT / "configs/parts").glob("*"), *(ROOT / "configs/size").glob("*")]
    files = [*(CONFIGS[name] for name in PUBLISHED), *(file for file in parts if file.stem != "recommended")]
    assert len(files) == len(PUBLISHED) + 5
    for file in files:
        for group in ("model", "criterion", "optimizer", "optimization"):
            section = file.read_text().partition(f"\n{group}:\n")[2].split("\n\n")[0].splitlines()
            for line in section:
                assert (
                    "# [" in line
                    or line.endswith((": ???", "_name: adadelta", "anneal_eps: false"))
                    or ("_name: g" in line)
                ), f"{file}: {line}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("common:\n  user_dir: ???\nmodel: {user-dir: /x}", "'user-dir' cannot be set in a file"),
        ("model: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
    ],
)
def test_a_file_runs_no_code(tmp_path, content, message):
    (tmp_path / "mine.yaml").write_text(content + "\n")
    done = call("train", "--dry-run", tmp_path / "mine.yaml")
    assert done.returncode and message in done.stderr and "error: mine.yaml: " in done.stderr
    assert "Traceback" not in done.stderr and not done.stdout


def test_what_is_missing_or_unknown_is_named():
    for overrides, message in (
        ([CONFIGS["rnnsearch-50"]], "task.data is missing: give task.data=VALUE"),
        (["configs/nothing.yaml"], "there is no configuration configs/nothing.yaml"),
        ([CONFIGS["rnnsearch-50"], "pair=de"], "pair=de is no pair of languages: write SRC-TGT, such as pair=de-en"),
    ):
        done = call("train", "--dry-run", *overrides)
        assert done.returncode and message in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
