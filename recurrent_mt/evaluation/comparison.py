"""Systems of one run folder beside each other: scores on its test sets, and what training and search took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path

import pandas

from ..text_files import read_sentences
from .generate_log import read_generate_log
from .learning_rates import RateChoice, read_choice
from .records import make_frame
from .run_folder import RunFolder
from .score_tables import list_signatures, name_metric, reading_notes, score_columns
from .scores import RESAMPLES, Settings, score_systems
from .tables import Cell, Table, write_results
from .test_set import System, TestSet, choose_baseline
from .training import TrainedSystem, cost_table, read_trained_system

#: What BLEU of the words that models produced is called, beside BLEU of detokenized text.
TOKENIZED = "{}, tokenized"


@dataclass(frozen=True)
class ScoredTestSet:
    """A test set that systems were scored on."""

    name: str  # as it was given; empty for the recipe's own
    sentences: int  # in it
    baseline: str  # that the other systems are tested against
    #: of the metrics, all on detokenized text but BLEU of the words as the models produced them, which is there on the
    #: recipe's own test set where models have words
    signatures: Mapping[str, str]


@dataclass(frozen=True)
class RunComparison:
    """The systems of a run on all of its test sets."""

    baseline: str  # that was asked for, or the first of fairseq's own models; without one, the first model
    seeds: Sequence[int]  # that count
    systems: Sequence[TrainedSystem]  # in the order asked for
    rates: Mapping[str, RateChoice]  # system to the search for its learning rate, where there was one
    test_sets: Sequence[ScoredTestSet]  # the recipe's own first
    records: pandas.DataFrame  # every number: scores on all test sets, and trainings

    def tables(self) -> list[Table]:
        """Scores on each test set, then what they cost."""
        return [*map(self.score_table, self.test_sets), self.cost_table()]

    def score_table(self, test_set: ScoredTestSet) -> Table:
        """One row a system; what failed is in the notes."""
        names = [system.name for system in self.systems]
        records = self.records[self.records["metric"].isin(test_set.signatures)]
        records = records[records["test_set"] == test_set.name]
        scored = set(records["system"])
        rows = [
            list(row) if system.name in scored else [Cell(system.status), *row[1:]]
            for system, row in zip(self.systems, zip(*score_columns(records, list(test_set.signatures), names)))
        ]
        notes = [f"{test_set.sentences:,} sentences."]
        if test_set.baseline != self.baseline:
            notes.append(f"{self.baseline} has no translation: the others are compared with {test_set.baseline}.")
        notes += reading_notes(records, test_set.baseline)
        notes += [note for system in self.systems for note in system.failure_notes]
        caption = f"Scores on {test_set.name}" if test_set.name else "Scores"
        header = ["System", *map(name_metric, test_set.signatures)]
        return Table(caption, header, names, rows, notes, list_signatures(test_set.signatures), "column")

    def cost_table(self) -> Table:
        """One row a system, and how the learning rates were chosen."""
        chosen = {name: rate.chosen for name, rate in self.rates.items()}
        table = cost_table(self.records, [system.name for system in self.systems], rates=chosen)
        means = ["Means over the seeds, memory apart."] if len(self.seeds) > 1 else []
        return replace(table, notes=[*table.notes, *means, *(f"{name}: {rate}." for name, rate in self.rates.items())])

    def write(self, prefix: str | PathLike[str]) -> None:
        """Writes ``PREFIX.txt``, ``PREFIX.md`` and ``PREFIX.json``."""
        rates = {name: asdict(rate) for name, rate in self.rates.items()}
        write_results(
            prefix,
            self.tables(),
            self.records,
            baseline=self.baseline,
            seeds=list(self.seeds),
            systems=[{"name": one.name, "failures": one.failures, "rate": rates.get(one.name)} for one in self.systems],
            test_sets=list(map(asdict, self.test_sets)),
        )


class RunSystems:
    """The systems and seeds of a run folder that are to be compared."""

    def __init__(self, path: str | PathLike[str], models: Sequence[str], seeds: Sequence[int]) -> None:
        """Reads the folder's options.

        Raises:
            FileError: if this is no run folder.
            ValueError: without models or seeds, and if one is named twice.
        """
        for what, values in {"model": models, "seed": seeds}.items():
            if not values or len(set(values)) < len(values):
                raise ValueError(f"name every {what} once, and at least one, not {', '.join(map(str, values))!r}")
        self.folder = RunFolder(path)
        self.models = models
        self.seeds = seeds

    def find_files(self, model: str, name: str) -> dict[str, Path]:
        """Seed to the file of that name, where a system has it."""
        folder = self.folder.path / "systems" / model
        files = {str(seed): folder / f"seed-{seed}" / name for seed in self.seeds}
        return {seed: file for seed, file in files.items() if file.is_file()}

    def score_test_set(
        self, name: str, baseline: str, *, translations: str, resamples: int, jobs: int
    ) -> tuple[ScoredTestSet, pandas.DataFrame]:
        """One test set, without a name the recipe's own, and the records of its scores.

        Args:
            name: of the test set.
            baseline: that the other systems are tested against.
            translations: each system's file of them.
            resamples: of the bootstrap.
            jobs: processes that count.

        Raises:
            FileError: if a file is missing or damaged.
            ValueError: if no system has a translation, or a translation has not as many sentences as the references.
        """
        systems = [
            System(model, {seed: read_sentences(path) for seed, path in files.items()})
            for model in sorted(self.models, key=lambda model: model != baseline)
            if (files := self.find_files(model, translations))
        ]
        if not systems:
            raise ValueError(f"{self.folder.path}: no system has a file {translations}: there is nothing to compare")
        references = self.read_references(f"extra/{name}/raw" if name else "text/raw")
        scores = score_systems(references, systems, Settings(detailed=(), resamples=resamples, jobs=jobs))
        records, signatures = scores.records, dict(scores.signatures)
        if not name and self.folder.segmentation != "sentencepiece":
            settings = Settings(metrics=("bleu",), detailed=(), tokenize="none", resamples=0)
            tokenized = score_systems(
                self.read_references("text/words"), [self.read_words(one.name) for one in systems], settings
            )
            signatures |= {TOKENIZED.format(metric): text for metric, text in tokenized.signatures.items()}
            named = tokenized.records.assign(metric=tokenized.records["metric"].map(TOKENIZED.format))
            records = pandas.concat([records, named], ignore_index=True)
        return ScoredTestSet(name, len(references), systems[0].name, signatures), records.assign(test_set=name)

    def read_words(self, model: str) -> System:
        """A system's translations as it produced them."""
        logs = self.find_files(model, "test.log")
        return System(
            model, {seed: [one.tokens for one in read_generate_log(log).best()] for seed, log in logs.items()}
        )

    def read_references(self, place: str) -> TestSet:
        """What translations are scored against."""
        language = self.folder.languages[1]
        reference = read_sentences(self.folder.path / place / f"test.{language}")
        return TestSet(reference, language, bool(self.folder.options.get("LOWERCASE")))


def compare_systems(
    run: RunSystems,
    *,
    baseline: str | None = None,
    extra_tests: Mapping[str, str] | None = None,  # name to what tells its text from another of that name
    resamples: int = RESAMPLES,
    jobs: int = 1,
) -> RunComparison:
    """Compares all systems of a run that have not failed, on its own test set and extra ones.

    Without a baseline, see `choose_baseline`; ``extra_tests`` names test sets besides the recipe's own; ``resamples``
    and ``jobs`` are as in `Settings`.

    Raises:
        FileError: if a file is missing or damaged.
        ValueError: if the baseline is none of the models, or no system has a translation.
    """
    baseline = baseline or choose_baseline(run.models)
    if baseline not in run.models:
        raise ValueError(f"the baseline {baseline!r} is none of the models: {', '.join(run.models)}")
    files = {"": "test.detokenized"}
    files |= {name: f"extra-{identity}.detokenized" for name, identity in (extra_tests or {}).items()}
    scored = [
        run.score_test_set(name, baseline, translations=file, resamples=resamples, jobs=jobs)
        for name, file in files.items()
    ]
    test_sets, frames = zip(*scored)
    folder = run.folder.path
    systems = [read_trained_system(name, folder / "systems" / name, seeds=run.seeds) for name in run.models]
    rates = {name: choice for name in run.models if (choice := read_choice(folder / "rates" / name))}
    trainings = make_frame([record for system in systems for record in system.records])
    records = pandas.concat([*frames, trainings], ignore_index=True)
    return RunComparison(baseline, run.seeds, systems, rates, test_sets, records)
