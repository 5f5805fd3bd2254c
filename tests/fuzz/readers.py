"""The readers of untrusted files: for each, a few good files to damage, and what must hold for an answer."""

from __future__ import annotations

import gzip
import io
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from recurrent_mt.evaluation.alignment import read_alignment_log, read_gold_links
from recurrent_mt.evaluation.generate_log import read_generate_log
from recurrent_mt.evaluation.structure.trees import read_penn_trees
from recurrent_mt.onnx_translation import read_manifest
from recurrent_mt.report.attachments import Figure, read_attachment
from recurrent_mt.runs.experiment import read_experiment
from recurrent_mt.runs.systems import list_training_arguments
from recurrent_mt.runs.train_log import read_train_log
from recurrent_mt.runs.training_command import configuration_arguments
from recurrent_mt.text_files import read_dictionary, read_parallel
from tests.evaluation.logs import generate_log, train_log
from tests.parity.made_up import made_up
from user_dir.cli.import_groundhog import read_file, read_words

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Reader:
    """One reader.

    Attributes:
        read: takes a path; raises ValueError naming it, or AssertionError if the answer is wrong.
        seeds: the contents of good files.
        suffix: of the file's name.
    """

    read: Callable[[Path], object]
    seeds: tuple[bytes, ...]
    suffix: str = ""


def lines(*texts: str) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def array_file(arrays: dict[str, np.ndarray]) -> bytes:
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def train(path: Path) -> None:
    log = read_train_log(path)
    assert log.parameters >= 0 and log.updates >= 0 and not math.isnan(log.wall_seconds or 0)


def generate(path: Path) -> None:
    log = read_generate_log(path)
    assert [sentence.number for sentence in log.sentences] == list(range(len(log.sentences)))
    assert all(hypothesis.text is not None for hypothesis in log.best())


def gold_links(path: Path) -> None:
    for links in read_gold_links(path):
        assert links.sure <= links.possible and all(place >= 0 for link in links.possible for place in link)


def dictionary(path: Path) -> None:
    assert all(word and count >= 0 for word, count in read_dictionary(path).items())


def drawing(path: Path) -> None:
    read = read_attachment("Section", "title", path)
    assert isinstance(read, Figure) and read.address


def parameters(path: Path) -> None:
    read = read_file(path)
    assert all(tensor.isfinite().all() for tensor in read.arrays.values())


def experiment(path: Path) -> None:
    options = read_experiment(path)
    assert options.baseline is None or options.baseline in options.systems
    for data, *arguments in list_training_arguments(options).values():
        place = arguments.index("--user-dir")
        assert (data, arguments[place + 1]) == ("{data}", "{plugin}")
        check_command([*arguments[:place], *arguments[place + 2 :]])


def configuration(path: Path) -> None:
    """What recurrent-mt train makes of a mapping of groups; it puts the file's name before any error."""
    try:
        content = yaml.safe_load(path.read_bytes())
    except (yaml.YAMLError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path.name}: not YAML, which is Hydra's to say") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path.name}: no mapping, which is Hydra's to say")
    content.pop("defaults", None)
    try:
        check_command(configuration_arguments(content))
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error


def check_command(words: list[str]) -> None:
    """Each a line of its own, and no code."""
    assert all(isinstance(word, str) and len(word.splitlines()) <= 1 for word in words)
    assert not any(word.replace("_", "-").lower().startswith("--user-dir") for word in words)


SOFT = [line.replace("0-0 1-1", "0.5,0.3,0.2 " * 5).rstrip() for line in generate_log()]
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="300pt" height="9"><g id="a"><path d="M 0 0"/></g></svg>'
EXPERIMENT = (ROOT / "configs/experiments/ablations/skips.yaml").read_bytes()
CONFIGURATION = (
    (ROOT / "configs/recommended-base.yaml").read_bytes().replace(b"  user_dir: ???\n", b"").replace(b"???", b"DIR")
)
SIZES = {"H": 4, "E": 3, "S": 5, "T": 6}

MANIFEST = {
    **{"format": "recurrent-mt-onnx-2", "model": "GRUEncoderModel", "state": ["hidden", "context"]},
    **{"special": {"<pad>": 1, "</s>": 2, "<unk>": 3}, "longest_source": 1024, "longest_target": 1024},
    "reads_batches": True,
}

READERS = {
    "train log": Reader(train, (lines(*train_log()), lines(*train_log(), *train_log()))),
    "generate log": Reader(generate, (lines(*generate_log()), lines(*generate_log(translations=3)))),
    "soft alignment log": Reader(read_alignment_log, (lines(*SOFT),)),
    "gold links": Reader(gold_links, (lines("0-0 1-2 2?1", "", "12-3"),)),
    "dictionary": Reader(dictionary, (lines("un 12", "été 3 #fairseq:overwrite", "madeupword0000 0"),)),
    "drawing": Reader(drawing, (DRAWING.encode(),), ".svg"),
    "trees": Reader(read_penn_trees, (lines("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))", "( (S (X a) (X b)))"),)),
    "corpus": Reader(lambda path: list(read_parallel([path])), (lines("un homme dort .", "  Été\u2028 "),)),
    "compressed corpus": Reader(lambda path: list(read_parallel([path])), (gzip.compress(b"un\ndeux\n" * 50),), ".gz"),
    "model of GroundHog": Reader(
        parameters, tuple(array_file(made_up(kind, SIZES, seed=1)[0]) for kind in ("rnnenc", "grconv", "rnnsearch"))
    ),
    "words of GroundHog": Reader(lambda path: read_words(path, 4), (lines("a", "b", "c", "d"),)),
    "experiment": Reader(experiment, (EXPERIMENT,), ".yaml"),
    "manifest of an exported model": Reader(
        read_manifest, (lines(json.dumps(MANIFEST)), lines(json.dumps(MANIFEST, indent=2)))
    ),
    "configuration": Reader(configuration, (CONFIGURATION,)),
}
