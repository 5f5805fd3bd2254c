"""Reads the run folder of an experiment (scripts/quickstart.sh, scripts/compare_baselines.sh): test set and systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from ..fairseq_dictionary import dictionary_folder, read_dictionary
from ..metrics import split_words
from ..text_files import FileError, read_sentences, require_same_count, stream_sentences
from ..text_form import read_text_form
from .nbest import read_detokenized_lists
from .seeds import seed_of
from .test_set import NBestLists, System, TestSet, read_unknown_words

#: File of a translation -> what its system's name ends with.
TRANSLATIONS = {"test.detokenized": "", "test-without-unknown.detokenized": ", <unk> forbidden"}


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
