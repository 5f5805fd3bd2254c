"""A run folder as scripts/compare_baselines.sh leaves it, small."""

from tests.evaluation.logs import generate_log, train_log, write
from tests.evaluation.test_analysis import write_lines

REFERENCES = [f"the {one} cat sees the {other} dog" for one in ("black", "red", "old", "gray") for other in "abcd"]
OPTIONS = {"SOURCE_LANG": "fr", "TARGET_LANG": "en", "SEGMENTATION": "sentencepiece:9", "LOWERCASE": ""}


def log_of_all():
    """The log of a translation of all references, "translation N , 0"."""
    lines = generate_log(order=range(len(REFERENCES)))
    return [line.replace("Translated 3 sentences", f"Translated {len(REFERENCES)} sentences") for line in lines]


def make_run(folder, systems, **options):
    """`systems`: name to seed to translations; logs are the same for all."""
    write_lines(folder / "options", [f"{name} {value}" for name, value in {**OPTIONS, **options}.items()])
    write_lines(folder / "text" / "raw" / "test.en", REFERENCES)
    write_lines(folder / "text" / "words" / "test.en", REFERENCES)
    for name, seeds in systems.items():
        for seed, translations in seeds.items():
            place = folder / "systems" / name / f"seed-{seed}"
            write_lines(place / "test.detokenized", translations)
            write(place / "train.log", train_log())
            write(place / "test.log", log_of_all())
            write_lines(place / "peak-memory", [2**30 * int(seed)])
    return folder


def without(word):
    """Translations that lack a word."""
    return [reference.replace(word, "") for reference in REFERENCES]
