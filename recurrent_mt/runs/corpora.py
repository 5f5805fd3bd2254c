"""What text an experiment is about: checked, named after what it is, and limited to sentences that models take."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import numerics
from ..text_files import FileError, checksum, find_file, read_parallel
from ..text_form import TextForm
from .corpus import Corpus, ExtraTest
from .experiment import Experiment, identify
from .folder import RunFolder, find_systems

#: fairseq's models with positions take no longer sentences; the end of sentence is one token.
POSITION_LIMIT = 1023
SYNTHETIC_PAIRS = ("fr-en", "zh-en")


def describe_corpus(experiment: Experiment, segmentation: str | None, *, positions: bool) -> Corpus:
    """A corpus of an experiment, named after everything that decides what its data are.

    Args:
        experiment: with all its options.
        segmentation: of this corpus; None to choose one that suits the text.
        positions: whether a system has positions, and a sentence for which they are too few is to be refused now.

    Raises:
        ValueError: naming what does not go together.
        FileError: if a text is missing.
    """
    synthetic = experiment.corpus is None and not experiment.published
    if synthetic and experiment.pair not in SYNTHETIC_PAIRS:
        raise ValueError(
            f"the synthetic corpus has the pairs {' and '.join(SYNTHETIC_PAIRS)}, not {experiment.pair}: give your own "
            "with corpus=DIR"
        )
    segmentation = segmentation or ("word:4000" if synthetic else "sentencepiece:8000")
    form = choose_form(experiment, segmentation, synthetic=synthetic)
    form.require_splittable()
    extra = {test.id: test for test in describe_extra_tests(experiment)}
    begin = Corpus(
        "", experiment.languages, "", ["train", "valid", "test"], experiment.shards, {}, {}, form.record(), extra
    )
    if experiment.published:
        corpus, decisive = describe_collection(experiment, begin)
    elif synthetic:
        corpus = describe_synthetic(experiment, begin, given_words=form.truecased)
        decisive = {"sets": None, "synthetic": numerics.SYNTHETIC}
    else:
        corpus, decisive = describe_files(experiment, begin), {"sets": None}
    if experiment.distill:
        if form.truecased:
            raise ValueError("distill needs text as people write it, and the synthetic one comes in words: give corpus")
        corpus = replace(corpus, teacher=find_teacher(experiment.distill))
        decisive["teacher"] = checksum(Path(corpus.teacher[1]))
    # Models with positions accept no longer sentences; nothing else is left out of a published development set.
    limits = dict.fromkeys(["train"] if experiment.published else ["train", "valid"], experiment.max_length)
    lengths: dict[str, int | None] = {split: limits.get(split, POSITION_LIMIT) for split in corpus.splits}
    # Where a text is does not matter: its checksums do.
    decisive |= {"folder": None, "files": None, "raw": None, "checksums": corpus.checksums, "lengths": lengths}
    decisive |= {"shards": corpus.shards, "source": corpus.source, "splits": corpus.splits, **form.describe()}
    name = identify({**decisive, "pair": experiment.pair, "numerics": numerics.TEXT})
    if not positions:
        # It makes no other text, so it is not in the name.
        lengths = {split: None if split.startswith("test") else most for split, most in lengths.items()}
    return replace(corpus, id=f"{form.name}-{name}", lengths=lengths)


def find_teacher(named: str) -> list[str]:
    """The run folder and the checkpoint of a system that translates the training text.

    Raises:
        ValueError: if it is not clear which system is meant.
        FileError: if there is no such run folder.
    """
    run, _, system = named.partition(" ")
    folder = RunFolder(Path(run).resolve())
    found = find_systems(folder.path)
    if system not in found and not (len(found) == 1 and not system):
        raise ValueError(f'distill must name one of the systems of {run}, as in "{run} SYSTEM": {", ".join(found)}')
    return [str(folder.path), str((found[system] if system else next(iter(found.values()))).resolve())]


def choose_form(experiment: Experiment, segmentation: str, *, synthetic: bool) -> TextForm:
    """The form of an experiment's text.

    The generator of the synthetic corpus knows its words: SPLIT.src and SPLIT.tgt are the tokens, true-cased, of
    SPLIT.fr and SPLIT.en, and they are taken where models read words or parts of them.
    """
    source, target = experiment.languages
    record = {"SOURCE_LANG": source, "TARGET_LANG": target, "SEGMENTATION": segmentation}
    record |= {"TOKENIZER": experiment.tokenizer, "LOWERCASE": "yes" if experiment.lowercase else ""}
    form = TextForm.from_record(record, "")
    return replace(form, tokenizer="none", truecased=True) if synthetic and form.has_words else form


def describe_synthetic(experiment: Experiment, corpus: Corpus, *, given_words: bool) -> Corpus:
    """The synthetic corpus, which the workflow makes."""
    folder = synthetic_folder(experiment.pair)
    endings = ("src", "tgt") if given_words else corpus.languages
    files = {
        split: {side: f"{folder}/{split}.{ending}" for side, ending in zip(corpus.languages, endings, strict=True)}
        for split in corpus.splits
    }
    return replace(corpus, source="synthetic", files=files, reference=f"{folder}/test")


def describe_files(experiment: Experiment, corpus: Corpus) -> Corpus:
    """Text in files, which stay where they are."""
    prefixes = local_prefixes(experiment)
    files = {split: {side: f"{prefix}.{side}" for side in corpus.languages} for split, prefix in prefixes.items()}
    # Keyed by what the text is for: two in different folders may have one file name.
    marks = {
        f"{split}.{side}": checksum(Path(file)) if Path(file).is_file() else ""
        for split, sides in files.items()
        for side, file in sides.items()
    }
    return replace(corpus, source="files", files=files, reference=prefixes["test"], checksums=marks)


def local_prefixes(experiment: Experiment) -> dict[str, str]:
    """The prefix of each split of text in files."""
    folder = Path(experiment.corpus or "").resolve()
    return {split: f"{folder}/{getattr(experiment, split)}" for split in ("train", "valid", "test")}


def synthetic_folder(pair: str) -> str:
    """Where the synthetic corpus of this version is made."""
    return f"corpora/synthetic-{pair}-{numerics.SYNTHETIC}"


def describe_collection(experiment: Experiment, corpus: Corpus) -> tuple[Corpus, dict[str, Any]]:
    """Published text, or local text in its place, that is cleaned before it is used.

    Returns:
        The corpus, and what of it is in its name besides its splits and checksums.
    """
    sets = collect_sets(experiment)
    splits = ["train", "valid", "test", *(f"test{number}" for number in range(1, len(sets["test"])))]
    local = {name: prefix for texts in sets.values() for name, prefix in texts.items() if prefix is not None}
    marks = {
        f"{name}.{language}": checksum(find_file(prefix, language))
        for name, prefix in local.items()
        for language in corpus.languages
    }
    select_words = None if experiment.select_words is None else str(experiment.select_words)
    names = {role: list(texts) for role, texts in sets.items()}
    decisive = {"sets": names, "names": names, "cleaning": experiment.cleaning, "select_words": select_words}
    # What is cleaned leaves out further test sets, too.
    if experiment.cleaning and corpus.extra:
        decisive["left_out"] = list(corpus.extra)
    made = replace(
        corpus,
        source="collected",
        splits=splits,
        sets=sets,
        checksums=marks,
        cleaning=experiment.cleaning,
        select_words=select_words,
        sources=sources_file(experiment),
        mirror=experiment.mirror,
    )
    return made, decisive


def collect_sets(experiment: Experiment) -> dict[str, dict[str, str | None]]:
    """For train, valid, and test, the name of each text and its prefix; None where it is published.

    Raises:
        ValueError: if two texts have the same name.
    """
    sets: dict[str, dict[str, str | None]] = {"train": {}, "valid": {}, "test": {}}
    if experiment.corpus is not None:
        folder = Path(experiment.corpus).resolve()
        sets["train"]["train"] = f"{folder}/{experiment.train}"
        sets["valid"]["valid"] = f"{folder}/{experiment.valid}"
        tests = experiment.test.split(",")
        sets["test"] = {f"test-{name_set(test)}": f"{folder}/{test}" for test in tests}
        named = len(tests)
    else:
        for corpus in experiment.published:
            if experiment.size in corpus["sizes"]:
                sets[corpus["role"]][corpus["id"]] = None
        named = len(sets["test"])
    for prefix in experiment.add:
        sets["train"][f"added-{name_set(prefix)}"] = str(Path(prefix).resolve())
    names = [name for texts in sets.values() for name in texts]
    if len(set(names)) < len(names) or named != len(sets["test"]):
        raise ValueError(f"two of the corpora have the same name: {', '.join(names)}")
    return sets


def sources_file(experiment: Experiment) -> str:
    """The file that says where published text is; other corpora are looked up anew."""
    return f"downloads/sources-{identify([corpus['id'] for corpus in experiment.published])}.json"


def name_set(prefix: str) -> str:
    """What a text is called after its prefix, in paths of the run folder: without spaces."""
    return re.sub(" +", "-", Path(prefix).name)


def check_files(experiment: Experiment) -> list[str]:
    """Checks what can be checked in local text before any work is done.

    Returns:
        What should be known of it.

    Raises:
        FileError: naming the file, and the line where there is one.
    """
    notes = []
    prefixes = {} if experiment.corpus is None or experiment.published else local_prefixes(experiment)
    for split, prefix in prefixes.items():
        notes += check_pair(prefix, experiment.languages, may_have_empty_lines=split != "test")
    for prefix in experiment.extra_tests.values():
        check_pair(prefix, experiment.languages, may_have_empty_lines=False)
    if prefixes:
        tests = [prefixes["test"], *experiment.extra_tests.values()]
        notes += find_learned(prefixes["train"], tests, experiment.languages)
    return notes


def find_learned(train: str, tests: Sequence[str], languages: tuple[str, str]) -> Iterator[str]:
    """Notes on the test sets of which pairs are in the training text as well, letter for letter but for outer spaces.

    The training text is read once, and no more of it kept than test sets have.
    """
    pairs = {test: list(read_stripped(test, languages)) for test in tests}
    wanted = {pair for own in pairs.values() for pair in own}
    learned = {pair for pair in read_stripped(train, languages) if pair in wanted}
    for test, own in pairs.items():
        if count := sum(pair in learned for pair in own):
            yield (
                f"{train} has {count:,} of the {len(own):,} pairs of {test}, too: scores of these are those of a text "
                "that was learned."
            )


def read_stripped(prefix: str, languages: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """The pairs of a text without spaces at their ends."""
    files = [f"{prefix}.{language}" for language in languages]
    return ((source.strip(), target.strip()) for source, target in read_parallel(files))


def describe_extra_tests(experiment: Experiment) -> list[ExtraTest]:
    """The further test sets, each named after its text."""
    tests = []
    for name, prefix in experiment.extra_tests.items():
        marks = {side: checksum(Path(f"{prefix}.{side}")) for side in experiment.languages}
        tests.append(ExtraTest(name, f"{name}-{identify([*marks.values()])}", str(Path(prefix).resolve()), marks))
    return tests


def list_published(experiment: Experiment) -> list[str]:
    """Each corpus with its size, as published or of the local files, for people."""
    lines = []
    published = {corpus["id"]: corpus for corpus in experiment.published}
    pairs = megabytes = 0
    for role, texts in collect_sets(experiment).items():
        for name, prefix in texts.items():
            if prefix is not None:
                for file in (find_file(prefix, language) for language in experiment.languages):
                    lines.append(f"  {role:<5}  {file!s:<40} {file.stat().st_size:>10} bytes")
                continue
            corpus = published[name]
            size = corpus.get("megabytes")
            lines.append(
                f"  {role:<5}  {name:<40} {corpus.get('pairs', 0):>10,} pairs, {'?' if size is None else size:>5} MB"
            )
            if role == "train":
                pairs, megabytes = pairs + corpus.get("pairs", 0), megabytes + (size or 0)
    if experiment.corpus is None:
        download = f", more than {megabytes / 1e3:.1f} GB to download." if megabytes else "."
        lines.append(f"  Together {pairs / 1e6:.1f} million pairs to train on{download}")
        lines.append(
            "  Sizes as published; ? means not published. The development and test sets are in one file, downloaded "
            "once."
        )
    return lines


def fill_name(pattern: str, experiment: Experiment) -> str:
    """The run folder of an experiment without ``out``: {pair} and {text} of the pattern filled in."""
    text: str = experiment.size if experiment.published else "synthetic"
    if experiment.corpus is not None:
        text = re.sub(r"[^A-Za-z0-9._-]", "-", Path(experiment.corpus).resolve().name)
    return pattern.replace("{pair}", experiment.pair).replace("{text}", text)


def check_pair(prefix: str, languages: tuple[str, str], *, may_have_empty_lines: bool) -> list[str]:
    """Checks that both sides exist, are UTF-8, and have the same number of lines.

    Pairs of a test set are never dropped: BLEU on fewer sentences is a different number.

    Returns:
        What should be known about empty lines.

    Raises:
        FileError: naming the file, and the line where there is one.
    """
    files = [f"{prefix}.{language}" for language in languages]
    empty: dict[str, list[int]] = {file: [] for file in files}
    for number, texts in enumerate(read_parallel(files), 1):
        for file, text in zip(files, texts):
            if not text.split():
                empty[file].append(number)
    notes = []
    for file, lines in empty.items():
        if lines:
            found = f"{len(lines)} empty line(s), the first is line {lines[0]}"
            if not may_have_empty_lines:
                raise FileError(file, f"{found}: remove or fill the pair")
            notes.append(f"{file} has {found}: these pairs are dropped.")
    return notes
