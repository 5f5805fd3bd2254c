"""A test set and translations of it in plain files: one sentence a line, or the logs of fairseq-generate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

from ..metrics import split_words
from ..text_files import read_sentences, require_same_count
from .analysis import Analysis, analyze
from .generate_log import read_generate_log
from .nbest import collect_lists
from .scores import Settings
from .test_set import NBestLists, System, TestSet, UnknownWords

Place = str | PathLike[str]


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
