"""Models as ONNX graphs, built operator by operator from their layers, for programs without PyTorch and fairseq.

A model is a folder: ``encoder.onnx``, ``decoder.onnx``, two lists of words, and ``manifest.json``. What both graphs
have, such as an embedding of both languages, is in ``shared.bin``.
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
from ..text_files import write_aside, write_text
from .decoder import AnyDecoder, GRUStep, MinGRUStep, Source, prepare_source, score_words, state_shapes
from .encoders import add_encoder
from .graph import Graph
from .quantization import EightBitGraph

#: The layout of the folder; a reader refuses another.
FORMAT = "recurrent-mt-onnx-1"
#: Constants of both graphs, of at least so many bytes.
SHARED, SMALLEST_SHARED = "shared.bin", 4096


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


def export_model(model: ExportedModel, folder: Path, *, int8: bool = False) -> None:
    """Writes the folder; the manifest comes last, so that no half-written folder is taken for a model.

    Args:
        model: what to write.
        folder: created if missing.
        int8: whether weights are stored in eight bits; see
            :class:`~recurrent_mt.onnx_export.quantization.EightBitGraph`.

    Raises:
        ValueError: if there is no graph for the model's encoder.
    """
    kind = EightBitGraph if int8 else Graph
    graphs = {
        "encoder.onnx": build_encoder(model, kind("encoder")),
        "decoder.onnx": build_decoder(model, kind("decoder")),
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").unlink(missing_ok=True)
    move_shared(list(graphs.values()), folder / SHARED)
    for file, graph in graphs.items():
        with write_aside(folder / file) as aside:
            onnx.save(graph, str(aside))
    for file, words in (("source.txt", model.source_words), ("target.txt", model.target_words)):
        write_text(folder / file, "".join(f"{word}\n" for word in words))
    files = [*graphs, "source.txt", "target.txt", *([SHARED] if (folder / SHARED).is_file() else [])]
    manifest = {
        "format": FORMAT,
        "model": model.name,
        "special": model.special,
        "state": list(state_shapes(model.decoder)),
        "longest_source": model.longest_source,
        "longest_target": model.longest_target,
        "sha256": {file: sha256((folder / file).read_bytes()).hexdigest() for file in files},
    }
    write_text(folder / "manifest.json", json.dumps(manifest, indent=2) + "\n")


def move_shared(graphs: Sequence[onnx.ModelProto], file: Path) -> None:
    """Moves the constants that all graphs have into a file beside theirs; none is left if there are none."""
    constants = [
        {tensor.raw_data: tensor for tensor in graph.graph.initializer if len(tensor.raw_data) >= SMALLEST_SHARED}
        for graph in graphs
    ]
    common = [data for data in constants[0] if all(data in others for others in constants)]
    if not common:
        file.unlink(missing_ok=True)
        return
    with write_aside(file) as aside, aside.open("wb") as stream:
        for data in common:
            place = {"location": file.name, "offset": stream.tell(), "length": len(data)}
            stream.write(data)
            for found in constants:
                found[data].ClearField("raw_data")
                found[data].data_location = onnx.TensorProto.EXTERNAL
                entries = [onnx.StringStringEntryProto(key=key, value=str(value)) for key, value in place.items()]
                found[data].external_data.extend(entries)


def build_encoder(model: ExportedModel, graph: Graph) -> onnx.ModelProto:
    """From the words of one sentence (S,) to ``keys`` (S', A), ``values`` (S', P), and the first state."""
    embedded = embed(graph, model.source_embedding, graph.input("words", "int", ["S"]))
    encoded = add_encoder(graph, model.encoder, model.encoder_norm, embedded)
    source, state = prepare_source(graph, model.decoder, encoded)
    graph.output(source.keys, "keys", ["K", None])
    graph.output(source.values, "values", ["K", None])
    for name, (_, *shape) in state_shapes(model.decoder).items():
        graph.output(state[name], name, [1, *shape])
    return graph.model()


def build_decoder(model: ExportedModel, graph: Graph) -> onnx.ModelProto:
    """From the last word (N,), the source (B, S', …), and the state (N, …) to ``log_probabilities`` and the next state.

    N is a multiple of B: hypothesis n is one of sentence n // (N / B). Before the first word, the last word is
    ``</s>``.
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
    graph.output(score_words(graph, features, model.output), "log_probabilities", ["N", None])
    for name, shape in shapes.items():
        graph.output(following[name], f"next_{name}", shape)
    return graph.model()


def embed(graph: Graph, embedding: nn.Embedding, words: str) -> str:
    """Exports the embedding of tokens: (N,) → (N, E)."""
    rows = graph.look_up(embedding.weight, words)
    return graph.op("Add", rows, embedding.bias) if isinstance(embedding, BiasedEmbedding) else rows
