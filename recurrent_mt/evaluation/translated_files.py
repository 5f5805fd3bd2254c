"""A test set and translations of it in files: plain ones, logs of fairseq-generate, or run folders of experiments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from ..metrics import split_words
from ..text_files import (
    FileError,
    dictionary_folder,
    read_dictionary,
    read_sentences,
    require_same_count,
    stream_sentences,
)
from ..text_form import read_text_form
from .analysis import Analysis, analyze
from .generate_log import read_generate_log
from .nbest import collect_lists, read_detokenized_lists
from .outcomes import seed_of
from .scores import Settings
from .test_set import NBestLists, System, TestSet, UnknownWords, read_unknown_words

Place = str | PathLike[str]
#: File of a translation -> what its system's name ends with.
TRANSLATIONS = {"test.detokenized": "", "test-without-unknown.detokenized": ", <unk> forbidden"}


def analyze_files(
    reference: Place,
    systems: Mapping[str, Place | Sequence[Place]],
    *,
    source: Place | None = None,
    languages: tuple[str, str] = ("", ""),
    lowercase: bool = False,
    settings: Settings | None = None,
) -> Analysis:
    """What ``recurrent-mt analyze`` counts; ``records`` of what it returns is a data frame of all numbers.

    Args:
        reference: raw references.
        systems: by name, a file of detokenized translations or a log (``*.log``); several files count as seeds. The
            first system is the baseline.
        source: raw sources, for scores by their length.
        languages: codes of source and target, which choose how words are counted and scored.
        lowercase: whether to ignore case.
        settings: what to count.

    Raises:
        FileError: if a file cannot be read, or has not as many lines as the references.
        ValueError: if there is no system, or a setting makes no sense.
    """
    test_set = read_test_set(reference, source, languages, lowercase=lowercase)
    read = []
    for name, places in systems.items():
        files = [places] if isinstance(places, str | PathLike) else places
        read.append(read_system(name, files, reference, test_set))
    return analyze(test_set, read, settings=settings)


def read_test_set(
    reference: Place, source: Place | None, languages: tuple[str, str], *, lowercase: bool = False
) -> TestSet:
    """The test set of files; words are those that BLEU's tokenization finds."""
    references = read_sentences(reference)
    sources: list[str] = []
    if source:
        sources = read_sentences(source)
        require_same_count(source, sources, reference, references)
    return TestSet(
        source=sources,
        reference=references,
        source_words=split_words(sources, languages[0]),
        reference_words=split_words(references, languages[1]),
        target_language=languages[1],
        lowercase=lowercase,
        words="tokens as BLEU splits them",
    )


def read_system(
    name: str, files: Sequence[Place], reference: Place, test_set: TestSet, unknown: UnknownWords | None = None
) -> System:
    """A system, one file a seed; ``reference`` is named where their lengths differ."""
    translations, lists = {}, []
    for seed, file in enumerate(files, start=1):
        translations[str(seed)], nbest = read_translations(file)
        require_same_count(file, translations[str(seed)], reference, test_set.reference)
        lists.append(nbest)
    return System(name, translations, unknown, nbest=lists[0])


def read_translations(file: Place) -> tuple[list[str], NBestLists | None]:
    """Lines of text, or the best hypotheses of a log of fairseq-generate and its n-best lists if it has any."""
    if not str(file).endswith(".log"):
        return read_sentences(file), None
    log = read_generate_log(file)
    return [hypothesis.marked_text for hypothesis in log.best()], collect_lists(log, file)


class RunFolder:
    """One run: what was made of one corpus with one set of options.

    Attributes:
        path: the folder.
        form: of its text, as the recipe recorded it.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        """Reads the form of its text.

        Raises:
            FileError: if this is no run folder.
        """
        self.path = Path(path)
        self.form = read_text_form(path)

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target."""
        return self.form.source, self.form.target

    def read_references(self, place: str = "text/raw", split: str = "test") -> TestSet:
        """What translations are scored against, without sources."""
        language = self.languages[1]
        reference = read_sentences(self.path / place / f"{split}.{language}")
        return TestSet(reference, language, self.form.lowercase)

    def test_set(self) -> TestSet:
        """The test set; words are the tokens before subword segmentation, or 13a's where a model reads raw text.

        Raises:
            FileError: if a file is missing, damaged or of another length than its neighbor.
        """
        raw = [self.path / "text" / "raw" / f"test.{language}" for language in self.languages]
        source, reference = map(read_sentences, raw)
        require_same_count(raw[1], reference, raw[0], source)
        if self.form.has_words:
            files = [self.path / "text" / "words" / f"test.{language}" for language in self.languages]
            words = [[text.split() for text in read_sentences(file)] for file in files]
            for file, side in zip(files, words):
                require_same_count(file, side, raw[0], source)
            unit = "tokens before any subword segmentation"
        else:
            words = [split_words(text, language) for text, language in zip((source, reference), self.languages)]
            unit = "tokens as BLEU splits them"
        return TestSet(
            source=source,
            reference=reference,
            source_words=words[0],
            reference_words=words[1],
            target_language=self.languages[1],
            lowercase=self.form.lowercase,
            words=unit,
        )

    def training_text(self) -> Iterator[str]:
        """Target sentences of the training set, as they came; the file is read when they are taken."""
        return stream_sentences(self.path / "text" / "input" / f"train.{self.languages[1]}")

    def systems(self) -> list[System]:
        """Every system with a finished translation, in the order of their names; seeds in order.

        Raises:
            FileError: if there is none.
        """
        data, prepared = dictionary_folder(self.path / "data"), self.path / "text" / "prepared"
        dictionaries = [data / f"dict.{language}.txt" for language in self.languages]
        unknown = read_unknown_words([prepared / f"test.{language}" for language in self.languages], dictionaries)
        source_size, target_size = (len(read_dictionary(file)) for file in dictionaries)
        systems = []
        for folder in sorted((self.path / "systems").glob("*")):
            for name, ending in TRANSLATIONS.items():
                files = sorted(folder.glob(f"seed-*/{name}"), key=seed_of)
                translations = {str(seed_of(file)): read_sentences(file) for file in files}
                if files:
                    nbest = read_lists_beside(files[0], translations[str(seed_of(files[0]))])
                    sizes = source_size, target_size
                    systems.append(System(folder.name + ending, translations, unknown, sizes, nbest))
        if not systems:
            raise FileError(self.path, "no system has a file test.detokenized: nothing has been translated yet")
        return systems


def read_lists_beside(file: Path, translations: Sequence[str]) -> NBestLists | None:
    """The n-best lists that a file of translations was taken from; None where the recipe kept none."""
    text = file.with_suffix(".nbest")
    return read_detokenized_lists(file.with_suffix(".log"), text, translations) if text.exists() else None


def read_runs(paths: Sequence[str | PathLike[str]]) -> tuple[TestSet, list[System], Iterator[str]]:
    """Test set, systems and training text (target side) of run folders that share a test set.

    A system's name gets its run's in front where two runs have one of that name. The training text is that of the first
    run, and is read when its sentences are taken: it can be larger than memory.

    Raises:
        FileError: if a folder is not that of a whole run.
        ValueError: if two runs have different test sets.
    """
    runs = [RunFolder(path) for path in paths]
    test_set = runs[0].test_set()
    for run in runs[1:]:
        other = run.test_set()
        if (other.source, other.reference, other.lowercase) != (
            test_set.source,
            test_set.reference,
            test_set.lowercase,
        ):
            raise ValueError(
                f"{run.path} and {runs[0].path} have different test sets or casing: compare like with like"
            )
    found = [(run, system) for run in runs for system in run.systems()]
    names = Counter(system.name for _, system in found)
    systems = [
        replace(system, name=f"{run.path.name}/{system.name}", name_in_run=system.name)
        if names[system.name] > 1
        else system
        for run, system in found
    ]
    return test_set, systems, runs[0].training_text()
