"""The steps of a plan that the workflow carries out: where each leaves its outcome, and command lines of some."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..evaluation.learning_rates import read_choice
from ..evaluation.outcomes import OUTCOME, Status, read_outcome
from .plan import all_trainings, translation_folder
from .systems import DATA, PLUGIN, SEED

#: Checkpoints and reports that every training makes.
CHECKPOINTS = [
    *("--num-workers", "0", "--no-epoch-checkpoints", "--save-interval-updates", "2000"),
    *("--keep-interval-updates", "1", "--log-format", "json", "--log-interval", "20"),
]


def training_folder(system: Mapping[str, Any], seed: int | str) -> str:
    """The folder of one training of a system of the plan."""
    return f"trainings/{system['folder']}/seed-{seed}"


def search_folder(system: Mapping[str, Any]) -> str:
    """The folder of the search for a system's learning rate."""
    return f"rates/{system['folder']}"


def training_outcomes(plan: Mapping[str, Any]) -> dict[str, str]:
    """The outcome of each training, and what people call it."""
    return {
        f"{training_folder(plan['systems'][system], seed)}/{OUTCOME}": f"{system}, seed {seed}"
        for system, seed in all_trainings(plan)
    }


def translation_outcomes(plan: Mapping[str, Any]) -> dict[str, str]:
    """The outcome of each translation of a test set, and what people call it."""
    names = {"test": "the test set"}
    if plan["options"]["without_unknown"]:
        names["test-without-unknown"] = "the test set without unknown words"
    names |= {f"extra-{test['id']}": f"the test set {name}" for name, test in plan["extra_tests"].items()}
    return {
        f"{translation_folder(plan, system, seed)}/{name}.outcome": f"translating {what} with {system}, seed {seed}"
        for system, seed in all_trainings(plan)
        for name, what in names.items()
    }


def beam_outcomes(plan: Mapping[str, Any], system: str) -> dict[str, str]:
    """The outcome of each search for the curve over beams, with the first seed, and what people call it."""
    place = f"{training_folder(plan['systems'][system], plan['options']['seeds'][0])}/beams"
    return {f"{place}/{name}.outcome": f"searching with {system}, {name}" for name in beam_names(plan["options"])}


def operation_outcomes(plan: Mapping[str, Any]) -> dict[str, str]:
    """The outcome of each count of operations, which ablations have, and what people call it."""
    return {
        f"{translation_folder(plan, system, seed)}/operations.outcome": f"counting operations of {system}, seed {seed}"
        for system, seed in (all_trainings(plan) if plan["ablation"] else ())
    }


def drawing_outcomes(plan: Mapping[str, Any]) -> dict[str, str]:
    """The outcome of each drawing, and what people call it: alignments and structure of the systems that have them."""
    drawn = {
        "alignments": [name for name, system in plan["systems"].items() if attends(system["arguments"])],
        "structure": [name for name, system in plan["systems"].items() if has_structure(system["arguments"])],
    }
    return {
        f"{plan['results']}/figures/{kind}-{system}.outcome": f"drawing the {kind} of {system}"
        for kind, systems in (drawn.items() if not plan["ablation"] else ())
        for system in systems
    }


def list_attempts(plan: Mapping[str, Any]) -> dict[str, str]:
    """The outcome of every step that may fail without stopping the others, and what people call it."""
    beams = [beam_outcomes(plan, system) for system in plan["systems"]] if not plan["ablation"] else []
    found = [training_outcomes(plan), translation_outcomes(plan), operation_outcomes(plan), drawing_outcomes(plan)]
    return {file: title for outcomes in [*found, *beams] for file, title in outcomes.items()}


def first_finished(outcomes: Iterable[str]) -> Path:
    """The folder of the first training that has finished; of the first one where none has yet."""
    files = list(map(Path, outcomes))
    found = [file for file in files if (outcome := read_outcome(file)) and outcome.status == Status.FINISHED]
    return (found or files)[0].parent


def all_finished(outcomes: Iterable[str]) -> bool:
    """Whether steps have finished, or may still do so."""
    found = (read_outcome(Path(file)) for file in outcomes)
    return all(outcome is None or outcome.status == Status.FINISHED for outcome in found)


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


def option_of(arguments: list[str], flag: str, default: str) -> str:
    """The value of an option that a system is trained with."""
    return arguments[arguments.index(flag) + 1] if flag in arguments else default


def attends(arguments: list[str]) -> bool:
    """Whether the alignments of a system that is trained with these arguments can be drawn."""
    # fconv and the transformer attend in several layers at once.
    several = option_of(arguments, "--arch", "fconv") in ("fconv", "transformer")
    return not several and option_of(arguments, "--decoder-attention", "none") not in ("none", "0")


def has_structure(arguments: list[str]) -> bool:
    """Whether a system's gates can be drawn: it is a grConv whose nodes reach over whole sentences."""
    height = option_of(arguments, "--grconv-height", "0")
    return option_of(arguments, "--arch", "") == "grconv_encoder" and height == "0"
