"""Translation with a model that ``recurrent-mt export`` has written: onnxruntime and numpy, no PyTorch, no fairseq.

from recurrent_mt.onnx_translation import OnnxModel, translate
model = OnnxModel("exported")
for hypotheses in translate(model, ["un homme dort"], beam=5):
    print(hypotheses[0].score, hypotheses[0].text(model))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime

from .shortlist import Shortlist
from .text_files import FileError, read_layout, read_lines

#: The layout of the folder that this program reads.
FORMAT = "recurrent-mt-onnx-2"

#: The file of a shortlist, if the model has one.
SHORTLIST = "shortlist.tsv"

#: The symbols that all models have in both languages, under the same numbers.
SPECIAL = ("<pad>", "</s>", "<unk>")

#: A translation has at most so many times the words of the longest source of its batch, and so many more, as with the
#: recipes (`text_form.LENGTH_LIMITS`).
TIMES, MORE = 2, 10

#: Larger powers of a translation's length are no floating-point numbers.
MOST_PENALTY = 50

#: A batch of which more sentences than this share go on keeps those that are done: to copy the others takes longer.
MOST_GOING = 0.7

#: What hypotheses carry from step to step, by name; rows are hypotheses.
State = dict[str, np.ndarray]


class Sources(NamedTuple):
    """Encoded sentences."""

    #: (B, 1, W) the numbers of the words that the translations of each may have; without a shortlist (V,), all
    words: np.ndarray
    #: what each step reads of each sentence, by name: ``keys`` (B, S', A), which attention compares with, ``values``
    #: (B, S', …), which it reads, ``present`` (B, S'), False where a shorter sentence has nothing, and, with a
    #: shortlist, ``choices`` (B, 1, W), the places of its words among those of the batch, and the same words' bias and
    #: scales of the output layer
    own: dict[str, np.ndarray]
    #: what each step reads besides, by name: with a shortlist, the weight of the batch's words
    shared: dict[str, np.ndarray]

    def select(self, sentences: np.ndarray) -> Sources:
        own = {name: array[sentences] for name, array in self.own.items()}
        return self._replace(own=own, words=self.words[sentences] if self.words.ndim > 1 else self.words)

    def name_words(self, places: np.ndarray) -> np.ndarray:
        """The numbers of the words that a step has found, (N, k) by their places."""
        if self.words.ndim == 1:
            return places
        by_sentence = places.reshape(len(self.words), -1)
        return self.words[np.arange(len(self.words))[:, None], 0, by_sentence].reshape(places.shape)


class OnnxModel:
    """A translation model.

    Attributes:
        source_words: the number of each source word.
        target_words: the target words, by number.
        pad: the number of ``<pad>`` in both languages.
        eos: the number of ``</s>``.
        unk: the number of ``<unk>``.
        longest_source: the most words of a source, ``</s>`` included.
        longest_target: the most words of a translation, ``</s>`` included.
    """

    def __init__(self, folder: str | Path, *, threads: int = 0) -> None:
        """Loads a model.

        Args:
            folder: as written by ``recurrent-mt export``.
            threads: how many processor threads to use; 0: onnxruntime decides.

        Raises:
            FileError: if a file is missing, damaged, or of another model, or was written by another version of this
                program.
        """
        folder = Path(folder)
        manifest = read_manifest(folder / "manifest.json")
        self._encoder, self._decoder = (Session(folder / f"{name}.onnx", threads) for name in ("encoder", "decoder"))
        checksums = manifest.get("sha256", {})
        check_files(folder, checksums)
        self._state_names: list[str] = manifest["state"]
        self._reads_batches: bool = manifest["reads_batches"]
        source, self.target_words = (
            [word for _, word in read_lines(folder / f"{side}.txt")] for side in ("source", "target")
        )
        for side, words in (("source", source), ("target", self.target_words)):
            if missing := next((word for word in SPECIAL if word not in words), None):
                raise FileError(folder / f"{side}.txt", f"it lacks the word {missing}: export the model again")
        self.pad, self.eos, self.unk = map(source.index, SPECIAL)
        # A text has no padding: a literal <pad> is a word that no model knows, as it is with fairseq-compat.
        self.source_words = {word: number for number, word in enumerate(source) if number != self.pad}
        self.longest_source, self.longest_target = manifest["longest_source"], manifest["longest_target"]
        self._shortlist, self._output = None, None
        if SHORTLIST in checksums:
            self._shortlist = Shortlist.read(folder / SHORTLIST, source, self.target_words)
            self._output = Session(folder / "output.onnx", threads)

    def numbers(self, text: str) -> np.ndarray:
        """The numbers of space-separated words, with ``</s>`` at the end."""
        words = [self.source_words.get(word, self.unk) for word in text.split()]
        return np.array([*words, self.eos], dtype=np.int64)

    def encode(self, sentences: Sequence[np.ndarray]) -> tuple[Sources, State]:
        """Sentences, each as numbers, and the state before the first word of one hypothesis for each."""
        if self._reads_batches:
            encoded, counts = self._encode_batch(sentences), [*map(len, sentences)]
        else:
            alone = [self._encode_batch([words]) for words in sentences]
            counts = [one["keys"].shape[1] for one in alone]
            for one, count in zip(alone, counts):
                room = ((0, 0), (0, max(counts) - count), (0, 0))
                one |= {name: np.pad(one[name], room) for name in ("keys", "values")}
            encoded = {name: np.concatenate([one[name] for one in alone]) for name in alone[0]}
        state = {name: encoded.pop(name) for name in self._state_names}
        own = {**encoded, "present": np.arange(encoded["keys"].shape[1]) < np.array(counts)[:, None]}
        if self._shortlist is None or self._output is None:
            return Sources(np.arange(len(self.target_words)), own, {}), state
        words, allowed = self._shortlist.select(pad(sentences, self.pad))
        output = self._output.run(self._output.outputs, {"words": words})
        shared = {"output_weight": output.pop("output_weight")}
        choices, present = positions(allowed)
        own |= {"choices": choices, **{name: array[choices] for name, array in output.items()}}
        own["output_bias"] = own.get("output_bias", 0) + penalty(~present)
        return Sources(words[choices], own, shared), state

    def _encode_batch(self, sentences: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """What the encoder makes of sentences, by name."""
        inputs = {"words": pad(sentences, self.pad).T, "lengths": np.array([*map(len, sentences)])}
        return self._encoder.run(["keys", "values", *self._state_names], inputs)

    def step(
        self, words: np.ndarray, sources: Sources, state: State, forbidden: np.ndarray, count: int
    ) -> tuple[np.ndarray, np.ndarray, State]:
        """The words that follow with the highest log-probabilities, highest first, these, and the next state.

        Args:
            words: (N,) the last words, ``</s>`` before the first; as many hypotheses for each sentence, in turn.
            sources: B sentences.
            state: of N hypotheses.
            forbidden: as the sources' words, what is added to the log-probabilities: −∞ where a word may not follow,
                and otherwise 0.
            count: k, how many words for each hypothesis; there are no more than W, or V.

        Returns:
            (N, k) log-probabilities, (N, k) words, and the state.

        Raises:
            FileError: if a graph cannot be run, or a log-probability is no number.
        """
        count = min(count, sources.words.shape[-1])
        states = [f"next_{name}" for name in self._state_names]
        inputs = {"word": words, **sources.own, **sources.shared, **state}
        inputs |= {"forbidden": forbidden, "count": np.array([count])}
        found = self._decoder.run(["scores", "following", *states], inputs)
        if np.isnan(found["scores"]).any():
            raise FileError(self._decoder.path, "it computes what is no number (NaN): export another model")
        state = {name: found[following] for name, following in zip(self._state_names, states)}
        return found["scores"], sources.name_words(found["following"]), state


def pad(sentences: Sequence[np.ndarray], padding: int) -> np.ndarray:
    """Sentences as rows (B, S), with padding after the shorter ones."""
    rows = np.full((len(sentences), max(map(len, sentences))), padding)
    for row, words in zip(rows, sentences):
        row[: len(words)] = words
    return rows


class Session:
    """One of a model's graphs, loaded by onnxruntime."""

    def __init__(self, path: Path, threads: int) -> None:
        """Loads it.

        Raises:
            FileError: if it is missing or damaged.
        """
        self.path = path
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        # What goes wrong is raised; onnxruntime would print it, too.
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's own have no common class
            raise FileError(path, f"this is no model that onnxruntime can load: {error}") from error
        self.outputs = [output.name for output in self._session.get_outputs()]

    def run(self, names: Sequence[str], inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The outputs of these names.

        Raises:
            FileError: if the graph does not fit the inputs, as that of another model.
        """
        try:
            return dict(zip(names, self._session.run(names, inputs)))
        except Exception as error:  # as above
            first_line = str(error).partition("\n")[0]
            raise FileError(self.path, f"onnxruntime cannot run it: {first_line}; export the model again") from error


def positions(chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each row (B, V') is True, (B, 1, W) in turn, and which of these there are: rows with fewer end with 0."""
    counts = chosen.sum(axis=1)
    present = np.arange(counts.max()) < counts[:, None]
    places = np.zeros(present.shape, dtype=np.int64)
    places[present] = chosen.nonzero()[1]
    return places[:, None], present[:, None]


def check_files(folder: Path, checksums: Mapping[str, str]) -> None:
    """Raises FileError naming the first file of a model that is not as it was exported."""
    for name, checksum in checksums.items():
        with (folder / name).open("rb") as file:
            if file_digest(file, "sha256").hexdigest() != checksum:
                raise FileError(folder / name, "it is not the file that was exported: export the model again")


def read_manifest(path: Path) -> dict[str, Any]:
    """What ``manifest.json`` says.

    Raises:
        FileError: if there is no such file, if it is something else, or if another version of this program wrote it.
    """
    try:
        manifest = read_layout(path, FORMAT, what="an exported model", remedy="export the model again")
    except FileNotFoundError:
        message = "there is no such file: is the folder one that recurrent-mt export has written?"
        raise FileError(path, message) from None
    longest = [manifest.get(name) for name in ("longest_source", "longest_target")]
    names, checksums = manifest.get("state"), manifest.get("sha256", {})
    if not all(type(number) is int and number > 1 for number in longest):  # a word and </s>
        raise FileError(path, "longest_source or longest_target lacks a number: export the model again")
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise FileError(path, "state is no list of names: export the model again")
    if len({*names, "keys", "values"}) < len(names) + 2:
        raise FileError(path, "state has a name twice, or that of something else: export the model again")
    if not isinstance(manifest.get("reads_batches"), bool):
        raise FileError(path, "reads_batches is neither true nor false: export the model again")
    # A stranger's names must not lead out of the folder, where a device would be read without end.
    if not (isinstance(checksums, dict) and all(Path(name).name == name for name in checksums)):
        raise FileError(path, "sha256 has no checksums of files by name: export the model again")
    return manifest


class Hypothesis(NamedTuple):
    """A translation."""

    #: the sum of its words' log-probabilities, ``</s>`` included, divided by their number to the power of the length
    #: penalty
    score: float
    words: list[int]  # the words' numbers, without ``</s>``

    def text(self, model: OnnxModel) -> str:
        return " ".join(model.target_words[word] for word in self.words)


def check_numbers(**numbers: int) -> None:
    """Raises a ValueError that names the number if one is less than 1."""
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} must be at least 1, not {number}")


def check_search(beam: int, max_words: int | None, length_penalty: float) -> None:
    """Raises ValueError as `check_numbers`, and for a length penalty whose powers of a length are no numbers."""
    check_numbers(beam=beam, max_words=1 if max_words is None else max_words)
    if not abs(length_penalty) <= MOST_PENALTY:
        raise ValueError(f"length_penalty must be from -{MOST_PENALTY} to {MOST_PENALTY}, not {length_penalty!r}")


def beam_search(
    model: OnnxModel,
    sentences: Sequence[np.ndarray],
    *,
    beam: int = 5,
    max_words: int | None = None,
    length_penalty: float = 1.0,
) -> list[list[Hypothesis]]:
    """Translates a batch.

    At each step, the 2k best continuations of a sentence's k hypotheses are looked at. Those among the first k that end
    are finished; of those that go on, the first k do; k of 2k always go on. A sentence is done when k are finished.

    Args:
        model: an exported model.
        sentences: each as numbers, with ``</s>`` at the end.
        beam: k, hypotheses for each sentence, 1 or more.
        max_words: the most of a translation, 1 or more; None for twice as many as in the longest sentence, and ten.
        length_penalty: 1 compares hypotheses by their mean log-probability for each word; more favors long ones.

    Returns:
        For each sentence, up to k hypotheses, best first.

    Raises:
        ValueError: as `check_search`.
    """
    check_search(beam, max_words, length_penalty)
    limit = min(max_words or TIMES * max(map(len, sentences)) + MORE, model.longest_target - 1)
    sources, state = model.encode(sentences)
    beam = min(beam, sources.words.shape[-1] - 1)
    state = {name: rows.repeat(beam, axis=0) for name, rows in state.items()}
    running = np.arange(len(sentences))
    words = np.full((len(sentences), beam, 1), model.eos)
    totals = np.zeros((len(sentences), beam), dtype=np.float32)
    finished: list[list[Hypothesis]] = [[] for _ in sentences]
    count = 2 * beam if beam > 1 else 1  # of a single hypothesis, whatever does not end goes on
    for step in range(limit + 1):
        forbidden = forbid(sources.words, model, is_first=step == 0, is_last=step == limit)
        scores, following, state = model.step(words[:, :, -1].ravel(), sources, state, forbidden, count)
        scores = totals[:, :, None] + scores.reshape(len(running), beam, -1)
        scores = scores[:, : beam if step else 1]  # at first, all hypotheses are the same
        best, chosen, parents = best_continuations(scores, following.reshape(len(running), -1), 2 * beam)
        ends = (chosen == model.eos) & (best > -np.inf)
        for row, rank in zip(*ends[:, :beam].nonzero()):
            done = finished[running[row]]
            if len(done) < beam:
                score = float(best[row, rank]) / (step + 1) ** length_penalty
                done.append(Hypothesis(score, words[row, parents[row, rank], 1:].tolist()))
        going = np.array([len(finished[sentence]) < beam for sentence in running])
        if step == limit or not going.any():
            break
        going |= going.mean() > MOST_GOING
        places = ends.argsort(axis=1, kind="stable")[going, :beam]  # those that end come last, others in their order
        rows = going.nonzero()[0][:, None]
        parents, chosen, totals = (values[rows, places] for values in (parents, chosen, best))
        words = np.concatenate([words[rows, parents], chosen[:, :, None]], axis=2)
        state = {name: values[(rows * beam + parents).ravel()] for name, values in state.items()}
        if not going.all():
            running, sources = running[going], sources.select(going)
    return [sorted(done, key=lambda hypothesis: -hypothesis.score) for done in finished]


def best_continuations(scores: np.ndarray, words: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The best scores of each sentence, best first, with their words and the hypotheses that they continue.

    Args:
        scores: (B, k, C) of C continuations of k hypotheses each.
        words: (B, k C) those that follow.
        count: how many are returned, (B, count) of each kind.
    """
    sentences, _, each = scores.shape
    scores, rows = scores.reshape(sentences, -1), np.arange(sentences)[:, None]
    choices = (-scores).argsort(axis=1, kind="stable")[:, :count]
    return scores[rows, choices], words[rows, choices], choices // each


def forbid(words: np.ndarray, model: OnnxModel, *, is_first: bool, is_last: bool) -> np.ndarray:
    """−∞ for padding, for an empty translation, and at the last step for any word but ``</s>``; 0 for others."""
    forbidden = words == model.pad
    if is_first or is_last:
        forbidden |= (words == model.eos) == is_first
    return penalty(forbidden)


def penalty(forbidden: np.ndarray) -> np.ndarray:
    """−∞ where a word is forbidden; 0 where it is not."""
    return np.where(forbidden, np.float32(-np.inf), np.float32(0))


def translate(
    model: OnnxModel,
    sentences: Sequence[str],
    *,
    batch: int = 32,
    places: Sequence[str] | None = None,
    **options: int | float,
) -> list[list[Hypothesis]]:
    """Translates sentences.

    Args:
        model: an exported model.
        sentences: space-separated words or subwords, as the model was trained on.
        batch: how many are translated at a time.
        places: what they are called in messages; None: sentence 1, sentence 2, and so on.
        **options: of :func:`~recurrent_mt.onnx_translation.beam_search`.

    Returns:
        For each sentence, its hypotheses, best first.

    Raises:
        ValueError: if a sentence is too long for the model, or if a number is less than 1.
        TypeError: for one sentence in place of several.
    """
    check_numbers(batch=batch)
    if isinstance(sentences, str):
        raise TypeError(f"sentences must be a list, not {sentences!r}")
    numbers = [model.numbers(sentence) for sentence in sentences]
    for number, words in enumerate(numbers):
        if len(words) > model.longest_source:
            place = places[number] if places else f"sentence {number + 1}"
            raise ValueError(f"{place} has {len(words)} words, </s> included; the model takes {model.longest_source}")
    order = sorted(range(len(numbers)), key=lambda number: len(numbers[number]))
    translations: list[list[Hypothesis]] = [[] for _ in numbers]
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        found = beam_search(model, [numbers[number] for number in chosen], **options)  # type: ignore[arg-type]
        for number, hypotheses in zip(chosen, found):
            translations[number] = hypotheses
    return translations
