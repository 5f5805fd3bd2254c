"""The arguments that the analysing scripts share: which systems, which test set, what to count."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from typing import Any

from ..fairseq_dictionary import read_dictionary
from ..metrics import METRICS, split_words
from ..ordered_map import processors
from ..text_files import read_sentences, require_same_count
from .generate_log import read_generate_log
from .nbest import collect_lists
from .run_folder import read_runs
from .scores import Settings
from .test_set import NBestLists, System, TestSet, UnknownWords, choose_baseline, count_unknown


def add_input_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments that `read_input` reads."""
    parser.add_argument("run", nargs="*", help="run folder of scripts/quickstart.sh or scripts/compare_baselines.sh")
    files = parser.add_argument_group("instead of run folders, files of one sentence a line")
    files.add_argument("--source", metavar="FILE", help="raw sources")
    files.add_argument("--reference", metavar="FILE", help="raw references")
    files.add_argument(
        "--system",
        action="append",
        default=[],
        metavar="NAME=FILE[,FILE]",
        help="translations, detokenized, or logs of fairseq-generate (*.log); several files: one a seed",
    )
    files.add_argument("--source-lang", default="", help="chooses how words of the source are counted")
    files.add_argument("--target-lang", default="", help="chooses the tokenization of scores and words")
    files.add_argument("--training-text", metavar="FILE", help="target side of the training set: words by frequency")
    files.add_argument("--source-dictionary", metavar="FILE", help="dict.LANG.txt: unknown words of the source")
    files.add_argument("--target-dictionary", metavar="FILE", help="dict.LANG.txt: unknown words of the reference")
    files.add_argument("--lowercase", action="store_true", help="ignore case")
    what = parser.add_argument_group("what to count")
    names = ",".join(METRICS)
    what.add_argument("--metrics", type=metric_names, default=["bleu", "chrf", "ter"], help=f"of {names}")
    what.add_argument("--detailed", type=metric_names, default=["bleu"], help="metrics that are broken down as well")
    what.add_argument("--only", metavar="NAME[,NAME]", help="of a run folder's systems these, in this order")
    what.add_argument(
        "--baseline",
        metavar="NAME",
        help="the system others are tested against (default: the first of lstm, fconv and transformer; else the first)",
    )
    what.add_argument("--resamples", type=int, default=1000, help="of the bootstrap; 0: no intervals and tests")
    what.add_argument("--length-limits", type=whole_numbers, default=[10, 20, 30, 40, 50, 60], help="10,20,30,…")
    what.add_argument("--most-unknown", type=int, default=5, help="the last group has so many unknown words or more")
    what.add_argument("--window", type=int, default=10, help="lengths that a point of a curve covers")
    add_jobs_argument(parser)


def add_jobs_argument(parser: ArgumentParser) -> None:
    """Adds ``--jobs``, which changes no number."""
    parser.add_argument(
        "--jobs", type=positive, default=processors(), metavar="N", help="processes that count (all processors)"
    )


def read_input(parser: ArgumentParser, arguments: Namespace) -> dict[str, Any]:
    """What `analyze` takes, from the files that the arguments name.

    Raises:
        OSError: if a file cannot be read.
        ValueError: if a file is damaged, or does not go with the others.
    """
    if bool(arguments.run) == bool(arguments.system):
        parser.error("give run folders, or --reference and --system")
    training_text = None
    if arguments.run:
        test_set, systems, training_text = read_runs(arguments.run)
    else:
        if not arguments.reference:
            parser.error("--system needs --reference")
        test_set = read_test_set(arguments)
        unknown = read_unknown(parser, arguments, test_set)
        systems = [read_system(parser, value, arguments.reference, test_set, unknown) for value in arguments.system]
        if arguments.training_text:
            training_text = read_sentences(arguments.training_text)
    settings = Settings(
        metrics=arguments.metrics,
        detailed=arguments.detailed,
        resamples=arguments.resamples,
        limits=arguments.length_limits,
        most_unknown=arguments.most_unknown,
        window=arguments.window,
        jobs=arguments.jobs,
    )
    if arguments.only:
        systems = [find_system(systems, name, "--only") for name in arguments.only.split(",")]
    ordered = put_baseline_first(systems, arguments.baseline)
    return {"test_set": test_set, "systems": ordered, "settings": settings, "training_text": training_text}


def read_test_set(arguments: Namespace) -> TestSet:
    """The test set of files; words are those that BLEU's tokenization finds."""
    reference = read_sentences(arguments.reference)
    source: list[str] = []
    if arguments.source:
        source = read_sentences(arguments.source)
        require_same_count(arguments.source, source, arguments.reference, reference)
    return TestSet(
        source=source,
        reference=reference,
        source_words=split_words(source, arguments.source_lang),
        reference_words=split_words(reference, arguments.target_lang),
        target_language=arguments.target_lang,
        lowercase=arguments.lowercase,
        words="tokens as BLEU splits them",
    )


def read_unknown(parser: ArgumentParser, arguments: Namespace, test_set: TestSet) -> UnknownWords | None:
    """Counts by dictionaries that all systems share; None without them."""
    files = arguments.source_dictionary, arguments.target_dictionary
    if not any(files):
        return None
    if not (all(files) and test_set.source):
        parser.error("unknown words need --source, --source-dictionary and --target-dictionary")
    source, target = map(read_dictionary, files)
    counts = []
    for dictionary, words in ((source, test_set.source_words), (target, test_set.reference_words)):
        if test_set.lowercase:
            words = [[word.lower() for word in sentence] for sentence in words]
        counts.append(count_unknown(words, dictionary))
    return UnknownWords(*counts)


def read_system(
    parser: ArgumentParser, value: str, reference: str, test_set: TestSet, unknown: UnknownWords | None
) -> System:
    """``NAME=FILE[,FILE]``: one file a seed."""
    name, equals, files = value.partition("=")
    if not (name and equals and files):
        parser.error(f"--system must be NAME=FILE[,FILE], not '{value}'")
    translations = {}
    lists = []
    for seed, file in enumerate(files.split(","), start=1):
        translations[str(seed)], nbest = read_translations(file)
        require_same_count(file, translations[str(seed)], reference, test_set.reference)
        lists.append(nbest)
    return System(name, translations, unknown, nbest=lists[0])


def read_translations(file: str) -> tuple[list[str], NBestLists | None]:
    """Lines of text, or the best hypotheses of a log of fairseq-generate and its n-best lists if it has any."""
    if not file.endswith(".log"):
        return read_sentences(file), None
    log = read_generate_log(file)
    return [hypothesis.text or "" for hypothesis in log.best()], collect_lists(log, file)


def put_baseline_first(systems: list[System], name: str | None) -> list[System]:
    """The systems, the baseline in front: the one of that name, else the first of fairseq's own, else the first.

    Raises:
        ValueError: if no system has that name.
    """
    if name is None:
        name = choose_baseline([system.name for system in systems])
    baseline = find_system(systems, name, "--baseline")
    return [baseline, *(system for system in systems if system is not baseline)]


def find_system(systems: Sequence[System], name: str, option: str) -> System:
    """The system of that name.

    Raises:
        ValueError: naming the option and the systems that there are.
    """
    for system in systems:
        if system.name == name:
            return system
    raise ValueError(f"{option} {name}: the systems are {', '.join(system.name for system in systems)}")


def metric_names(text: str) -> list[str]:
    """Comma-separated names of metrics."""
    names = text.split(",")
    for name in names:
        if name not in METRICS:
            raise ArgumentTypeError(f"unknown metric {name!r}: choose of {', '.join(METRICS)}")
    return names


def positive(text: str) -> int:
    """A whole number above zero."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return int(text)


def whole_numbers(text: str) -> list[int]:
    """Comma-separated whole numbers."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a list of whole numbers like 10,20,30") from None
