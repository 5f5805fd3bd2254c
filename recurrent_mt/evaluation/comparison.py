"""Systems beside each other: scores of their translations, and what trainings and searches took, as far as known.

Translations are files with a reference, or those of run folders. An ablation is a comparison of systems that differ
from its baseline in one thing each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import sqrt
from os import PathLike

import pandas

from ..runs.folder import TRANSLATED
from ..runs.outcomes import describe_mixtures, read_versions
from ..text_files import read_sentences
from ..versions import describe_versions
from .scores import Settings, score_systems
from .tables import (
    ALL,
    UNKNOWN,
    Cell,
    Table,
    format_number,
    interval_table,
    make_frame,
    score_table,
    select,
    write_results,
)
from .training import (
    COLUMNS,
    OPERATIONS,
    cost_cells,
    cost_table,
    read_failures,
    read_operations,
    read_system_trainings,
)
from .translated_files import System, TestSet, TrainedRuns, choose_baseline

#: What BLEU of the words that models produced is called, beside BLEU of detokenized text.
TOKENIZED = "{}, tokenized"
#: What an ablation shows of costs.
ABLATION_COSTS = {
    "parameters": COLUMNS["parameters"],
    "updates": COLUMNS["updates"],
    "valid. loss": COLUMNS["valid. loss"],
    "MFLOP a token": (OPERATIONS, "{:.2f}", 1e6),
    "words/s": COLUMNS["words/s"],
    "sentences/s": COLUMNS["sentences/s"],
}
ABLATION_COST_NOTE = (
    "Validation loss: bits a token. MFLOP a token: operations of matrix products and convolutions for a target token, "
    "its translation given, the encoder's share included. Words/s: target tokens in training. Sentences/s: in "
    "translation. Both were measured while the cells ran: what else the machine did is in them."
)
#: Degrees of freedom -> standard errors from which on a difference is called one: the 97.5% quantile of Student's t.
#: Between two entries, that of fewer degrees holds.
STUDENT = {
    **{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228},
    **{12: 2.179, 15: 2.131, 20: 2.086, 30: 2.042, 60: 2.000},
}


@dataclass(frozen=True)
class SeedNoise:
    """The spread of scores among seeds of one system.

    Two or three seeds say little of their own system's spread; under the assumption that all systems have the same, all
    of them estimate it together.
    """

    deviation: float  # pooled standard deviation
    degrees: int  # of freedom that it rests on

    @property
    def standard_errors(self) -> float:
        """How many standard errors make a difference: more where few seeds say what the error is."""
        return STUDENT[max(degrees for degrees in STUDENT if degrees <= self.degrees)]

    def tells_apart(self, difference: float, seeds: Sequence[int]) -> bool:
        """Whether two means over so many seeds are further apart than `standard_errors` of their difference."""
        return abs(difference) > self.standard_errors * self.deviation * sqrt(sum(1 / count for count in seeds))


def pool_seed_noise(records: pandas.DataFrame, metric: str) -> SeedNoise | None:
    """Pools the systems; None if none has two seeds."""
    chosen = records[(records["metric"] == metric) & (records["by"] == ALL) & (records["seed"] != "")]
    seeds = chosen.groupby("system")["value"].agg(["count", "var"])
    degrees = int((seeds["count"] - 1).sum())
    return SeedNoise(sqrt(((seeds["count"] - 1) * seeds["var"]).sum() / degrees), degrees) if degrees else None


@dataclass(frozen=True)
class ScoredTestSet:
    """A test set that systems were scored on."""

    name: str  # as it was given; empty for the only one, and for a run's own
    sentences: int  # in it
    baseline: str  # that the other systems are tested against
    #: of the metrics, all on detokenized text but BLEU of the words as the models produced them, which is there on the
    #: recipe's own test set where models have words; empty if no system has a translation
    signatures: Mapping[str, str]
    details: Mapping[str, Mapping[str, Mapping[str, str]]]  # see `Scores`
    #: system to what went wrong by seed, in its training or with its translation of this test set
    failures: Mapping[str, Mapping[int, str]] = field(default_factory=dict)

    @property
    def failure_notes(self) -> list[str]:
        """What went wrong, a line a training."""
        return [
            f"{system}, seed {seed}, failed: {why.rstrip('.')}."
            for system, failures in self.failures.items()
            for seed, why in failures.items()
        ]


@dataclass(frozen=True)
class Comparison:
    """Systems and everything that is known of them."""

    baseline: str  # that was asked for, or chosen; where it has no translation, see `ScoredTestSet.baseline`
    names: Sequence[str]  # of the systems, in the order asked for
    test_sets: Sequence[ScoredTestSet]  # the recipe's own first
    records: pandas.DataFrame  # every number: scores on all test sets, and trainings
    settings: Settings
    seeds: Sequence[int] = ()  # of trainings, that count
    #: system to what its trainings were made with, by seed, as of `describe_versions`
    versions: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    ablation: str = ""  # its name
    of_files: bool = False  # whether translations are files, of whose trainings nothing is known

    def tables(self) -> list[Table]:
        """Scores on each test set, then what they cost; of an ablation, both in one."""
        if self.ablation:
            return [self.ablation_table()]
        if self.of_files:
            return [self.file_table()]
        tables = map(self.score_table, self.test_sets)
        scores = [
            replace(table, notes=[*table.notes, *test_set.failure_notes])
            for table, test_set in zip(tables, self.test_sets)
        ]
        return [*scores, self.cost_table()]

    def file_table(self) -> Table:
        """Scores, intervals and p-values in columns of their own, as far as they are asked for."""
        (test_set,) = self.test_sets
        settings = self.settings
        table = interval_table(self.records, test_set.signatures, self.names, test_set.baseline)
        if (settings.resamples or settings.paired) and test_set.sentences == 1:
            return replace(table, notes=["One sentence has no interval and no p-value.", *table.notes])
        return table

    def score_table(self, test_set: ScoredTestSet) -> Table:
        """One row a system, which says why where there is no score."""
        statuses = {name: "failed" if test_set.failures.get(name) else "not yet" for name in self.names}
        caption = f"Scores on {test_set.name}" if test_set.name else "Scores"
        records = self.records[self.records["test_set"] == test_set.name]
        table = score_table(
            records, test_set.signatures, self.names, test_set.baseline, caption=caption, statuses=statuses
        )
        notes = [] if self.ablation else [f"{test_set.sentences:,} sentences."]
        if test_set.baseline != self.baseline:
            notes.append(f"{self.baseline} has no translation: the others are compared with {test_set.baseline}.")
        if not test_set.signatures:
            notes.append("No system has a translation.")
        return replace(table, notes=[*notes, *table.notes, *describe_mixtures(self.versions)])

    def cost_table(self) -> Table:
        """One row a system."""
        table = cost_table(self.records, self.names)
        means = ["Means over the seeds, memory apart."] if len(self.seeds) > 1 else []
        return replace(table, notes=[*table.notes, *means])

    def ablation_table(self) -> Table:
        """Scores, the distance from the baseline, and costs: one row a system."""
        test_set = self.test_sets[0]
        scores = self.score_table(test_set)
        columns, header, notes = [], list(scores.header[1:]), []
        if test_set.signatures:
            metric = next(iter(test_set.signatures))
            noise = pool_seed_noise(self.records, metric)
            columns = self.measure_distances(metric, test_set.baseline, noise)
            header.append(f"{metric} against {test_set.baseline}")
            if noise:
                notes.append(
                    f"†: further from {test_set.baseline} than {noise.standard_errors:.2f} standard errors of the "
                    f"seeds (Student's t, two-sided 5%); standard deviation of {metric} among seeds, over all cells: "
                    f"{noise.deviation:.2f} ({noise.degrees} degrees of freedom)."
                )
            notes.append(ABLATION_COST_NOTE)
        costs = cost_cells(self.records, self.names, ABLATION_COSTS)
        rows = [[*row, *columns[place : place + 1], *costs[place]] for place, row in enumerate(scores.rows)]
        return replace(
            scores,
            caption=f"Ablation: {self.ablation}",
            header=["Cell", *header, *ABLATION_COSTS],
            rows=rows,
            notes=[*test_set.failure_notes, *scores.notes, *notes],
        )

    def measure_distances(self, metric: str, baseline: str, noise: SeedNoise | None) -> list[Cell]:
        """Each system's distance from the baseline, with a dagger beyond the noise of seeds."""
        values = select(self.records, metric=metric, by=ALL).set_index("system")["value"].reindex(self.names)
        chosen = self.records[(self.records["metric"] == metric) & (self.records["seed"] != "")]
        seeds = chosen.groupby("system").size()
        cells = []
        for name, difference in (values - values[baseline]).items():
            if name == baseline or difference != difference:
                cells.append(Cell(UNKNOWN))
            else:
                far = noise and noise.tells_apart(difference, [seeds[name], seeds[baseline]])
                cells.append(Cell(format_number(difference, "+.2f"), "†" if far else ""))
        return cells

    def write(self, prefix: str | PathLike[str]) -> None:
        """Writes ``PREFIX.txt``, ``PREFIX.md`` and ``PREFIX.json``."""
        failures = self.test_sets[0].failures
        write_results(
            prefix,
            self.tables(),
            self.records,
            versions=describe_versions(),
            baseline=self.baseline,
            seeds=list(self.seeds),
            systems=[
                {"name": name, "failures": failures.get(name, {}), "versions": self.versions.get(name, {})}
                for name in self.names
            ],
            test_sets=list(map(asdict, self.test_sets)),
        )


def compare_translations(
    test_set: TestSet, systems: Sequence[System], settings: Settings, *, baseline: str | None = None
) -> Comparison:
    """Compares translations of a test set; without a baseline, with the first system.

    Raises:
        ValueError: if the baseline is none of the systems, and as `score_systems`.
    """
    names = [system.name for system in systems]
    baseline = baseline or names[0]
    require_baseline(baseline, names)
    scores = score_systems(test_set, sorted(systems, key=lambda one: one.name != baseline), settings)
    scored = ScoredTestSet("", len(test_set), baseline, scores.signatures, scores.details)
    return Comparison(baseline, names, [scored], scores.records, settings, of_files=True)


def require_baseline(baseline: str, names: Sequence[str]) -> None:
    """Raises ValueError if the baseline is none of the systems."""
    if baseline not in names:
        raise ValueError(f"the baseline {baseline!r} is none of the systems: {', '.join(names)}")


def score_test_set(
    trained: TrainedRuns, name: str, baseline: str, settings: Settings, *, translations: str, words: bool
) -> tuple[ScoredTestSet, pandas.DataFrame]:
    """One test set, without a name the recipe's own, and the records of its scores, if any system has a translation.

    Args:
        trained: the systems.
        name: of the test set.
        baseline: that the other systems are tested against.
        settings: of the scores.
        translations: each system's file of them.
        words: whether BLEU of the words that models produced is asked for, too.

    Raises:
        FileError: if a file is missing or damaged.
        ValueError: if a translation has not as many sentences as the references.
    """
    references = trained.read_references(name)
    search = translations.removesuffix(".detokenized")
    failures = {name: read_failures(folder, search, seeds=trained.seeds) for name, folder in trained.folders.items()}
    systems = [
        System(system, {seed: read_sentences(path) for seed, path in files.items()})
        for system in sorted(trained.names, key=lambda system: system != baseline)
        if (files := trained.find_files(system, translations))
    ]
    if not systems:
        return ScoredTestSet(name, len(references), baseline, {}, {}, failures), make_frame([])
    scores = score_systems(references, systems, settings)
    records, signatures = scores.records, dict(scores.signatures)
    if words and trained.runs[0].form.has_words and (produced := trained.read_words(systems)):
        tokenized = score_systems(
            trained.read_references(step="words"),
            produced,
            Settings(metrics=("bleu",), detailed=(), tokenize="none", resamples=0),
        )
        signatures |= {TOKENIZED.format(metric): text for metric, text in tokenized.signatures.items()}
        named = tokenized.records.assign(metric=tokenized.records["metric"].map(TOKENIZED.format))
        records = pandas.concat([records, named], ignore_index=True)
    scored = ScoredTestSet(name, len(references), systems[0].name, signatures, scores.details, failures)
    return scored, records.assign(test_set=name)


def compare_runs(
    trained: TrainedRuns,
    settings: Settings,
    *,
    baseline: str | None = None,
    extra_tests: Mapping[str, str] | None = None,  # name to what tells its text from another of that name
    ablation: str = "",
) -> Comparison:
    """Compares systems of run folders on their own test set and extra ones.

    Without a baseline, see `choose_baseline`; ``ablation`` is the name of one, if it is one.

    Raises:
        FileError: if a file is missing or damaged.
        ValueError: if the baseline is none of the systems, or no system has a translation, unless it is an ablation,
            whose table says what failed.
    """
    names = trained.names
    baseline = baseline or choose_baseline(names, recorded=trained.runs[0].baseline)
    require_baseline(baseline, names)
    files = {"": TRANSLATED}
    files |= {name: f"extra-{identity}.detokenized" for name, identity in (extra_tests or {}).items()}
    test_sets, frames = [], []
    for name, file in files.items():
        words = len(trained.runs) == 1 and not (name or ablation)
        test_set, records = score_test_set(trained, name, baseline, settings, translations=file, words=words)
        test_sets.append(test_set)
        frames.append(records)
    if not (any(test_set.signatures for test_set in test_sets) or ablation):
        searched = " or ".join(files.values())
        raise ValueError(f"{trained.runs[0].path}: no system has a file {searched}: there is nothing to compare")
    costs = [
        record for name in names for record in read_system_trainings(name, trained.folders[name], seeds=trained.seeds)
    ]
    costs += [one for name in names for one in read_operations(name, trained.find_files(name, "operations.json"))]
    records = pandas.concat([*frames, make_frame(costs)], ignore_index=True)
    versions = {name: read_versions(trained.folders[name], seeds=trained.seeds) for name in names}
    return Comparison(baseline, names, test_sets, records, settings, trained.seeds, versions, ablation)
