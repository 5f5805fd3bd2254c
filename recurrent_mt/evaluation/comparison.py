"""Systems of one run folder beside each other: scores on its test sets, and what training and search took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pandas

from ..text_files import read_sentences
from .generate_log import read_generate_log
from .learning_rates import RateChoice, read_choice
from .records import make_frame
from .run_folder import RunFolder
from .score_tables import list_signatures, name_metric, reading_notes, score_columns
from .scores import RESAMPLES, Scores, Settings, score_systems
from .tables import Cell, Table, write_results
from .test_set import System, TestSet, choose_baseline
from .training import TrainedSystem, cost_table, read_trained_system

#: What BLEU of the words that models produced is called, beside BLEU of detokenized text.
TOKENIZED = "{}, tokenized"


@dataclass(frozen=True)
class ScoredTestSet:
    """Scores of one test set.

    Attributes:
        name: as it was given; empty for the recipe's own.
        sentences: in it.
        baseline: that the other systems are tested against.
        scores: of the systems that have a translation of it, on detokenized text; on the recipe's own test set BLEU of
            the words as the models produced them, too, where they have words.
    """

    name: str
    sentences: int
    baseline: str
    scores: Scores


@dataclass(frozen=True)
class RunComparison:
    """All of it.

    Attributes:
        baseline: that was asked for, or the first of fairseq's own models; without one, the first model.
        seeds: that count.
        systems: in the order asked for.
        rates: system to the search for its learning rate, where there was one.
        test_sets: the recipe's own first.
        records: every number: scores on all test sets, and trainings.
    """

    baseline: str
    seeds: Sequence[int]
    systems: Sequence[TrainedSystem]
    rates: Mapping[str, RateChoice]
    test_sets: Sequence[ScoredTestSet]
    records: pandas.DataFrame

    def tables(self) -> list[Table]:
        """Scores on each test set, then what they cost."""
        return [*map(self.score_table, self.test_sets), self.cost_table()]

    def score_table(self, test_set: ScoredTestSet) -> Table:
        """One row a system; what failed is in the notes."""
        records, signatures = test_set.scores.records, test_set.scores.signatures
        columns = score_columns(records, list(signatures), [system.name for system in self.systems])
        scored = set(records["system"])
        rows = [
            list(row) if system.name in scored else [Cell(system.status), *row[1:]]
            for system, row in zip(self.systems, zip(*columns))
        ]
        notes = [*reading_notes(records, test_set.baseline)]
        if test_set.baseline != self.baseline:
            notes.insert(0, f"{self.baseline} has no translation: the others are compared with {test_set.baseline}.")
        for system in self.systems:
            for seed, reason in system.failures.items():
                notes.append(f"{system.name}, seed {seed}, failed: {reason.rstrip('.')}.")
        return Table(
            f"Scores on {test_set.name}" if test_set.name else "Scores",
            ["System", *map(name_metric, signatures)],
            [system.name for system in self.systems],
            rows,
            [f"{test_set.sentences:,} sentences.", *notes],
            list_signatures(signatures),
            "column",
        )

    def cost_table(self) -> Table:
        """One row a system, and how the learning rates were chosen."""
        chosen = {name: rate.chosen for name, rate in self.rates.items()}
        table = cost_table(self.records, [system.name for system in self.systems], rates=chosen)
        means = ["Means over the seeds, memory apart."] if len(self.seeds) > 1 else []
        rates = [f"{name}: {rate}." for name, rate in self.rates.items()]
        return Table(table.caption, table.header, table.names, table.rows, [*table.notes, *means, *rates])

    def write(self, prefix: str | PathLike[str]) -> None:
        """Writes ``PREFIX.txt``, ``PREFIX.md`` and ``PREFIX.json``."""
        context: dict[str, Any] = {
            "baseline": self.baseline,
            "seeds": list(self.seeds),
            "systems": [
                {
                    "name": system.name,
                    "failures": system.failures,
                    "rate": asdict(self.rates[system.name]) if system.name in self.rates else None,
                }
                for system in self.systems
            ],
            "test_sets": [
                {
                    "name": one.name,
                    "sentences": one.sentences,
                    "baseline": one.baseline,
                    "signatures": dict(one.scores.signatures),
                }
                for one in self.test_sets
            ],
        }
        write_results(prefix, self.tables(), self.records, **context)


class RunSystems:
    """Reads the systems and seeds of a run folder that are to be compared."""

    def __init__(self, path: str | PathLike[str], models: Sequence[str], seeds: Sequence[int]) -> None:
        """Reads the options.

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

    def score_test_set(self, name: str, baseline: str, *, resamples: int, jobs: int) -> ScoredTestSet:
        """One test set; without a name the recipe's own.

        Raises:
            FileError: if a file is missing or damaged.
            ValueError: if no system has a translation, or a translation has not as many sentences as the references.
        """
        place, translation = (f"extra/{name}", f"extra-{name}.detokenized") if name else ("text", "test.detokenized")
        systems = self.read_translations(translation, baseline)
        references = self.read_references(f"{place}/raw")
        scores = score_systems(references, systems, Settings(detailed=(), resamples=resamples, jobs=jobs))
        records, signatures = scores.records, dict(scores.signatures)
        if not name and not self.folder.options["SEGMENTATION"].startswith("sentencepiece"):
            tokenized = self.score_tokens(systems)
            signatures |= {TOKENIZED.format(metric): text for metric, text in tokenized.signatures.items()}
            named = tokenized.records.assign(metric=tokenized.records["metric"].map(TOKENIZED.format))
            records = pandas.concat([records, named], ignore_index=True)
        return ScoredTestSet(name, len(references), systems[0].name, Scores(records.assign(test_set=name), signatures))

    def read_translations(self, name: str, baseline: str) -> list[System]:
        """The systems that have been translated, the baseline first.

        Raises:
            FileError: if a file is damaged.
            ValueError: if there is none.
        """
        systems = []
        for model in sorted(self.models, key=lambda model: model != baseline):
            if files := self.find_files(model, name):
                systems.append(System(model, {seed: read_sentences(file) for seed, file in files.items()}))
        if not systems:
            raise ValueError(f"{self.folder.path}: no system has a file {name}: there is nothing to compare")
        return systems

    def score_tokens(self, systems: Sequence[System]) -> Scores:
        """BLEU on words, without intervals."""
        words = []
        for system in systems:
            logs = self.find_files(system.name, "test.log")
            tokens = {seed: [one.tokens for one in read_generate_log(log).best()] for seed, log in logs.items()}
            words.append(System(system.name, tokens))
        settings = Settings(metrics=("bleu",), detailed=(), tokenize="none", resamples=0)
        return score_systems(self.read_references("text/words"), words, settings)

    def read_references(self, place: str) -> TestSet:
        """What translations are scored against."""
        language = self.folder.languages[1]
        return TestSet(
            source=[],
            reference=read_sentences(self.folder.path / place / f"test.{language}"),
            source_words=[],
            reference_words=[],
            target_language=language,
            lowercase=bool(self.folder.options.get("LOWERCASE")),
            words="",
        )


def compare_systems(
    run: RunSystems,
    *,
    baseline: str | None = None,
    extra_tests: Sequence[str] = (),
    resamples: int = RESAMPLES,
    jobs: int = 1,
) -> RunComparison:
    """Compares all systems of a run that have not failed.

    Args:
        run: which systems and seeds of which folder.
        baseline: one of its models; without it, see `choose_baseline`.
        extra_tests: names of test sets besides the recipe's own.
        resamples: of the bootstrap, for intervals and tests; 0 for neither.
        jobs: processes that count.

    Raises:
        FileError: if a file is missing or damaged.
        ValueError: if the baseline is none of the models, or no system has a translation.
    """
    baseline = baseline or choose_baseline(run.models)
    if baseline not in run.models:
        raise ValueError(f"the baseline {baseline!r} is none of the models: {', '.join(run.models)}")
    test_sets = [run.score_test_set(name, baseline, resamples=resamples, jobs=jobs) for name in ("", *extra_tests)]
    folder = run.folder.path
    systems = [read_trained_system(name, folder / "systems" / name, seeds=run.seeds) for name in run.models]
    choices = {name: read_choice(folder / "rates" / name) for name in run.models}
    rates = {name: choice for name, choice in choices.items() if choice}
    trainings = make_frame([record for system in systems for record in system.records])
    frames = [*(one.scores.records for one in test_sets), trainings]
    return RunComparison(baseline, run.seeds, systems, rates, test_sets, pandas.concat(frames, ignore_index=True))
