"""From an experiment to the plan that the workflow carries out: every path, every command line, and every outcome."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from .. import numerics
from .outcomes import Status, read_outcome
from .rates import read_choice
from ..text_files import FileError
from ..text_form import TextForm
from .corpora import checksum, describe_corpus, describe_extra_tests, find_checksums, identify
from .corpus_files import CorpusFiles, corpora_of
from .defaults import list_defaults
from .folder import OUTCOME
from .experiment import CONFIGURATIONS, PROJECT, Experiment
from .systems import DATA, PLUGIN, SEED, budget_arguments, has_positions, is_configuration, list_training_arguments

#: Options that say where and how fast, and not what comes out.
WITHOUT_EFFECT = ("out", "mirror", "checksums")
#: Checkpoints and reports that every training makes.
CHECKPOINTS = [
    *("--num-workers", "0", "--no-epoch-checkpoints", "--save-interval-updates", "2000"),
    *("--keep-interval-updates", "1", "--log-format", "json", "--log-interval", "20"),
]
#: Options whose values are files: word vectors, and what samples subwords, of which there may be two.
SAMPLED = "--sample-subwords"
FILES = ("--encoder-embed-path", "--decoder-embed-path", SAMPLED)
#: The folder of searches for learning rates.
RATES = "rates"
#: How long the n-best lists in a log are, at most.
LISTED = 10


def make_plan(name: str, experiment: Experiment) -> dict[str, Any]:
    """The plan of an experiment, the configuration of workflow/Snakefile.

    What decides a result is in its path: ``corpora/ID`` is one text with one segmentation, ``trainings/NAME-ID`` one
    system with one set of options, and ``results/ID`` what was made of them, with links to them. So a changed
    option starts a new training, and earlier results stay.

    Args:
        name: of the experiment.
        experiment: with all its options.

    Raises:
        ValueError: if a system is none, or the text does not go with the options.
        FileError: if a file is missing.
    """
    options = experiment.to_plan()
    arguments = list_training_arguments(experiment, CONFIGURATIONS)
    positions = any(map(has_positions, arguments.values()))
    common = describe_corpus(experiment.text, experiment.segmentation, positions=positions)
    corpora: dict[str, Any] = {common["id"]: common}
    systems: dict[str, Any] = {}
    for system in experiment.systems:
        own = experiment.changes.get(system, {}).get("segmentation")
        corpus = describe_corpus(experiment.text, own, positions=positions) if own else common
        corpora[corpus["id"]] = corpus
        systems[system] = plan_system(system, experiment, arguments[system], corpus["id"])
    used = {system["corpus"] for system in systems.values()} or {common["id"]}
    plan: dict[str, Any] = {
        "name": name,
        "languages": experiment.pair.split("-"),
        "options": {**options, "checksums": find_checksums(experiment.text)},
        "corpora": {key: corpus for key, corpus in corpora.items() if key in used},
        "extra_tests": describe_extra_tests(experiment.text),
        "systems": systems,
        "ablation": experiment.ablation,
        "plugin": str(PROJECT / "user_dir"),
    }
    decisive = {key: value for key, value in options.items() if key not in WITHOUT_EFFECT}
    extra = {key: value["id"] for key, value in plan["extra_tests"].items()}
    made_of = {"used": sorted(used), "trainings": {key: system["folder"] for key, system in systems.items()}}
    identity = {**decisive, "corpus": None, "extra_tests": extra, **made_of, "numerics": numerics.SCORES, "name": name}
    return {**plan, "results": f"results/{identify(identity)}"}


def plan_system(name: str, experiment: Experiment, arguments: list[str], corpus: str) -> dict[str, Any]:
    """What one system is trained on and with."""
    budget = budget_arguments(experiment)
    searched = bool(experiment.learning_rates) and not is_configuration(name, experiment, CONFIGURATIONS)
    rates = experiment.learning_rates if searched else []
    seed = experiment.seeds[0] if searched else None
    arguments, contents = locate_files(arguments)
    code = {"numerics": numerics.TRAINING, "defaults": list_defaults(arguments)}
    identity = identify([contents, budget, corpus, rates, seed, experiment.processes, CHECKPOINTS, code])
    return {
        "corpus": corpus,
        "folder": f"{name}-{identity}",
        "arguments": arguments,
        "budget": budget,
        "rates": rates,
        "searched_with": seed,
    }


def locate_files(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments with files that are read in a training as paths that hold anywhere, and with checksums instead.

    Raises:
        FileError: if such a file is missing.
    """
    located, contents = list(arguments), list(arguments)
    for number, (option, value) in enumerate(pairwise(arguments), 1):
        if option in FILES:
            files = [Path(file).resolve() for file in (value.split(",") if option == SAMPLED else [value])]
            located[number] = ",".join(map(str, files))
            contents[number] = ",".join(map(checksum, files))
    return located, contents


def run_folders(plan: Mapping[str, Any]) -> dict[str, str]:
    """Corpus to the folder that has the results with it: one for all, or of an ablation one for each segmentation."""
    corpora = {key: TextForm.from_record(corpus["form"], "").name for key, corpus in plan["corpora"].items()}
    return {key: f"{plan['results']}/{name}" if plan["ablation"] else plan["results"] for key, name in corpora.items()}


def translation_folder(plan: Mapping[str, Any], system: str, seed: int) -> str:
    """Returns the folder of the translations by one training."""
    return f"trainings/{plan['systems'][system]['folder']}/seed-{seed}/beam-{plan['options']['beam']}"


def all_trainings(plan: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Lists all trainings: every system's first seed before any second."""
    for seed in plan["options"]["seeds"]:
        for system in plan["systems"]:
            yield system, seed


def record_options(plan: Mapping[str, Any], corpus: Mapping[str, Any]) -> str:
    """The file ``options`` of a run folder: how its text is read and joined again, and everything else."""
    options, known = plan["options"], corpus["form"]
    others = {
        key.upper(): ",".join(map(str, value)) if isinstance(value, (list, dict)) else value
        for key, value in options.items()
        if key.upper() not in known and key not in ("pair", "published", "flags", *WITHOUT_EFFECT)
    }
    lines = {**known, **others}.items()
    return "".join(f"{name} {'' if value is None else value}\n" for name, value in lines)


def lay_out_results(plan: Mapping[str, Any], out: Path) -> None:
    """Makes ``results/ID``: the browsable view of one experiment's results.

    Links may lead nowhere until the workflow has made what they are for.
    """
    extra = {f"extra/{name}": f"extra/{one['id']}" for name, one in plan["extra_tests"].items()}
    for key, place in run_folders(plan).items():
        corpus = plan["corpora"][key]
        folder = out / place
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "options").write_text(record_options(plan, corpus), encoding="utf-8")
        for name, inside in {"text": "text", "data": "data", "raw": "raw", "clean": "clean", **extra}.items():
            link(folder / name, out / "corpora" / key / inside)
        if corpus["source"] == "synthetic":
            link(folder / "corpus", out / corpus["folder"])
        for system, seed in all_trainings(plan):
            if plan["systems"][system]["corpus"] == key:
                target = out / translation_folder(plan, system, seed)
                link(folder / "systems" / system / f"seed-{seed}", target)
                for name in ("checkpoints", "train.log", "peak-memory", "outcome"):
                    link(target / name, target.parent / name)
                if plan["systems"][system]["rates"]:
                    link(folder / RATES / system, out / RATES / plan["systems"][system]["folder"])


def link(place: Path, target: Path) -> None:
    """A relative link, so that the whole folder can be moved.

    Raises:
        FileError: if something else is in its place.
    """
    require_link(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    relative = Path(os.path.relpath(target, place.parent))
    if place.is_symlink() and place.readlink() == relative:
        return
    place.unlink(missing_ok=True)
    place.symlink_to(relative)


def require_link(place: Path) -> None:
    """Raises FileError where a link of a run folder is to be and something else is, which may be all that there is."""
    if place.exists() and not place.is_symlink():
        raise FileError(
            place,
            "a link to results must be here and none is, as after a copy that does not keep links: copy the whole "
            "folder with cp -a, rsync -a, or tar, name another one with out=DIR, or move this away",
        )


def require_links(plan: Mapping[str, Any], out: Path) -> None:
    """Checks before any work that `show_results` can show what will be made: else, earlier results would stay.

    Raises:
        FileError: naming what is in the way.
    """
    made = [*result_files(plan), *([] if plan["ablation"] else drawing_outcomes(plan))]
    names = {Path(file).relative_to(plan["results"]).parts[0] for file in made}
    for name in sorted(names | {place.name for place in shown_places(plan, out)}):
        require_link(out / name)


def shown_places(plan: Mapping[str, Any], out: Path) -> list[Path]:
    """What is in the folder of the latest results and shown in the run folder itself, which has all searches' rates."""
    return sorted(place for place in (out / plan["results"]).iterdir() if place.name != RATES)


def show_results(plan: Mapping[str, Any], out: Path) -> None:
    """Links everything of the latest results into the run folder itself.

    Raises:
        FileError: naming what is in the way.
    """
    for place in out.iterdir():
        if place.is_symlink() and str(place.readlink()).startswith("results/"):
            place.unlink()
    for place in shown_places(plan, out):
        if place.exists():
            link(out / place.name, place)


def training_folder(system: Mapping[str, Any], seed: int | str) -> str:
    """The folder of one training of a system of the plan."""
    return f"trainings/{system['folder']}/seed-{seed}"


def search_folder(system: Mapping[str, Any]) -> str:
    """The folder of the search for a system's learning rate."""
    return f"{RATES}/{system['folder']}"


def training_outcomes(plan: Mapping[str, Any]) -> dict[str, str]:
    """The outcome of each training, and what people call it."""
    return {
        f"{training_folder(plan['systems'][system], seed)}/{OUTCOME}": f"{system}, seed {seed}"
        for system, seed in all_trainings(plan)
    }


def search_outcomes(plan: Mapping[str, Any]) -> list[str]:
    """The outcomes of all searches for a learning rate, each after those of its trainings."""
    files = []
    for system in plan["systems"].values():
        place = search_folder(system)
        files += [f"{place}/seed-{system['searched_with']}/{rate}/{OUTCOME}" for rate in system["rates"]]
        files += [f"{place}/{OUTCOME}"] * bool(system["rates"])
    return files


def later_outcomes(plan: Mapping[str, Any]) -> list[str]:
    """The outcomes of everything that is done with trained models."""
    if plan["ablation"]:
        return [*translation_outcomes(plan), *operation_outcomes(plan)]
    beams = [file for system in plan["systems"] for file in beam_outcomes(plan, system)]
    return [*translation_outcomes(plan), *beams, *drawing_outcomes(plan)]


def translation_outcomes(plan: Mapping[str, Any]) -> list[str]:
    """The outcomes of all translations of test sets."""
    names = ["test", *["test-without-unknown"] * plan["options"]["without_unknown"]]
    names += [f"extra-{test['id']}" for test in plan["extra_tests"].values()]
    return [f"{translation_folder(plan, *one)}/{name}.{OUTCOME}" for one in all_trainings(plan) for name in names]


def system_outcomes(plan: Mapping[str, Any], system: str) -> list[str]:
    """The outcomes of all trainings of a system."""
    return [f"{training_folder(plan['systems'][system], seed)}/{OUTCOME}" for seed in plan["options"]["seeds"]]


def operation_outcomes(plan: Mapping[str, Any]) -> list[str]:
    """The outcomes of counting every training's operations."""
    return [f"{translation_folder(plan, *one)}/operations.{OUTCOME}" for one in all_trainings(plan)]


def beam_outcomes(plan: Mapping[str, Any], system: str) -> list[str]:
    """The outcomes of a system's searches for the curve over beams, with the first seed."""
    place = training_folder(plan["systems"][system], plan["options"]["seeds"][0])
    return [f"{place}/beams/{name}.{OUTCOME}" for name in beam_names(plan["options"])]


def drawing_outcomes(plan: Mapping[str, Any]) -> list[str]:
    """The outcomes of all drawings: alignments where a system attends, structure where it has that."""
    drawn = {"alignments": attends, "structure": has_structure}
    return [
        f"{plan['results']}/figures/{kind}-{name}.{OUTCOME}"
        for kind, has in drawn.items()
        for name, system in plan["systems"].items()
        if has(system["arguments"])
    ]


def result_files(plan: Mapping[str, Any]) -> list[str]:
    """What an experiment ends in: tables, and a report; nothing if it only prepares text."""
    results = plan["results"]
    if not plan["systems"]:
        return []
    if plan["ablation"]:
        return [f"{results}/{plan['name']}.txt"]
    return [f"{results}/table.txt", f"{results}/report.html", *beam_files(plan)]


def beam_files(plan: Mapping[str, Any]) -> list[str]:
    """The curve over beams, where one is asked for."""
    return [f"{plan['results']}/beams/beams.txt"] if plan["options"]["beams"] else []


def used_corpora(plan: Mapping[str, Any]) -> list[CorpusFiles]:
    """The corpora that a system is trained on."""
    corpora = corpora_of(plan)
    return [corpora[name] for name in sorted({system["corpus"] for system in plan["systems"].values()})]


def reference_files(plan: Mapping[str, Any]) -> list[str]:
    """The texts that test sets are scored against, and their sources."""
    places = ["text", *(f"extra/{test['id']}" for test in plan["extra_tests"].values())]
    return [
        file
        for corpus in used_corpora(plan)
        for place in places
        for file in corpus.both_sides(f"{corpus.folder}/{place}/raw/test")
    ]


def has_finished(file: str | Path) -> bool:
    """Whether the step with this outcome has finished."""
    outcome = read_outcome(Path(file))
    return outcome is not None and outcome.status == Status.FINISHED


def first_finished(outcomes: Sequence[str]) -> Path:
    """The folder of the first training that has finished; of the first one where none has yet."""
    return Path(next(filter(has_finished, outcomes), outcomes[0])).parent


def training_command(plan: Mapping[str, Any], system: Mapping[str, Any], seed: str, rate: str | None = None) -> str:
    """What follows ``fairseq-train`` for one training of a system, for a shell.

    Args:
        plan: of the experiment.
        system: of the plan.
        seed: of the training.
        rate: the learning rate, if it is searched.
    """
    places = {SEED: seed, PLUGIN: plan["plugin"], DATA: data_argument(plan, system["corpus"])}
    words = [*system["arguments"], *(["--lr", rate] if rate else []), *system["budget"]]
    for name, value in places.items():
        words = [word.replace(name, value) for word in words]
    return shlex.join([*words, *CHECKPOINTS])


def data_argument(plan: Mapping[str, Any], corpus: str) -> str:
    """The binarized data of a corpus, several shards joined by colons."""
    folder, shards = f"corpora/{corpus}/data", plan["corpora"][corpus]["shards"]
    return folder if shards == 1 else ":".join(f"{folder}/shard{shard}" for shard in range(shards))


def copy_unless_chosen(choice: str, output: str) -> str:
    """What precedes a training whose learning rate is searched: without one, it ends as the search did."""
    return f"grep -qsx finished {choice} || {{ cp {choice} {output}; exit; }}; "


def search_flags(name: str, beam: str) -> str:
    """What differs between the searches of test sets."""
    if name.startswith("extra-"):
        return "--nbest 1"
    flags = f"--nbest {min(int(beam), LISTED)}"
    return f"{flags} --unkpen inf" if name == "test-without-unknown" else flags


def penalized_flags(penalty: str, beam: str) -> str:
    """What differs between the searches for the curve over beams; `penalty` is the end of their names."""
    penalty = penalty.removeprefix("-lenpen-")
    flags = {"": "", "-unnormalized": " --unnormalized"}.get(penalty, f" --lenpen {penalty}")
    return f"--nbest {min(int(beam), LISTED)}{flags}"


def translated_set(plan: Mapping[str, Any], name: str) -> str:
    """What people call the text of a search."""
    extra = {f"extra-{test['id']}": f"the test set {title}" for title, test in plan["extra_tests"].items()}
    if name in extra:
        return extra[name]
    return "the test set" if name == "test" else "the test set, <unk> forbidden,"


def finishing_command(outcome: str, detokenizer: str, *, lists: bool = False) -> str:
    """What follows a search that has written ``NAME.search``: its log, and its translations as people write them.

    Args:
        outcome: the file ``NAME.outcome`` of the search.
        detokenizer: command line that makes text of words.
        lists: whether the n-best lists are wanted, too.
    """
    name = outcome.removesuffix(f".{OUTCOME}")
    flags = "" if detokenizer == "cat" else f" --detokenizer {shlex.quote(detokenizer)}"
    tool = f"recurrent-mt hypotheses {name}.log{flags}"
    every = f"{tool} --all --out {name}.nbest && " if lists else ""
    return f"mv {name}.search {name}.log && {{ {every}{tool} --out {name}.detokenized; }} > {name}.search 2>&1"


def chosen_rate(folder: str) -> str:
    """The learning rate that a search has chosen; a word that stands for it until then."""
    choice = read_choice(folder)
    return choice.chosen if choice else "CHOSEN"


def beam_names(options: Mapping[str, Any]) -> list[str]:
    """What the searches that the curve over beams is drawn of are called."""
    return [f"beam-{beam}{penalty_name(penalty)}" for beam in options["beams"] for penalty in options["lenpens"]]


def penalty_name(penalty: float) -> str:
    """What the file of a search with this exponent of the length is called after: 1 is fairseq's default."""
    if penalty == 1:
        return ""
    return f"-lenpen-{penalty:g}" if penalty else "-unnormalized"


def extra_flags(plan: Mapping[str, Any]) -> str:
    """What `recurrent-mt compare` is told of further test sets: their names, and the ids of their translations."""
    names = [f"{name}={test['id']}" for name, test in plan["extra_tests"].items()]
    return f"--extra-tests {','.join(names)}" if names else ""


def compared_with(table: str) -> str:
    """What the tables compare the systems with; a word that stands for it until they are there."""
    file = Path(table)
    return str(json.loads(file.read_text())["test_sets"][0]["baseline"]) if file.exists() else "BASELINE"


def gold_file(plan: Mapping[str, Any], system: str, ending: str) -> str | None:
    """Gold links or trees of the test set: the synthetic corpus has them, another may; None without.

    They are of the words that the text comes with, which only text that nothing splits still has. No binary trees
    follow from the gates of a dilated grConv: it joins the same windows everywhere.
    """
    corpus = corpora_of(plan)[plan["systems"][system]["corpus"]]
    if ending.endswith(".ptb") and "--grconv-dilated" in plan["systems"][system]["arguments"]:
        return None
    if corpus.entry["source"] == "collected" or corpus.form.splits_words or not corpus.form.has_words:
        return None
    file = f"{corpus.entry['folder']}/{plan['options']['test']}.{ending}"
    return file if corpus.entry["source"] == "synthetic" or Path(file).exists() else None


def gold_flag(plan: Mapping[str, Any], system: str, flag: str, ending: str) -> str:
    """The option that names the gold file; nothing without."""
    file = gold_file(plan, system, ending)
    return f"{flag} {shlex.quote(file)}" if file else ""


def gold_inputs(plan: Mapping[str, Any], system: str, ending: str) -> list[str]:
    """The gold file to depend on: somebody may add or correct it. The synthetic corpus stays as it was made."""
    file = gold_file(plan, system, ending)
    synthetic = plan["corpora"][plan["systems"][system]["corpus"]]["source"] == "synthetic"
    return [file] if file and not synthetic else []


def option_of(arguments: list[str], flag: str, default: str) -> str:
    """The value of an option that a system is trained with."""
    return arguments[arguments.index(flag) + 1] if flag in arguments else default


def attends(arguments: list[str]) -> bool:
    """Whether the alignments of a system that is trained with these arguments can be drawn."""
    # fconv and the transformer attend in several layers at once.
    several = option_of(arguments, "--arch", "fconv") in ("fconv", "transformer")
    return not several and option_of(arguments, "--decoder-attention", "none") not in ("none", "0", "False")


def has_structure(arguments: list[str]) -> bool:
    """Whether a system's gates can be drawn: it is a dilated grConv, or one with pyramids over whole sentences."""
    whole = option_of(arguments, "--grconv-height", "0") == "0" or "--grconv-dilated" in arguments
    return option_of(arguments, "--arch", "") == "grconv_encoder" and whole
