"""The steps of a plan that the workflow carries out: where each leaves its outcome, and what its command is told."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..evaluation.outcomes import OUTCOME, Status, read_outcome
from ..evaluation.train_log import read_choice
from .corpus_files import CorpusFiles, corpora_of
from .plan import all_trainings, translation_folder
from .systems import DATA, PLUGIN, SEED

#: Checkpoints and reports that every training makes.
CHECKPOINTS = [
    *("--num-workers", "0", "--no-epoch-checkpoints", "--save-interval-updates", "2000"),
    *("--keep-interval-updates", "1", "--log-format", "json", "--log-interval", "20"),
]
#: How long the n-best lists in a log are, at most.
LISTED = 10


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
    return not several and option_of(arguments, "--decoder-attention", "none") not in ("none", "0")


def has_structure(arguments: list[str]) -> bool:
    """Whether a system's gates can be drawn: it is a dilated grConv, or one with pyramids over whole sentences."""
    whole = option_of(arguments, "--grconv-height", "0") == "0" or "--grconv-dilated" in arguments
    return option_of(arguments, "--arch", "") == "grconv_encoder" and whole
