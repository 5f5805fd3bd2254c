"""Models as ONNX graphs, built operator by operator from their layers, for programs without PyTorch and fairseq.

A model is a folder: ``encoder.onnx``, ``decoder.onnx``, two lists of words, and ``manifest.json``. With a shortlist,
there are ``shortlist.tsv`` and ``output.onnx``, which selects rows of the output layer. What several graphs have, such
as an embedding of both languages, is in ``shared.bin``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import onnx
from torch import nn

from ..layers.min_gru_decoder import MinGRUDecoder
from ..layers.weights import BiasedEmbedding
from ..shortlist import Shortlist
from ..text_files import write_aside, write_text
from .decoder import (
    AnyDecoder,
    GRUStep,
    MinGRUStep,
    Source,
    prepare_source,
    score_selected,
    score_words,
    select_outputs,
    state_shapes,
)
from .encoders import READ_BATCHES, add_encoder
from .graph import Graph, Words
from .quantization import EightBitGraph

#: The layout of the folder; a reader refuses another.
FORMAT = "recurrent-mt-onnx-2"
#: Constants of several graphs, of at least so many bytes.
SHARED, SMALLEST_SHARED = "shared.bin", 4096
#: As :mod:`recurrent_mt.shortlist` reads it.
SHORTLIST = "shortlist.tsv"


class ExportedModel(NamedTuple):
    """What a folder is written from.

    Attributes:
        encoder: of :mod:`recurrent_mt.layers`.
        encoder_norm: of its output, or None.
        source_embedding: of the source words.
        decoder: the recurrence.
        target_embedding: of the target words.
        output: from features to scores: a linear layer, or two.
        source_words: in the order of their numbers.
        target_words: the same.
        special: the numbers of ``<pad>``, ``</s>`` and ``<unk>`` in both lists.
        longest_source: in words, ``</s>`` included.
        longest_target: the same.
        name: what the model is, for people.
    """

    encoder: nn.Module
    encoder_norm: nn.LayerNorm | None
    source_embedding: nn.Embedding
    decoder: AnyDecoder
    target_embedding: nn.Embedding
    output: nn.Module
    source_words: Sequence[str]
    target_words: Sequence[str]
    special: dict[str, int]
    longest_source: int
    longest_target: int
    name: str


def export_model(model: ExportedModel, folder: Path, *, int8: bool = False, shortlist: Path | None = None) -> None:
    """Writes the folder; the manifest comes last, so that no half-written folder is taken for a model.

    Args:
        model: what to write.
        folder: created if missing.
        int8: whether weights are stored in eight bits; see
            :class:`~recurrent_mt.onnx_export.quantization.EightBitGraph`.
        shortlist: a file of ``recurrent-mt shortlist``: translations then have no other words than its.

    Raises:
        OSError: if the shortlist cannot be read.
        ValueError: if there is no graph for the model's encoder, or if the shortlist is of another model.
    """
    kind = EightBitGraph if int8 else Graph
    graphs = {
        "encoder.onnx": build_encoder(model, kind("encoder")),
        "decoder.onnx": build_decoder(model, kind("decoder"), shortlist=shortlist is not None),
    }
    sides = {"source.txt": model.source_words, "target.txt": model.target_words}
    texts = {file: "".join(f"{word}\n" for word in words) for file, words in sides.items()}
    if shortlist:
        Shortlist.read(shortlist, model.source_words, model.target_words)
        texts[SHORTLIST] = shortlist.read_text(encoding="utf-8")
        graphs["output.onnx"] = build_output(model, kind("output"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").unlink(missing_ok=True)
    move_shared(list(graphs.values()), folder / SHARED)
    for file, graph in graphs.items():
        with write_aside(folder / file) as aside:
            onnx.save(graph, str(aside))
    for file, text in texts.items():
        write_text(folder / file, text)
    files = [*graphs, *texts, *([SHARED] if (folder / SHARED).is_file() else [])]
    manifest = {
        "format": FORMAT,
        "model": model.name,
        "special": model.special,
        "state": list(state_shapes(model.decoder)),
        "reads_batches": type(model.encoder) in READ_BATCHES,
        "longest_source": model.longest_source,
        "longest_target": model.longest_target,
        "sha256": {file: sha256((folder / file).read_bytes()).hexdigest() for file in files},
    }
    write_text(folder / "manifest.json", json.dumps(manifest, indent=2) + "\n")


def move_shared(graphs: Sequence[onnx.ModelProto], file: Path) -> None:
    """Moves the constants that several graphs have into a file beside theirs; none is left if there are none."""
    holders: dict[bytes, list[onnx.TensorProto]] = {}
    for graph in graphs:
        for tensor in graph.graph.initializer:
            if len(tensor.raw_data) >= SMALLEST_SHARED:
                holders.setdefault(tensor.raw_data, []).append(tensor)
    common = {data: tensors for data, tensors in holders.items() if len(tensors) > 1}
    if not common:
        file.unlink(missing_ok=True)
        return
    with write_aside(file) as aside, aside.open("wb") as stream:
        for data, tensors in common.items():
            place = {"location": file.name, "offset": stream.tell(), "length": len(data)}
            stream.write(data)
            for tensor in tensors:
                tensor.ClearField("raw_data")
                tensor.data_location = onnx.TensorProto.EXTERNAL
                entries = [onnx.StringStringEntryProto(key=key, value=str(value)) for key, value in place.items()]
                tensor.external_data.extend(entries)


def build_encoder(model: ExportedModel, graph: Graph) -> onnx.ModelProto:
    """From the words (S, B) of sentences to ``keys`` (B, S', A), ``values`` (B, S', …), and the first state.

    ``lengths`` (B,) says where each sentence ends. B is 1 unless the encoder is one of
    :data:`~recurrent_mt.onnx_export.encoders.READ_BATCHES`.
    """
    numbers, lengths = graph.input("words", "int", ["S", "B"]), graph.input("lengths", "int", ["B"])
    embedded = embed(graph, model.source_embedding, graph.op("Reshape", numbers, [-1]))
    words = Words(embedded, lengths, graph.op("Shape", lengths))
    encoded = add_encoder(graph, model.encoder, model.encoder_norm, words)
    source, state = prepare_source(graph, model.decoder, encoded, words)
    graph.output(source.keys, "keys", "float", ["B", "K", None])
    graph.output(source.values, "values", "float", ["B", "K", None])
    for name, shape in state_shapes(model.decoder).items():
        graph.output(state[name], name, "float", ["B", *shape[1:]])
    return graph.model()


def build_output(model: ExportedModel, graph: Graph) -> onnx.ModelProto:
    """From the words (V',) that the translations of a batch may have to what the output layer has of them.

    ``output_weight`` (O, V') is an input of the decoder; of the others, (V',), each sentence has its own words'.
    """
    selected = select_outputs(graph, model.output, graph.input("words", "int", ["V"]))
    graph.output(selected.pop("weight"), "output_weight", graph.selected_format, [None, "V"])
    for name, value in selected.items():
        graph.output(value, f"output_{name}", "float", ["V"])
    return graph.model()


def build_decoder(model: ExportedModel, graph: Graph, *, shortlist: bool) -> onnx.ModelProto:
    """One step: from the last word (N,), the source (B, S', …), and the state (N, …) to words and the next state.

    N is a multiple of B: hypothesis n is one of sentence n // (N / B). Before the first word, the last word is
    ``</s>``. Of each hypothesis, ``following`` (N, k) are the ``count`` (1,) most probable words, and ``scores`` their
    log-probabilities, to which ``forbidden`` (V,) was added. With a shortlist, each sentence has W words: ``choices``
    (B, 1, W) are their places among the words that :func:`build_output` was given, and ``following`` theirs in that.
    """
    shapes = state_shapes(model.decoder)
    word = graph.input("word", "int", ["N"])
    source = Source(
        graph.input("keys", "float", ["B", "K", None]),
        graph.input("values", "float", ["B", "K", None]),
        graph.input("present", "bool", ["B", "K"]),
    )
    state = {name: graph.input(name, "float", shape) for name, shape in shapes.items()}
    begins = graph.op("Unsqueeze", graph.op("Equal", word, model.special["</s>"]), [1])
    step = (
        MinGRUStep(graph, model.decoder, source)
        if isinstance(model.decoder, MinGRUDecoder)
        else GRUStep(graph, model.decoder, source, begins)
    )
    features, following = step(embed(graph, model.target_embedding, word), state)
    scores = (score_selected if shortlist else score_words)(graph, features, model.output)
    best, words = graph.op("TopK", scores, graph.input("count", "int", [1]), count=2)
    graph.output(best, "scores", "float", ["N", None])
    graph.output(words, "following", "int", ["N", None])
    for name, shape in shapes.items():
        graph.output(following[name], f"next_{name}", "float", shape)
    return graph.model()


def embed(graph: Graph, embedding: nn.Embedding, words: str) -> str:
    """Exports the embedding of tokens: (N,) → (N, E)."""
    rows = graph.look_up(embedding.weight, words)
    return graph.op("Add", rows, embedding.bias) if isinstance(embedding, BiasedEmbedding) else rows
