"""From an experiment to the plan that the workflow carries out: every path, every command line, and every outcome.

What decides a result is in its path: ``corpora/ID`` is one text with one segmentation, ``trainings/NAME-ID`` one
system with one set of options, and ``results/ID`` what was made of them. So a changed option starts a new training, and
earlier results stay.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from .. import numerics
from .corpora import checksum, describe_corpus
from .corpus import Corpus
from .defaults import list_defaults
from .experiment import PROJECT, Budget, Experiment, identify
from .folder import BEST, OUTCOME, REPORT, TABLE, seed_folder
from .outcomes import Status, read_outcome
from .systems import DATA, PLUGIN, SEED, budget_arguments, has_positions, list_training_arguments

#: Options that say where and how fast, and not what comes out.
WITHOUT_EFFECT = ("out", "mirror")
#: In the names of trainings since there was a search for learning rates: none, and without a seed.
NO_SEARCH: tuple[list[str], None] = ([], None)
#: Checkpoints and reports that every training makes.
CHECKPOINTS = [
    *("--num-workers", "0", "--no-epoch-checkpoints", "--save-interval-updates", "2000"),
    *("--keep-interval-updates", "1", "--log-format", "json", "--log-interval", "20"),
]
#: Options whose values are files: word vectors.
FILES = ("--encoder-embed-path", "--decoder-embed-path")


def training_folder(folder: str, seed: object) -> str:
    """The folder of one training; ``folder`` is NAME-ID, and both may be wildcards."""
    return seed_folder(f"trainings/{folder}", seed)


def has_finished(file: str | Path) -> bool:
    """Whether the step with this outcome has finished."""
    outcome = read_outcome(Path(file))
    return outcome is not None and outcome.status == Status.FINISHED


@dataclass(frozen=True)
class System:
    """What one system is trained on and with."""

    name: str  # of the system
    folder: str  # NAME-ID, in the paths of its trainings
    corpus: Corpus  # that it is trained on
    #: of fairseq-train, with `SEED`, `DATA`, and `PLUGIN` in place of what is no part of the system
    arguments: list[str]
    budget: list[str]  # further arguments
    seeds: list[int]  # of its trainings

    # Trainings; seeds are text where they come from paths.

    def command(self, seed: object) -> str:
        """What follows ``fairseq-train`` for one training, for a shell."""
        words = [*self.arguments, *self.budget]
        places = {SEED: str(seed), PLUGIN: str(PROJECT / "user_dir"), DATA: ":".join(self.corpus.data_folders)}
        for name, value in places.items():
            words = [word.replace(name, value) for word in words]
        return shlex.join([*words, *CHECKPOINTS])

    @property
    def outcomes(self) -> list[str]:
        """The outcomes of its trainings, one a seed."""
        return [f"{training_folder(self.folder, seed)}/{OUTCOME}" for seed in self.seeds]

    @property
    def model(self) -> str:
        """The checkpoint of the first training that has finished; of the first one where none has yet."""
        return f"{Path(next(filter(has_finished, self.outcomes), self.outcomes[0])).parent}/{BEST}"

    # Translations.

    @staticmethod
    def search_flags(name: str) -> str:
        """What differs between the searches of test sets."""
        return "--unkpen inf" if name == "test-without-unknown" else ""

    @staticmethod
    def penalized_flags(penalty: str) -> str:
        """What differs between the searches for the curve over beams; ``penalty`` is the end of their names."""
        penalty = penalty.removeprefix("-lenpen-")
        return {"": "", "-unnormalized": "--unnormalized"}.get(penalty, f"--lenpen {penalty}")

    @property
    def search_options(self) -> str:
        """What all searches have."""
        return shlex.join(self.corpus.form.search_flags(PROJECT / "user_dir"))

    def finish(self, output: Sequence[str]) -> str:
        """What follows a search that has written ``NAME.search``: its log, and its translations as people write them.

        Args:
            output: the file ``NAME.outcome`` of the search.
        """
        name, detokenizer = output[0].removesuffix(f".{OUTCOME}"), self.corpus.form.join_command
        flags = "" if detokenizer == "cat" else f" --detokenizer {shlex.quote(detokenizer)}"
        tool = f"recurrent-mt hypotheses {name}.log{flags} --out {name}.detokenized"
        return f"mv {name}.search {name}.log && {tool} > {name}.search 2>&1"

    # Drawings.

    @property
    def target_flags(self) -> str:
        """What `recurrent-mt align` is told of the references."""
        return f"--target {self.corpus.prepared_test(self.corpus.languages[1])} --target-title reference"

    def gold_file(self, ending: str) -> str | None:
        """Gold links or trees of the test set; None without.

        No binary trees follow from the gates of a dilated grConv: it joins the same windows everywhere.
        """
        dilated = ending.endswith(".ptb") and "--grconv-dilated" in self.arguments
        return None if dilated else self.corpus.gold_file(ending)

    def gold_flag(self, flag: str, ending: str) -> str:
        """The option that names the gold file; nothing without."""
        file = self.gold_file(ending)
        return f"{flag} {shlex.quote(file)}" if file else ""

    def gold_inputs(self, ending: str) -> list[str]:
        """The gold file to depend on: somebody may add or correct it. The synthetic corpus stays as it was made."""
        file = self.gold_file(ending)
        return [file] if file and self.corpus.source != "synthetic" else []

    def option(self, flag: str, default: str) -> str:
        """The value of an option that it is trained with."""
        return self.arguments[self.arguments.index(flag) + 1] if flag in self.arguments else default

    @property
    def attends(self) -> bool:
        """Whether its alignments can be drawn."""
        # fconv and the transformer attend in several layers at once.
        several = self.option("--arch", "fconv") in ("fconv", "transformer")
        return not several and self.option("--decoder-attention", "none") not in ("none", "0", "False")

    @property
    def has_structure(self) -> bool:
        """Whether its gates can be drawn: it is a dilated grConv, or one with pyramids over whole sentences."""
        whole = self.option("--grconv-height", "0") == "0" or "--grconv-dilated" in self.arguments
        return self.option("--arch", "") == "grconv_encoder" and whole


@dataclass(frozen=True)
class Plan:
    """What an experiment makes."""

    name: str  # of the experiment
    experiment: Experiment  # its options
    corpora: dict[str, Corpus]  # by their ids, those that a system is trained on; the only one without systems
    systems: dict[str, System]  # by their names
    results: str  # the folder of its tables and figures, ``results/ID``

    @property
    def ablation(self) -> bool:
        return self.experiment.ablation

    @property
    def extra_tests(self) -> dict[str, str]:
        """Name to id of the further test sets."""
        corpus = next(iter(self.corpora.values()))
        return {test.name: test.id for test in corpus.extra.values()}

    @property
    def trainings(self) -> list[tuple[System, int]]:
        """Every training: all systems with the first seed before any with the second."""
        return [(system, seed) for seed in self.experiment.seeds for system in self.systems.values()]

    def translation_folder(self, system: System, seed: int) -> str:
        """The folder of the translations by one training."""
        return f"{training_folder(system.folder, seed)}/beam-{self.experiment.beam}"

    # Outcomes of what may fail without stopping the others.

    @property
    def training_outcomes(self) -> dict[str, str]:
        """The outcome of each training, and what people call it."""
        return {
            f"{training_folder(system.folder, seed)}/{OUTCOME}": f"{system.name}, seed {seed}"
            for system, seed in self.trainings
        }

    @property
    def later_outcomes(self) -> list[str]:
        """The outcomes of everything that is done with trained models."""
        if self.ablation:
            return [*self.translation_outcomes, *self.operation_outcomes]
        beams = [file for system in self.systems.values() for file in self.beam_outcomes(system)]
        return [*self.translation_outcomes, *beams, *self.drawing_outcomes]

    @property
    def translation_outcomes(self) -> list[str]:
        """The outcomes of all translations of test sets."""
        names = ["test", *(["test-without-unknown"] if self.experiment.without_unknown else [])]
        names += [f"extra-{test}" for test in self.extra_tests.values()]
        return [f"{self.translation_folder(*one)}/{name}.{OUTCOME}" for one in self.trainings for name in names]

    @property
    def operation_outcomes(self) -> list[str]:
        """The outcomes of counting every training's operations."""
        return [f"{self.translation_folder(*one)}/operations.{OUTCOME}" for one in self.trainings]

    def beam_folder(self, system: System) -> str:
        """Where a system's searches for the curve over beams are: with the first seed."""
        return f"{training_folder(system.folder, self.experiment.seeds[0])}/beams"

    @property
    def beam_names(self) -> list[str]:
        """What the searches that the curve over beams is drawn of are called."""
        options = self.experiment
        return [f"beam-{beam}{penalty_name(penalty)}" for beam in options.beams for penalty in options.lenpens]

    def beam_outcomes(self, system: System) -> list[str]:
        """The outcomes of a system's searches for the curve over beams."""
        return [f"{self.beam_folder(system)}/{name}.{OUTCOME}" for name in self.beam_names]

    @property
    def drawing_outcomes(self) -> list[str]:
        """The outcomes of all drawings: alignments where a system attends, structure where it has that."""
        kinds = {
            "alignments": [name for name, system in self.systems.items() if system.attends],
            "structure": [name for name, system in self.systems.items() if system.has_structure],
        }
        return [f"{self.results}/figures/{kind}-{name}.{OUTCOME}" for kind, names in kinds.items() for name in names]

    # Tables and reports.

    @property
    def tables(self) -> str:
        """What the files of the tables are called, without their endings."""
        return self.name if self.ablation else TABLE

    @property
    def result_files(self) -> list[str]:
        """What it ends in: tables, and a report; nothing if it only prepares text."""
        if not self.systems:
            return []
        reports = [] if self.ablation else [f"{self.results}/{REPORT}", *self.beam_files]
        return [f"{self.results}/{self.tables}.txt", *reports]

    @property
    def beam_files(self) -> list[str]:
        """The curve over beams, where one is asked for."""
        return [f"{self.results}/beams/beams.txt"] if self.experiment.beams else []

    @property
    def reference_files(self) -> list[str]:
        """The texts that test sets are scored against, and their sources."""
        places = ["text", *(f"extra/{test}" for test in self.extra_tests.values())]
        used = {system.corpus.id: system.corpus for system in self.systems.values()}
        return [
            file
            for name in sorted(used)
            for place in places
            for file in used[name].both_sides(f"{used[name].folder}/{place}/raw/test")
        ]

    @property
    def extra_flags(self) -> str:
        """What `recurrent-mt compare` is told of further test sets: their names, and the ids of their translations."""
        names = [f"{name}={test}" for name, test in self.extra_tests.items()]
        return f"--extra-tests {','.join(names)}" if names else ""

    def compared_with(self, _: object = None) -> str:
        """What the tables compare the systems with; a word that stands for it until they are there."""
        file = Path(f"{self.results}/{TABLE}.json")
        return str(json.loads(file.read_text())["test_sets"][0]["baseline"]) if file.exists() else "BASELINE"

    def searched_systems(self, _: object = None) -> list[str]:
        """What `recurrent-mt beams` is told of the systems whose searches have all finished."""
        return [
            f"--system {name}={self.beam_folder(system)}"
            for name, system in self.systems.items()
            if all(map(has_finished, self.beam_outcomes(system)))
        ]

    def to_record(self) -> dict[str, Any]:
        """The plan as the configuration of workflow/Snakefile; the options that were not given are left out."""
        record: dict[str, Any] = TypeAdapter(Plan).dump_python(self, mode="json", exclude_unset=True)
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Plan:
        return TypeAdapter(cls).validate_python(dict(record))


def penalty_name(penalty: float) -> str:
    """What the file of a search with this exponent of the length is called after: 1 is fairseq's default."""
    if penalty == 1:
        return ""
    return f"-lenpen-{penalty:g}" if penalty else "-unnormalized"


def given_options(experiment: Experiment) -> dict[str, Any]:
    """All options of an experiment, without budgets and a teacher that are not given."""
    optional = {*Budget.model_fields, "distill"}
    return {key: value for key, value in experiment if key not in optional or value is not None}


def make_plan(name: str, experiment: Experiment) -> Plan:
    """The plan of an experiment.

    Args:
        name: of the experiment.
        experiment: with all its options.

    Raises:
        ValueError: if a system is none, or the text does not go with the options.
        FileError: if a file is missing.
    """
    arguments = list_training_arguments(experiment)
    positions = any(map(has_positions, arguments.values()))
    common = describe_corpus(experiment, experiment.segmentation, positions=positions)
    systems: dict[str, System] = {}
    for system in experiment.systems:
        own = experiment.changes.get(system, {}).get("segmentation")
        corpus = describe_corpus(experiment, own, positions=positions) if own else common
        systems[system] = plan_system(system, experiment, arguments[system], corpus)
    corpora = {system.corpus.id: system.corpus for system in systems.values()} or {common.id: common}
    decisive = {key: value for key, value in given_options(experiment).items() if key not in WITHOUT_EFFECT}
    extra = {test.name: test.id for test in common.extra.values()}
    made_of = {"used": sorted(corpora), "trainings": {key: system.folder for key, system in systems.items()}}
    decisive["learning_rates"] = NO_SEARCH[0]
    identity = {**decisive, "corpus": None, "extra_tests": extra, **made_of, "numerics": numerics.SCORES, "name": name}
    return Plan(name, experiment, corpora, systems, f"results/{identify(identity)}")


def plan_system(name: str, experiment: Experiment, arguments: list[str], corpus: Corpus) -> System:
    """What one system is trained on and with."""
    budget = budget_arguments(experiment)
    arguments, contents = locate_files(arguments)
    code = {"numerics": numerics.TRAINING, "defaults": list_defaults(arguments)}
    identity = identify([contents, budget, corpus.id, *NO_SEARCH, experiment.processes, CHECKPOINTS, code])
    return System(name, f"{name}-{identity}", corpus, arguments, budget, experiment.seeds)


def locate_files(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments with files that are read in a training as paths that hold anywhere, and with checksums instead.

    Raises:
        FileError: if such a file is missing.
    """
    located, contents = list(arguments), list(arguments)
    for number, (option, value) in enumerate(pairwise(arguments), 1):
        if option in FILES:
            file = Path(value).resolve()
            located[number] = str(file)
            contents[number] = checksum(file)
    return located, contents
