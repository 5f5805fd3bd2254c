"""What is compared: systems of one run folder on its test sets, with what their training and search took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ...text_files import read_sentences
from ..bucket_scores import RESAMPLES
from ..evaluation import MetricEvaluation, Settings, evaluate
from ..generate_log import read_generate_log
from ..learning_rates import RateChoice, read_choice
from ..outcome import Outcome, read_outcome
from ..run_folder import RunFolder
from ..test_set import System, TestSet

#: Models of fairseq's own, of which the first is the baseline unless another one is asked for.
STOCK_MODELS = ("lstm", "fconv", "transformer")


@dataclass(frozen=True)
class ComparedSystem(Outcome):
    """One system.

    Attributes:
        rate: the search for its learning rate; None if there was none.
    """

    rate: RateChoice | None = None


@dataclass(frozen=True)
class TestScores:
    """One test set.

    Attributes:
        name: as it was given; None for the recipe's own.
        sentences: in it.
        baseline: that the other systems are tested against.
        metrics: on detokenised text, of the systems that have a translation of it.
        tokenized: BLEU on the words as the models produced them; None where they have no words.
    """

    __test__ = False  # not a class of tests, whatever pytest makes of the name

    name: str | None
    sentences: int
    baseline: str
    metrics: Sequence[MetricEvaluation]
    tokenized: MetricEvaluation | None = None


@dataclass(frozen=True)
class Comparison:
    """All of it.

    Attributes:
        baseline: that was asked for, or the first of fairseq's own models; without one, the first model.
        seeds: that count.
        systems: in the order asked for.
        tests: the recipe's own test set first.
    """

    baseline: str
    seeds: Sequence[int]
    systems: Sequence[ComparedSystem]
    tests: Sequence[TestScores]


class ComparedRun:
    """Reads the systems and seeds of a run folder that are to be compared."""

    def __init__(self, path: str | PathLike[str], models: Sequence[str], seeds: Sequence[int]) -> None:
        """Reads the options.

        Raises:
            FileError: if this is no run folder.
            ValueError: without models or seeds, and if one stands twice.
        """
        for what, values in {"model": models, "seed": seeds}.items():
            if not values or len(set(values)) < len(values):
                raise ValueError(f"name every {what} once, and at least one, not {', '.join(map(str, values))!r}")
        self.folder = RunFolder(path)
        self.models = models
        self.seeds = seeds

    def system(self, name: str) -> ComparedSystem:
        """What became of a system.

        Raises:
            FileError: if a file is damaged.
            ValueError: if its seeds are models of different size.
        """
        outcome = read_outcome(name, self.folder.path / "systems" / name, seeds=self.seeds)
        return ComparedSystem(name, outcome.facts, outcome.failures, read_choice(self.folder.path / "rates" / name))

    def files(self, model: str, name: str) -> dict[str, Path]:
        """Seed to the file of that name, where a system has it."""
        folder = self.folder.path / "systems" / model
        files = {str(seed): folder / f"seed-{seed}" / name for seed in self.seeds}
        return {seed: file for seed, file in files.items() if file.is_file()}

    def scores(self, name: str | None, baseline: str, *, resamples: int, jobs: int) -> TestScores:
        """One test set; None is the recipe's own.

        Raises:
            FileError: if a file is missing or damaged.
            ValueError: if no system has a translation, or a translation has not as many sentences as the references.
        """
        place, translation = (
            ("text", "test.detokenized") if name is None else (f"extra/{name}", f"extra-{name}.detokenized")
        )
        systems = self.translations(translation, baseline)
        reference = self.references(f"{place}/raw")
        metrics = evaluate(reference, systems, Settings(detailed=(), resamples=resamples, jobs=jobs))
        tokenized = None
        if name is None and not self.folder.options["SEGMENTATION"].startswith("sentencepiece"):
            tokenized = self.tokenized_scores(systems)
        return TestScores(name, len(reference), systems[0].name, metrics, tokenized)

    def translations(self, name: str, baseline: str) -> list[System]:
        """The systems that have been translated, the baseline first.

        Raises:
            FileError: if a file is damaged.
            ValueError: if there is none.
        """
        order = sorted(self.models, key=lambda model: model != baseline)
        found = {
            model: {seed: read_sentences(file) for seed, file in self.files(model, name).items()} for model in order
        }
        systems = [System(model, translations) for model, translations in found.items() if translations]
        if not systems:
            raise ValueError(f"{self.folder.path}: no system has a file {name}: there is nothing to compare")
        return systems

    def tokenized_scores(self, systems: Sequence[System]) -> MetricEvaluation:
        """BLEU on words, without intervals."""
        words = [
            System(
                system.name,
                {
                    seed: [hypothesis.tokens for hypothesis in read_generate_log(file).best()]
                    for seed, file in self.files(system.name, "test.log").items()
                },
            )
            for system in systems
        ]
        settings = Settings(metrics=("bleu",), detailed=(), tokenize="none", resamples=0)
        (bleu,) = evaluate(self.references("text/words"), words, settings)
        return bleu

    def references(self, place: str) -> TestSet:
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


def compare(
    run: ComparedRun,
    *,
    baseline: str | None = None,
    extra_tests: Sequence[str] = (),
    resamples: int = RESAMPLES,
    jobs: int = 1,
) -> Comparison:
    """Compares all systems of a run that have not failed.

    Args:
        run: which systems and seeds of which folder.
        baseline: one of its models; without it, the first of `STOCK_MODELS` among them, or the first.
        extra_tests: names of test sets besides the recipe's own.
        resamples: of the bootstrap, for intervals and tests; 0 for neither.
        jobs: processes that count.

    Raises:
        FileError: if a file is missing or damaged.
        ValueError: if the baseline is none of the models, or no system has a translation.
    """
    baseline = baseline or next((model for model in run.models if model in STOCK_MODELS), run.models[0])
    if baseline not in run.models:
        raise ValueError(f"the baseline {baseline!r} is none of the models: {', '.join(run.models)}")
    tests = [run.scores(name, baseline, resamples=resamples, jobs=jobs) for name in (None, *extra_tests)]
    return Comparison(baseline, run.seeds, [run.system(model) for model in run.models], tests)
