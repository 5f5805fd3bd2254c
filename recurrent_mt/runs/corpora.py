"""What text an experiment is about: checked, named after what it is, and limited to sentences that models take."""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from .. import numerics
from ..text_files import FileError, find_file, read_lines, write_aside
from ..text_form import TextForm

#: fairseq's models with positions take no longer sentences; the end of sentence is one token.
POSITION_LIMIT = 1023
SYNTHETIC_PAIRS = ("fr-en", "zh-en")


def identify(setting: Any) -> str:
    """Eight hexadecimal digits that differ between settings, whatever the order of keys."""
    text = json.dumps(setting, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:8]


def checksum(file: Path) -> str:
    """Tells one text from another; not made to withstand an attack.

    Raises:
        FileError: if there is no such file.
    """
    if not file.is_file():
        raise FileError(file, "there is no such file")
    value = 0
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            value = zlib.crc32(block, value)
    return f"{value:08x}"


def require_unchanged(file: Path, expected: str) -> None:
    """Checks that a text, now that it was read, is still the one that results are named after.

    Raises:
        FileError: if its checksum is not the expected one.
    """
    if checksum(file) != expected:
        raise FileError(file, "it has changed since the experiment began: start the experiment again")


def describe_corpus(options: Mapping[str, Any], segmentation: str | None, *, positions: bool) -> dict[str, Any]:
    """Everything that decides what the data of an experiment are; its ``id`` is made of that.

    Args:
        options: of the experiment.
        segmentation: of this corpus; None to choose one that suits the text.
        positions: whether a system has positions, and a sentence for which they are too few is to be refused now.

    Raises:
        ValueError: naming what does not go together.
        FileError: if a text is missing.
    """
    languages = tuple(options["pair"].split("-"))
    synthetic = options["corpus"] is None and not options["published"]
    if synthetic and options["pair"] not in SYNTHETIC_PAIRS:
        raise ValueError(
            f"the synthetic corpus has the pairs {' and '.join(SYNTHETIC_PAIRS)}, not {options['pair']}: give your own "
            "with corpus=DIR"
        )
    segmentation = segmentation or ("word:4000" if synthetic else "sentencepiece:8000")
    form = choose_form(options, segmentation, synthetic=synthetic)
    form.require_splittable()
    corpus = {
        "shards": options["shards"],
        **describe_text(options, languages, synthetic=synthetic, given_words=form.truecased),
    }
    # Models with positions accept no longer sentences; nothing else is left out of a published development set.
    limits = {"train": options["max_length"]} | ({"valid": options["max_length"]} if not options["published"] else {})
    corpus["lengths"] = {split: limits.get(split, POSITION_LIMIT) for split in corpus["splits"]}
    # Where a text is does not matter: its checksums do.
    places = {"folder": None, "files": None, "raw": None, "sets": corpus.get("names")}
    name = identify({**corpus, **places, **form.describe(), "pair": options["pair"], "numerics": numerics.TEXT})
    if not positions:
        # It makes no other text, so it is not in the name.
        corpus["lengths"].update(dict.fromkeys(split for split in corpus["splits"] if split.startswith("test")))
    return {"id": f"{form.name}-{name}", "form": form.record(), **corpus}


def choose_form(options: Mapping[str, Any], segmentation: str, *, synthetic: bool) -> TextForm:
    """The form of an experiment's text.

    The generator of the synthetic corpus knows its words: SPLIT.src and SPLIT.tgt are the tokens, true-cased, of
    SPLIT.fr and SPLIT.en, and they are taken where models read words or parts of them.
    """
    source, target = options["pair"].split("-")
    record = {"SOURCE_LANG": source, "TARGET_LANG": target, "SEGMENTATION": segmentation}
    record |= {"TOKENIZER": options["tokenizer"], "LOWERCASE": "yes" if options["lowercase"] else ""}
    form = TextForm.from_record(record, "")
    return replace(form, tokenizer="none", truecased=True) if synthetic and form.has_words else form


def describe_text(
    options: Mapping[str, Any], languages: tuple[str, ...], *, synthetic: bool, given_words: bool
) -> dict[str, Any]:
    """Where the text comes from, and what tells it from another."""
    if options["published"]:
        return describe_collection(options, languages)
    splits = ["train", "valid", "test"]
    marks: dict[str, str] = {}
    if synthetic:
        folder = synthetic_folder(options["pair"])
        endings = ("src", "tgt") if given_words else languages
        names = {split: split for split in splits}
    else:
        folder, endings = str(Path(options["corpus"]).resolve()), languages
        names = {split: options[split] for split in splits}
        for split, name in names.items():
            for language in languages:
                path = Path(f"{folder}/{name}.{language}")
                # Keyed by what the text is for: two in different folders may have one file name.
                marks[f"{split}.{language}"] = checksum(path) if path.is_file() else ""
    return {
        "source": "synthetic" if synthetic else "files",
        "splits": splits,
        "folder": folder,
        "files": {
            split: {side: f"{folder}/{name}.{ending}" for side, ending in zip(languages, endings, strict=True)}
            for split, name in names.items()
        },
        "raw": {side: f"{folder}/{names['test']}.{side}" for side in languages},
        "checksums": marks,
    }


def synthetic_folder(pair: str) -> str:
    """Where the synthetic corpus of this version is made."""
    return f"corpora/synthetic-{pair}-{numerics.TEXT}"


def describe_collection(options: Mapping[str, Any], languages: tuple[str, ...]) -> dict[str, Any]:
    """Published text, or local text in its place, that is cleaned before it is used.

    ``sets`` has, for train, valid, and test, the name of each text and its prefix; None where it is published.
    """
    sets: dict[str, dict[str, str | None]] = {"train": {}, "valid": {}, "test": {}}
    if options["corpus"] is not None:
        folder = Path(options["corpus"]).resolve()
        sets["train"]["train"] = f"{folder}/{options['train']}"
        sets["valid"]["valid"] = f"{folder}/{options['valid']}"
        tests = options["test"].split(",")
        sets["test"] = {f"test-{name_set(test)}": f"{folder}/{test}" for test in tests}
        named = len(tests)
    else:
        for corpus in options["published"]:
            if options["size"] in corpus["sizes"]:
                sets[corpus["role"]][corpus["id"]] = None
        named = len(sets["test"])
    for prefix in options["add"]:
        sets["train"][f"added-{name_set(prefix)}"] = str(Path(prefix).resolve())
    names = [name for texts in sets.values() for name in texts]
    if len(set(names)) < len(names) or named != len(sets["test"]):
        raise ValueError(f"two of the corpora have the same name: {', '.join(names)}")
    splits = ["train", "valid", "test", *(f"test{number}" for number in range(1, len(sets["test"])))]
    local = {name: prefix for texts in sets.values() for name, prefix in texts.items() if prefix is not None}
    marks = {
        f"{name}.{language}": checksum(find_file(prefix, language))
        for name, prefix in local.items()
        for language in languages
    }
    # What is cleaned leaves out further test sets, too.
    extra = [test["id"] for test in describe_extra_tests(options).values()] if options["cleaning"] else []
    return {
        **({"left_out": extra} if extra else {}),
        "source": "collected",
        "splits": splits,
        "sets": sets,
        "names": {role: list(texts) for role, texts in sets.items()},
        "cleaning": options["cleaning"],
        "select_words": None if options["select_words"] is None else str(options["select_words"]),
        "checksums": marks,
    }


def name_set(prefix: str) -> str:
    """What a text is called after its prefix, in paths of the run folder: without spaces."""
    return re.sub(" +", "-", Path(prefix).name)


def check_files(options: Mapping[str, Any], corpus: Mapping[str, Any]) -> list[str]:
    """Checks what can be checked in local text before any work is done.

    Returns:
        What should be known of it.

    Raises:
        FileError: naming the file, and the line where there is one.
    """
    source, target = options["pair"].split("-")
    notes = []
    prefixes = {}
    if corpus["source"] == "files":
        prefixes = {split: f"{corpus['folder']}/{options[split]}" for split in corpus["splits"]}
        for split, prefix in prefixes.items():
            notes += check_pair(prefix, (source, target), may_have_empty_lines=split != "test")
    for prefix in options["extra_tests"].values():
        check_pair(prefix, (source, target), may_have_empty_lines=False)
    if prefixes:
        tests = [prefixes["test"], *options["extra_tests"].values()]
        notes += find_learned(prefixes["train"], tests, (source, target))
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
    return ((source.strip(), target.strip()) for source, target in read_pairs(prefix, languages, None))


def find_checksums(options: Mapping[str, Any]) -> str | None:
    """The file of checksums of downloads; the workflow runs in another folder.

    Raises:
        FileError: if there is no such file.
    """
    if options["checksums"] is None:
        return None
    file = Path(options["checksums"]).resolve()
    if not file.is_file():
        raise FileError(file, "there is no such file of checksums")
    return str(file)


def describe_extra_tests(options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Name to prefix and to what tells its text from another."""
    sides: Sequence[str] = options["pair"].split("-")
    tests = {}
    for name, prefix in options["extra_tests"].items():
        marks = {side: checksum(Path(f"{prefix}.{side}")) for side in sides}
        place = str(Path(prefix).resolve())
        tests[name] = {"prefix": place, "checksums": marks, "id": f"{name}-{identify([*marks.values()])}"}
    return tests


def list_published(options: Mapping[str, Any]) -> list[str]:
    """Each corpus with its size, as published or of the local files, for people."""
    languages = options["pair"].split("-")
    lines = []
    sets = describe_collection(options, tuple(languages))["sets"]
    published = {corpus["id"]: corpus for corpus in options["published"]}
    pairs = megabytes = 0
    for role, texts in sets.items():
        for name, prefix in texts.items():
            if prefix is not None:
                for file in (find_file(prefix, language) for language in languages):
                    lines.append(f"  {role:<5}  {file!s:<40} {file.stat().st_size:>10} bytes")
                continue
            corpus = published[name]
            size = corpus.get("megabytes")
            lines.append(
                f"  {role:<5}  {name:<40} {corpus.get('pairs', 0):>10,} pairs, {'?' if size is None else size:>5} MB"
            )
            if role == "train":
                pairs, megabytes = pairs + corpus.get("pairs", 0), megabytes + (size or 0)
    if options["corpus"] is None:
        download = f", more than {megabytes / 1e3:.1f} GB to download." if megabytes else "."
        lines.append(f"  Together {pairs / 1e6:.1f} million pairs to train on{download}")
        lines.append(
            "  Sizes as published; ? means not published. The development and test sets are in one file, downloaded "
            "once."
        )
    return lines


def fill_name(pattern: str, options: Mapping[str, Any]) -> str:
    """The run folder of an experiment without ``out``: {pair} and {text} of the pattern filled in."""
    text = options["size"] if options["published"] else "synthetic"
    if options["corpus"] is not None:
        text = re.sub(r"[^A-Za-z0-9._-]", "-", Path(options["corpus"]).resolve().name)
    return pattern.replace("{pair}", options["pair"]).replace("{text}", text)


def check_pair(prefix: str, languages: tuple[str, str], *, may_have_empty_lines: bool) -> list[str]:
    """Checks that both sides exist, are UTF-8, and have the same number of lines.

    Pairs of a test set are never dropped: BLEU on fewer sentences is a different number.

    Returns:
        What should be known about empty lines.

    Raises:
        FileError: naming the file, and the line where there is one.
    """
    counts, notes = [], []
    for language in languages:
        file = Path(f"{prefix}.{language}")
        if not file.is_file():
            raise FileError(file, "there is no such file")
        count, empty = 0, []
        for count, line in read_lines(file):
            if not line.split():
                empty.append(count)
        if not count:
            raise FileError(file, "it is empty")
        if empty:
            found = f"{len(empty)} empty line(s), the first is line {empty[0]}"
            if not may_have_empty_lines:
                raise FileError(file, f"{found}: remove or fill the pair")
            notes.append(f"{file} has {found}: these pairs are dropped.")
        counts.append(count)
    if counts[0] != counts[1]:
        names = [f"{prefix}.{language}" for language in languages]
        raise FileError(
            names[0],
            f"it has {counts[0]} lines and {names[1]} has {counts[1]}: line n of one must translate line n of the "
            "other",
        )
    return notes


def limit_lengths(
    prefix: str, out: str, languages: tuple[str, str], *, most: int | None, refuse: bool, same_as: str | None = None
) -> str:
    """Copies the pairs with 1 to `most` tokens on each side, or with any number but 0.

    Args:
        prefix: ``PREFIX.LANG`` is read.
        out: ``OUT.LANG`` is written.
        languages: source and target.
        most: tokens on a side.
        refuse: whether a pair of another length is an error, as in a test set.
        same_as: prefix of the text before it was split into tokens, which must have as many lines: a tool that takes
            another character for the end of a line shifts what follows.

    Returns:
        What was dropped, as a sentence; nothing if nothing was.

    Raises:
        FileError: naming the line that is refused, or files that do not go together.
    """
    dropped, first, number = 0, "", 0
    with ExitStack() as stack:
        partials = [stack.enter_context(write_aside(f"{out}.{language}")) for language in languages]
        files = [stack.enter_context(partial.open("w", encoding="utf-8", newline="\n")) for partial in partials]
        for number, pair in enumerate(read_pairs(prefix, languages, same_as), 1):
            reason = next(find_faults(pair, prefix, languages, number, most), None)
            if reason is None:
                for file, text in zip(files, pair, strict=True):
                    file.write(f"{text}\n")
            elif refuse:
                raise ValueError(reason)
            else:
                dropped, first = dropped + 1, first or reason
        if dropped == number:
            raise FileError(f"{prefix}.{languages[0]}", "no pair is left")
    return f"Dropped {dropped} of {number} pairs (the first: {first})." if dropped else ""


def read_pairs(prefix: str, languages: tuple[str, str], same_as: str | None) -> Iterator[tuple[str, str]]:
    """The pairs of a text, line by line.

    Raises:
        FileError: at the end, if files do not have as many lines as each other and as the text before.
    """
    names = [f"{place}.{language}" for place in (prefix, same_as) if place is not None for language in languages]
    for number, texts in enumerate(zip_longest(*map(read_lines, names)), 1):
        for name, text in zip(names, texts, strict=True):
            if text is None:
                raise FileError(
                    name,
                    f"it ends after line {number - 1}, another of {', '.join(names)} does not: does a line contain "
                    "another line separator?",
                )
        yield texts[0][1], texts[1][1]


def find_faults(
    pair: tuple[str, str], prefix: str, languages: tuple[str, str], number: int, most: int | None
) -> Iterator[str]:
    """Finds the reasons why a pair cannot be used."""
    for text, language in zip(pair, languages, strict=True):
        count = len(text.split())
        if not count:
            yield f"{prefix}.{language} line {number} has no token"
        elif most is not None and count > most:
            yield f"{prefix}.{language} line {number} has {count} tokens, more than the {most} allowed"
