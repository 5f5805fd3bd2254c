"""From the options of an experiment to the plan that the workflow carries out: every path and every command line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..text_form import TextForm
from .corpora import describe_corpus, describe_extra_tests, find_checksums, identify
from .experiment import Experiment
from .options import PROJECT
from .systems import budget_arguments, has_positions, is_configuration, training_arguments

CONFIGURATIONS = PROJECT / "configs"
#: Options that say where and how fast, and not what comes out.
WITHOUT_EFFECT = ("out", "mirror", "checksums")


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
    arguments = {system: training_arguments(system, experiment, CONFIGURATIONS) for system in experiment.systems}
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
    identity = {**decisive, "corpus": None, "extra_tests": extra, "used": sorted(used), "name": name}
    return {**plan, "results": f"results/{identify(identity)}"}


def plan_system(name: str, experiment: Experiment, arguments: list[str], corpus: str) -> dict[str, Any]:
    """What one system is trained on and with."""
    budget = budget_arguments(experiment)
    searched = bool(experiment.learning_rates) and not is_configuration(name, experiment, CONFIGURATIONS)
    rates = experiment.learning_rates if searched else []
    seed = experiment.seeds[0] if searched else None
    identity = identify([arguments, budget, corpus, rates, seed, experiment.processes])
    return {
        "corpus": corpus,
        "folder": f"{name}-{identity}",
        "arguments": arguments,
        "budget": budget,
        "rates": rates,
        "searched_with": seed,
    }


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
                    link(folder / "rates" / system, out / "rates" / plan["systems"][system]["folder"])


def link(place: Path, target: Path) -> None:
    """A relative link, so that the whole folder can be moved."""
    place.parent.mkdir(parents=True, exist_ok=True)
    relative = Path(os.path.relpath(target, place.parent))
    if place.is_symlink() and place.readlink() == relative:
        return
    place.unlink(missing_ok=True)
    place.symlink_to(relative)


def show_results(plan: Mapping[str, Any], out: Path) -> None:
    """Links everything of the latest results into the run folder itself."""
    for place in out.iterdir():
        if place.is_symlink() and str(place.readlink()).startswith("results/"):
            place.unlink()
    for place in sorted((out / plan["results"]).iterdir()):
        if place.exists() and not (out / place.name).exists():
            link(out / place.name, place)
