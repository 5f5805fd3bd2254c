"""Test sets, and translations of them in files, logs of fairseq-generate, or run folders."""

from __future__ import annotations

import filecmp
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from os.path import abspath
from pathlib import Path

from ..characters import has_escaped_character, is_subword, mark_unknown
from ..metrics import SentenceStatistics, split_words, statistics, warn_of_language
from ..runs.folder import TRANSLATED, RunFolder, seed_folder, seed_folders, seed_of
from ..text_files import (
    FileError,
    read_dictionary,
    read_sentences,
    require_same_count,
    stream_sentences,
)
from .generate_log import read_generate_log

LOG = logging.getLogger(__name__)

Place = str | PathLike[str]

#: Models of fairseq's own, with which others are compared.
STOCK_MODELS = ("lstm", "fconv", "transformer")
#: File of a translation -> what its system's name ends with.
TRANSLATIONS = {TRANSLATED: "", "test-without-unknown.detokenized": ", <unk> forbidden"}


@dataclass(frozen=True)
class TestSet:
    """Sources and references, as people write them and as words."""

    __test__ = False  # not a class of tests, whatever pytest makes of the name

    #: raw sentences, which translations are scored against; where there are several, the first, whose words are counted
    reference: Sequence[str]
    target_language: str  # chooses the tokenization of scores
    lowercase: bool  # ignore case in scores
    source: Sequence[str] = ()  # raw sentences; empty if only references are at hand
    source_words: Sequence[Sequence[str]] = ()  # words of each source; lengths count them. Empty where `source` is.
    reference_words: Sequence[Sequence[str]] = ()  # words of each reference; empty if only scores are asked for
    words: str = ""  # what the words are, for captions: ``Moses tokens``, ``13a tokens`` …
    further_references: Sequence[Sequence[str]] = ()  # of the same sentences, scored against as well

    def __len__(self) -> int:
        return len(self.reference)

    def count(
        self, metric: str, translations: Sequence[str], *, tokenize: str | None = None, jobs: int = 1
    ) -> SentenceStatistics:
        """Counts what a metric needs of each translation; arguments and errors as of `metrics.statistics`."""
        return statistics(
            metric,
            translations,
            self.reference,
            further_references=self.further_references,
            target_language=self.target_language,
            tokenize=tokenize,
            lowercase=self.lowercase,
            jobs=jobs,
        )


@dataclass(frozen=True)
class UnknownWords:
    """Number of tokens of each sentence, on either side, that a model's dictionaries lack; parallel to the test set."""

    source: Sequence[int]
    reference: Sequence[int]


@dataclass(frozen=True)
class System:
    """One system and its translations."""

    name: str  # as printed
    #: by seed: detokenized sentences, parallel to the test set. A system that was trained once, or comes from
    #: elsewhere, has one entry.
    translations: Mapping[str, Sequence[str]]
    #: how many words of each sentence the system's dictionaries lack; None where they are not known
    unknown: UnknownWords | None = None
    #: source and target dictionary, special symbols not counted; None where not known
    vocabulary_sizes: tuple[int, int] | None = None
    name_in_run: str = ""  # where `name` begins with its run's, because two runs have a system of that name
    folder: Path | None = None  # in a run, of its trainings; None where they are shown with another system

    @property
    def first_seed(self) -> Sequence[str]:
        return next(iter(self.translations.values()))


def count_unknown(texts: Sequence[Place], dictionaries: Sequence[Collection[str]]) -> UnknownWords:
    """Counts the tokens of a test set that models do not know.

    Args:
        texts: both sides as models read them.
        dictionaries: the words of each side.

    Raises:
        FileError: if a file is missing or damaged, or if the sides differ in length.
    """
    counts = [
        [sum(token not in known for token in line.split()) for line in read_sentences(text)]
        for text, known in zip(texts, dictionaries, strict=True)
    ]
    require_same_count(texts[1], counts[1], texts[0], counts[0])
    return UnknownWords(*counts)


def choose_baseline(names: Sequence[str], names_in_runs: Sequence[str] = (), recorded: str = "") -> str:
    """The system that others are compared with unless one is asked for.

    Args:
        names: of the systems.
        names_in_runs: the same without the names of runs; none where the former have none.
        recorded: what the experiment compares with. Where it has no translation, or none is named: the first of
            fairseq's own, else the first.
    """
    pairs = list(zip(names, names_in_runs or names, strict=True))
    wanted = [name for name, own_name in pairs if own_name == recorded]
    wanted += [name for name, own_name in pairs if own_name in STOCK_MODELS]
    return [*wanted, names[0]][0]


def list_places(places: Place | Sequence[Place]) -> Sequence[Place]:
    """One place or several, as several."""
    return [places] if isinstance(places, str | PathLike) else places


def read_references(files: Sequence[Place]) -> tuple[list[str], list[list[str]]]:
    """The first reference, and the others, of the same sentences.

    Raises:
        FileError: if a file cannot be read, or has not as many lines as the first.
    """
    first, *others = map(read_sentences, files)
    for file, sentences in zip(files[1:], others):
        require_same_count(file, sentences, files[0], first)
    return first, others


def read_test_set(
    files: Sequence[Place], source: Place | None, languages: tuple[str, str], *, lowercase: bool = False
) -> TestSet:
    """The test set of files, one or more of references; words are those that BLEU's tokenization finds."""
    reference = files[0]
    references, further_references = read_references(files)
    sources: list[str] = []
    if source:
        sources = read_sentences(source)
        require_same_count(source, sources, reference, references)
    for side, language, option in zip((sources, references), languages, ("--source-lang", "--target-lang")):
        warn_of_language(side, language, option)
    for file, side in ((source, sources), (reference, references)):
        if file:
            warn_of_subwords(file, side)
    return TestSet(
        source=sources,
        reference=references,
        source_words=split_words(sources, languages[0]),
        reference_words=split_words(references, languages[1]),
        target_language=languages[1],
        lowercase=lowercase,
        words="tokens as BLEU splits them",
        further_references=further_references,
    )


def read_system(name: str, files: Sequence[Place], reference: Place, test_set: TestSet) -> System:
    """A system, one file a seed; ``reference`` is named where their lengths differ.

    Raises:
        FileError: if a file cannot be read, or has not as many lines as the reference.
        ValueError: if there is no file.
    """
    translations = {}
    for seed, file in enumerate(files, start=1):
        translations[str(seed)] = read_translations(file)
        require_same_count(file, translations[str(seed)], reference, test_set.reference)
        warn_of_tokens(file, translations[str(seed)], test_set.reference)
    if not translations:
        raise ValueError(f"{name} has no file of translations: was a pattern given that matches none?")
    return System(name, translations)


def read_translations(file: Place) -> list[str]:
    """Lines of text, or the best hypotheses of a log; an unknown word is one wrong word in either."""
    if not str(file).endswith(".log"):
        return list(map(mark_unknown, read_sentences(file)))
    return [hypothesis.marked_text for hypothesis in read_generate_log(file).best()]


def find_token(text: str) -> str | None:
    """The first word of a text that is a model's and no person's: a subword, one that Moses has escaped, a last dot."""
    token = next((word for word in text.split() if is_subword(word) or has_escaped_character(word)), None)
    return token or ("." if text.endswith(" .") else None)


def warn_of_subwords(file: str | PathLike[str], sentences: Sequence[str]) -> bool:
    """Logs where more than a tenth of the sentences have subwords, and returns whether they have."""
    return _warn_where(file, sentences, lambda text: next(filter(is_subword, text.split()), None))


def warn_of_tokens(file: str | PathLike[str], translations: Sequence[str], references: Sequence[str]) -> None:
    """Logs where translations are subwords, or words as Moses separates them though the references are not."""
    if not warn_of_subwords(file, translations):
        found = sum(find_token(text) is not None for text in translations)
        if 10 * sum(find_token(text) is not None for text in references) < found:
            _warn_where(file, translations, find_token)


def _warn_where(file: str | PathLike[str], sentences: Sequence[str], find: Callable[[str], str | None]) -> bool:
    """Logs the first of what is found in more than a tenth of the sentences."""
    found = {number: token for number, text in enumerate(sentences, 1) if (token := find(text))}
    if too_many := 10 * len(found) > len(sentences):
        number, token = next(iter(found.items()))
        message = "%s, line %d: %s looks as models read it: words and scores are counted in detokenized text"
        LOG.warning(message, file, number, token)
    return too_many


def read_run_test_set(run: RunFolder) -> TestSet:
    """A run's test set; words are the tokens before subword segmentation, or 13a's where a model reads raw text.

    Raises:
        FileError: if a file is missing, damaged or of another length than its neighbor.
    """
    raw = run.text("raw", "test")
    source, reference = map(read_sentences, raw)
    require_same_count(raw[1], reference, raw[0], source)
    if run.form.has_words:
        files = run.text("words", "test")
        words = [[text.split() for text in read_sentences(file)] for file in files]
        for file, side in zip(files, words):
            require_same_count(file, side, raw[0], source)
        unit = "tokens before any subword segmentation"
    else:
        words = [split_words(text, language) for text, language in zip((source, reference), run.languages)]
        unit = "tokens as BLEU splits them"
    return TestSet(
        source=source,
        reference=reference,
        source_words=words[0],
        reference_words=words[1],
        target_language=run.languages[1],
        lowercase=run.form.lowercase,
        words=unit,
    )


def read_run_systems(run: RunFolder) -> list[System]:
    """Every system with a finished translation, in the order of their names; seeds in order.

    Raises:
        FileError: if there is none.
    """
    source, target = map(read_dictionary, run.dictionaries)
    unknown = count_unknown(run.text("prepared", "test"), (source, target))
    systems = []
    for folder in run.systems:
        for name, ending in TRANSLATIONS.items():
            files = [place / name for place in seed_folders(folder, name)]
            translations = {str(seed_of(file.parent)): read_sentences(file) for file in files}
            if files:
                sizes, place = (len(source), len(target)), None if ending else folder
                systems.append(System(folder.name + ending, translations, unknown, sizes, folder=place))
    if not systems:
        raise FileError(run.path, f"no system has a file {TRANSLATED}: nothing has been translated yet")
    return systems


def name_runs(folders: Sequence[Place]) -> list[str]:
    """What run folders are called: the last part of the path, or as many as tell it from the others.

    A folder may be given as a dot; a link keeps its own name.
    """
    paths = [Path(abspath(folder)).parts for folder in folders]
    names = []
    for path in paths:
        length = 1
        while length < len(path) and [other[-length:] for other in paths].count(path[-length:]) > 1:
            length += 1
        names.append("/".join(path[-length:]))
    return names


def name_of_training(system: System) -> str:
    """The name of a run's system, the same whatever its search was."""
    return system.name.removesuffix(TRANSLATIONS["test-without-unknown.detokenized"])


def read_runs(paths: Sequence[str | PathLike[str]]) -> tuple[TestSet, list[System], Iterator[str] | None]:
    """Test set, systems and training text (target side) of run folders that share a test set.

    A system's name gets its run's in front where two runs have one of that name. The training text is read when its
    sentences are taken: it can be larger than memory. There is none if the runs have trained on different ones.

    Raises:
        FileError: if a folder is not that of a whole run.
        ValueError: if two runs have different test sets.
    """
    runs = [RunFolder(path) for path in paths]
    test_set = read_run_test_set(runs[0])
    for run in runs[1:]:
        require_same_texts(runs[0], test_set, run, read_run_test_set(run))
    found = [(run, system) for run in runs for system in read_run_systems(run)]
    names = Counter(name for _, name in {(run.path, name_of_training(system)) for run, system in found})
    places = dict(zip((run.path for run in runs), name_runs(paths)))
    systems = [
        replace(system, name=f"{places[run.path]}/{system.name}", name_in_run=system.name)
        if names[name_of_training(system)] > 1
        else system
        for run, system in found
    ]
    first, *others = (run.text("input", "train")[1] for run in runs)
    alike = all(filecmp.cmp(first, other, shallow=False) for other in others)
    return test_set, systems, stream_sentences(first) if alike else None


def require_same_texts(run: RunFolder, test_set: TestSet, other_run: RunFolder, other: TestSet) -> None:
    """Raises ValueError if two runs have other sentences to translate, or score them otherwise."""
    texts = [(one.source, one.reference, one.target_language, one.lowercase) for one in (test_set, other)]
    if texts[0] != texts[1]:
        raise ValueError(f"{other_run.path} and {run.path} have different test sets or casing: compare like with like")


class TrainedRuns:
    """Systems of run folders, of which each is in one, and the seeds that count."""

    def __init__(
        self,
        folders: Sequence[str | PathLike[str]],
        names: Sequence[str] | None = None,
        seeds: Sequence[int] | None = None,
    ) -> None:
        """Finds the systems.

        Args:
            folders: of runs; with several, none of their systems may be in two.
            names: of systems, in the order of the rows; all that there are if None, and likewise the seeds.
            seeds: of trainings.

        Raises:
            FileError: if one is no run folder.
            ValueError: without systems, if no system has one of the seeds, and if a system is in two folders.
        """
        self.runs = [RunFolder(folder) for folder in folders]
        found: dict[str, Path] = {}
        for path in (path for run in self.runs for path in run.systems):
            if (names is None or path.name in names) and found.setdefault(path.name, path) != path:
                raise ValueError(f"system {path.name} is in two folders: {found[path.name]} and {path}")
        self.names = list(found) if names is None else names
        # One that nothing has been done for is in none.
        self.folders = {name: found.get(name, self.runs[0].system(name)) for name in self.names}
        if seeds is None:
            seeds = sorted({seed_of(training) for folder in found.values() for training in seed_folders(folder)})
        self.seeds = seeds
        for seed in seeds:
            if found and not any(Path(seed_folder(folder, seed)).is_dir() for folder in found.values()):
                raise ValueError(f"no system has a training with the seed {seed}")
        if not self.names:
            raise ValueError(f"there are no systems in {', '.join(str(run.path) for run in self.runs)}")

    def find_files(self, system: str, name: str) -> dict[str, Path]:
        """Seed to the file of that name, where a system has it."""
        files = {str(seed): Path(seed_folder(self.folders[system], seed), name) for seed in self.seeds}
        return {seed: file for seed, file in files.items() if file.is_file()}

    def read_references(self, extra: str = "", step: str = "raw") -> TestSet:
        """What translations are scored against, of the test set or a further one.

        Raises:
            FileError: if a file is missing or damaged.
            ValueError: if two runs have different test sets.
        """
        first, *others = (
            TestSet(read_sentences(run.reference(extra, step)), run.languages[1], run.form.lowercase)
            for run in self.runs
        )
        for run, test_set in zip(self.runs[1:], others):
            require_same_texts(self.runs[0], first, run, test_set)
        return first

    def read_words(self, systems: Iterable[System]) -> list[System]:
        """Systems' translations as they produced them; none of a system that lacks the log of a seed.

        A mean of fewer seeds would pass for one of all. Of a search that is made again, there may be the former log
        without its text.
        """
        produced = []
        for system in systems:
            logs = self.find_files(system.name, "test.log")
            if system.translations.keys() <= logs.keys():
                read = {seed: read_generate_log(logs[seed]) for seed in system.translations}
                words = {seed: [one.tokens for one in log.best()] for seed, log in read.items()}
                produced.append(System(system.name, words))
        return produced
