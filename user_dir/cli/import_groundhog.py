"""Turns a model of GroundHog, the authors' released code, into a fairseq checkpoint with dictionaries.

    recurrent-mt import-groundhog --params FILE.npz --save-dir DIR
    fairseq-interactive DIR --user-dir "$(recurrent-mt user-dir)" --path DIR/checkpoint.pt --beam 10

The kind of model (RNNenc, grConv, or RNNsearch) is recognized by its parameter names.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from fairseq import options as fairseq_options
from fairseq import tasks
from fairseq.data import Dictionary
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from omegaconf import OmegaConf
from torch import Tensor

from recurrent_mt.kernels.grconv import ACTIVATIONS
from recurrent_mt.text_files import read_lines, write_aside

from ..checkpoints.checkpoint import write_model

KINDS = ("rnnenc", "grconv", "rnnsearch")

_GRU_WORDS = {
    "W_0_{0}_input_embdr_0": "E H",
    "b_0_{0}_input_embdr_0": "H",
    "W_0_{0}_update_embdr_0": "E H",
    "W_0_{0}_reset_embdr_0": "E H",
    "W_{0}_transition_0": "H H",
    "G_{0}_transition_0": "H H",
    "R_{0}_transition_0": "H H",
}
_ENCODER = {
    "rnnenc": {name.format("enc"): shape for name, shape in _GRU_WORDS.items()},
    "rnnsearch": {name.format(part): shape for part in ("enc", "back_enc") for name, shape in _GRU_WORDS.items()},
    "grconv": {
        "W_0_enc_input_embdr_0": "E H",
        "b_0_enc_input_embdr_0": "H",
        "W_enc_transition_0": "H H",
        "U_enc_transition_0": "H H",
        "b_enc_transition_0": "H",
        "GW_enc_transition_0": "H 3",
        "GU_enc_transition_0": "H 3",
        "Gb_enc_transition_0": "3",
    },
}
_COMMON = {
    "W_0_enc_approx_embdr": "S E",
    "b_0_enc_approx_embdr": "E",
    "W_0_dec_approx_embdr": "T E",
    "b_0_dec_approx_embdr": "E",
    **{name.format("dec"): shape for name, shape in _GRU_WORDS.items()},
    "W_0_dec_dec_inputter_0": "C H",
    "W_0_dec_dec_updater_0": "C H",
    "W_0_dec_dec_reseter_0": "C H",
    "W_0_dec_initializer_0": "H H",
    "b_0_dec_initializer_0": "H",
    "W_0_dec_hid_readout_0": "H H",
    "b_0_dec_hid_readout_0": "H",
    "W_0_dec_prev_readout_0": "E H",
    "W_0_dec_repr_readout": "C H",
    "W1_dec_deep_softmax": "M E",
    "W2_dec_deep_softmax": "E T",
    "b_dec_deep_softmax": "T",
}
_ATTENTION = {"A_dec_transition_0": "C H", "B_dec_transition_0": "H H", "D_dec_transition_0": "H 1"}
#: GroundHog's id of the unknown word; the end of sentence has the last id.
UNKNOWN = 1


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--params", type=Path, required=True, help=".npz file of GroundHog's parameters")
    parser.add_argument("--save-dir", type=Path, required=True, help="folder for the checkpoint and dictionaries")
    parser.add_argument(
        "--source-words", type=Path, help="one word per line, line i for id i; without it, the word of id i is 'i'"
    )
    parser.add_argument("--target-words", type=Path, help="the same for the target")
    parser.add_argument(
        "--grconv-activation",
        choices=ACTIVATIONS,
        help="activation of a grConv model (GroundHog: enc_activ; default: relu)",
    )


def run(options: argparse.Namespace) -> None:
    """Writes the checkpoint and the dictionaries."""
    kind = import_model(
        options.params,
        options.save_dir,
        source_words=options.source_words,
        target_words=options.target_words,
        grconv_activation=options.grconv_activation,
    )
    print(f"{kind}: {options.save_dir / 'checkpoint.pt'}")


class Parameters(NamedTuple):
    """The parameters of one GroundHog model, checked."""

    kind: str  # one of :data:`KINDS`
    sizes: dict[str, int]  # H hidden units, E embedding size, C context size, M maxout units, S and T words per side
    arrays: dict[str, Tensor]  # under GroundHog's names


def read_parameters(arrays: Mapping[str, np.ndarray]) -> Parameters:
    """Recognizes the kind of model by its parameter names, and checks that all parameters are there.

    Args:
        arrays: under GroundHog's names, or under ``param/NAME`` among others.

    Raises:
        ValueError: if parameters are missing, unknown, of the wrong shape, or not finite; the message names them all.
    """
    prefix = "param/"
    if any(name.startswith(prefix) for name in arrays):
        arrays = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
    kind = "rnnsearch" if "A_dec_transition_0" in arrays else "grconv" if "GW_enc_transition_0" in arrays else "rnnenc"
    names = _symbolic_shapes(kind).keys()
    problems = [f"{name} is missing" for name in sorted(names - arrays.keys())]
    problems += [f"{name} is not a parameter of {kind}" for name in sorted(arrays.keys() - names)]
    if problems:
        raise ValueError(f"these are not the parameters of a {kind} model: {'; '.join(problems)}")
    sizes = _sizes(kind, arrays)
    for name, shape in expected_shapes(kind, sizes).items():
        if arrays[name].shape != shape:
            problems.append(f"{name} has the shape {arrays[name].shape} instead of {shape}")
        elif not np.abs(arrays[name]).max(initial=0) <= np.finfo(np.float32).max:
            problems.append(f"{name} holds numbers that are not finite in 32 bits")
    if problems:
        raise ValueError(f"these are not the parameters of a {kind} model: {'; '.join(problems)}")
    tensors = {name: torch.from_numpy(np.asarray(array, dtype=np.float32)) for name, array in arrays.items()}
    return Parameters(kind, sizes, tensors)


def expected_shapes(kind: str, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The shape of each of GroundHog's parameters for a model of these sizes; see :class:`Parameters`."""
    return {
        name: tuple(sizes[symbol] if symbol in sizes else int(symbol) for symbol in symbols.split())
        for name, symbols in _symbolic_shapes(kind).items()
    }


def _symbolic_shapes(kind: str) -> dict[str, str]:
    return {**_COMMON, **_ENCODER[kind], **(_ATTENTION if kind == "rnnsearch" else {})}


def _sizes(kind: str, arrays: Mapping[str, np.ndarray]) -> dict[str, int]:
    source_words, embedding = arrays["W_0_enc_approx_embdr"].shape
    hidden, _ = arrays["W_dec_transition_0"].shape
    target_words, _ = arrays["W_0_dec_approx_embdr"].shape
    context = 2 * hidden if kind == "rnnsearch" else hidden
    return {"H": hidden, "E": embedding, "C": context, "M": hidden // 2, "S": source_words, "T": target_words}


def model_flags(parameters: Parameters, *, grconv_activation: str = "relu") -> list[str]:
    """The fairseq-train options that build a model with these parameters.

    Args:
        parameters: the model's.
        grconv_activation: φ, which the parameters do not reveal.
    """
    hidden, embedding = str(parameters.sizes["H"]), str(parameters.sizes["E"])
    flags = ["--arch", "grconv_encoder" if parameters.kind == "grconv" else "gru_encoder"]
    for option in ("encoder-embed-dim", "decoder-embed-dim", "decoder-output-rank"):
        flags += [f"--{option}", embedding]
    for option in ("encoder-hidden-size", "decoder-hidden-size"):
        flags += [f"--{option}", hidden]
    flags += ["--decoder-out-embed-dim", str(parameters.sizes["M"]), "--decoder-order", "word_first"]
    flags += ["--no-gate-bias", "--embed-bias", "--dropout", "0"]
    if parameters.kind == "rnnsearch":
        flags += ["--encoder-bidirectional", "--encoder-summary", "backward", "--decoder-attention", "additive"]
    else:
        flags += ["--decoder-attention", "none"]
    if parameters.kind == "grconv":
        flags += ["--grconv-activation", grconv_activation]
    return flags


def state_dict(parameters: Parameters, source_rows: Tensor, target_rows: Tensor, *, symbols: int) -> dict[str, Tensor]:
    """The parameters under this package's names.

    GroundHog multiplies rows by matrices, so each matrix is transposed here. Its update gate z weights the new
    candidate where ours weights the old state: σ(−a) = 1 − σ(a), so all that enters the update gate changes sign.

    Args:
        parameters: the model's.
        source_rows: (S,) for each of GroundHog's word ids, its row in our source embedding.
        target_rows: (T,) the same for the target.
        symbols: how many more symbols our dictionaries have than GroundHog's. They come before all words except
            ``</s>`` and ``<unk>``, are never predicted, and have zero embeddings.
    """
    arrays = parameters.arrays
    state = {
        **_embedding("encoder", arrays, "enc", source_rows, symbols),
        **_embedding("decoder", arrays, "dec", target_rows, symbols),
        **_encoder(parameters),
        **_gru("decoder.layer.first.gru", arrays, "dec"),
        "decoder.layer.first.context_weight": torch.cat(
            [
                arrays["W_0_dec_dec_reseter_0"].t(),
                -arrays["W_0_dec_dec_updater_0"].t(),
                arrays["W_0_dec_dec_inputter_0"].t(),
            ]
        ),
        "decoder.layer.initial.weight": arrays["W_0_dec_initializer_0"].t(),
        "decoder.layer.initial.bias": arrays["b_0_dec_initializer_0"],
        "decoder.layer.readout.state.weight": arrays["W_0_dec_hid_readout_0"].t(),
        "decoder.layer.readout.state.bias": arrays["b_0_dec_hid_readout_0"],
        "decoder.layer.readout.previous_word.weight": arrays["W_0_dec_prev_readout_0"].t(),
        "decoder.layer.readout.context.weight": arrays["W_0_dec_repr_readout"].t(),
        "decoder.output_projection.0.weight": arrays["W1_dec_deep_softmax"].t(),
        "decoder.output_projection.1.weight": _rows(arrays["W2_dec_deep_softmax"].t(), target_rows, symbols),
        "decoder.output_projection.1.bias": _rows(
            arrays["b_dec_deep_softmax"], target_rows, symbols, filler=NEVER_PREDICTED
        ),
    }
    if parameters.kind == "rnnsearch":
        state |= {
            "decoder.layer.first.attention.key.weight": arrays["A_dec_transition_0"].t(),
            "decoder.layer.first.attention.query_weight": arrays["B_dec_transition_0"].t(),
            "decoder.layer.first.attention.score": arrays["D_dec_transition_0"].squeeze(1),
        }
    return {name: tensor.contiguous() for name, tensor in state.items()}


#: The output bias of a symbol that GroundHog does not have: its probability is zero in every floating-point type.
NEVER_PREDICTED = -1e4


def _rows(array: Tensor, rows: Tensor, symbols: int, *, filler: float = 0.0) -> Tensor:
    """GroundHog's rows in the places of their words in our dictionary, ``filler`` elsewhere."""
    result = array.new_full((array.size(0) + symbols, *array.shape[1:]), filler)
    return result.index_copy_(0, rows, array)


def _embedding(side: str, arrays: Mapping[str, Tensor], part: str, rows: Tensor, symbols: int) -> dict[str, Tensor]:
    return {
        f"{side}.embed_tokens.weight": _rows(arrays[f"W_0_{part}_approx_embdr"], rows, symbols),
        f"{side}.embed_tokens.bias": arrays[f"b_0_{part}_approx_embdr"],
    }


def _gru(name: str, arrays: Mapping[str, Tensor], part: str) -> dict[str, Tensor]:
    words = [arrays[f"W_0_{part}_{gate}_embdr_0"].t() for gate in ("reset", "update", "input")]
    return {
        f"{name}.input_weight": torch.cat([words[0], -words[1], words[2]]),
        f"{name}.gate_weight": torch.cat([arrays[f"R_{part}_transition_0"].t(), -arrays[f"G_{part}_transition_0"].t()]),
        f"{name}.candidate_weight": arrays[f"W_{part}_transition_0"].t(),
        f"{name}.bias": arrays[f"b_0_{part}_input_embdr_0"],
    }


def _encoder(parameters: Parameters) -> dict[str, Tensor]:
    arrays = parameters.arrays
    if parameters.kind != "grconv":
        parts = ["enc", "back_enc"] if parameters.kind == "rnnsearch" else ["enc"]
        layers = [_gru(f"encoder.layer.layers.0.{index}", arrays, part) for index, part in enumerate(parts)]
        return {name: tensor for layer in layers for name, tensor in layer.items()}
    return {
        "encoder.layer.leaves.weight": arrays["W_0_enc_input_embdr_0"].t(),
        "encoder.layer.leaves.bias": arrays["b_0_enc_input_embdr_0"],
        "encoder.layer.left": arrays["U_enc_transition_0"].t(),
        "encoder.layer.right": arrays["W_enc_transition_0"].t(),
        "encoder.layer.bias": arrays["b_enc_transition_0"],
        "encoder.layer.gate_left": arrays["GU_enc_transition_0"].t(),
        "encoder.layer.gate_right": arrays["GW_enc_transition_0"].t(),
        "encoder.layer.gate_bias": arrays["Gb_enc_transition_0"],
    }


def import_model(
    parameters: Path,
    save_dir: Path,
    *,
    source_words: Path | None = None,
    target_words: Path | None = None,
    grconv_activation: str | None = None,
) -> str:
    """Turns the parameters of a GroundHog model into files that fairseq loads.

    Writes ``dict.src.txt``, ``dict.tgt.txt``, and a file from whose name fairseq's commands infer the languages into
    ``save_dir``; ``checkpoint.pt`` comes last.

    Args:
        parameters: an ``.npz`` file of arrays under GroundHog's names.
        save_dir: created if missing.
        source_words: one word per line, line i for id i (from 0); without it, the word of id i is ``str(i)``.
        target_words: the same for the target.
        grconv_activation: φ of a grConv model, which its parameters do not reveal; relu if None.

    Returns:
        The kind of the model.

    Raises:
        ValueError: if the parameters or the words do not fit such a model, or an activation is given to another.
        FileNotFoundError: if a file is missing.
    """
    read = read_file(parameters)
    if grconv_activation and read.kind != "grconv":
        raise ValueError(f"{parameters} is a {read.kind}, no grConv: leave --grconv-activation out")
    save_dir.mkdir(parents=True, exist_ok=True)
    rows = {}
    for side, size, words in (("src", read.sizes["S"], source_words), ("tgt", read.sizes["T"], target_words)):
        dictionary, rows[side] = build_dictionary(read_words(words, size) if words else None, size)
        with write_aside(save_dir / f"dict.{side}.txt") as partial:
            dictionary.save(str(partial))
        symbols = len(dictionary) - size
    languages = save_dir / "languages.src-tgt.txt"
    languages.write_text("fairseq infers the source and the target language from this file's name.\n")
    state = state_dict(read, rows["src"], rows["tgt"], symbols=symbols)
    flags = model_flags(read, grconv_activation=grconv_activation or "relu")
    config, model = build_model(save_dir.resolve(), flags, state)
    write_model(save_dir / "checkpoint.pt", config, model, state={"args": None})
    return read.kind


def read_file(path: Path) -> Parameters:
    """The checked parameters of an ``.npz`` file.

    Raises:
        ValueError: naming the file, if it is something else or its parameters do not fit such a model.
        FileNotFoundError: if there is no such file.
    """
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        with np.load(path, allow_pickle=False) as file:
            return read_parameters(dict(file))
    except Exception as error:  # whatever numpy and zipfile raise for a damaged archive
        raise ValueError(f"{path}: {error}") from error


def build_model(data: Path, flags: Sequence[str], state: Mapping[str, Tensor]) -> tuple[Any, dict[str, Tensor]]:
    """The options and the parameters of the model that these fairseq-train flags build.

    Args:
        data: the folder with the dictionaries.
        flags: the model's.
        state: its parameters: all of them, and no others.
    """
    task_flags = [str(data), "--source-lang", "src", "--target-lang", "tgt", "--optimizer", "adadelta"]
    arguments = fairseq_options.parse_args_and_arch(fairseq_options.get_training_parser(), [*task_flags, *flags])
    config = convert_namespace_to_omegaconf(arguments)
    model = tasks.setup_task(config.task).build_model(config.model)
    model.load_state_dict(state)
    return OmegaConf.to_container(config, resolve=True, enum_to_str=True), model.state_dict()


def read_words(path: Path, size: int) -> list[str]:
    """The words in a file, one per line.

    Raises:
        FileError: if the file is missing or not UTF-8.
        ValueError: if there are not ``size`` of them, or if one appears twice.
    """
    words = [text for _, text in read_lines(path)]
    if len(words) != size:
        raise ValueError(f"{path} has {len(words)} lines, but the model has {size} words on that side")
    first: dict[str, int] = {}
    for line, word in enumerate(words, start=1):
        # The words at the two reserved ids do not matter.
        if line - 1 in (UNKNOWN, size - 1):
            continue
        if word in first:
            raise ValueError(f"{path}, line {line}: {word!r} is already on line {first[word]}")
        first[word] = line
    return words


def build_dictionary(words: Sequence[str] | None, size: int) -> tuple[Dictionary, Tensor]:
    """Our dictionary of GroundHog's words, and our index for each of its ids (size,).

    Raises:
        ValueError: if a word is one of fairseq's own symbols.
    """
    dictionary = Dictionary()
    rows = torch.empty(size, dtype=torch.long)
    for index in range(size):
        if index == UNKNOWN:
            rows[index] = dictionary.unk()
        elif index == size - 1:
            rows[index] = dictionary.eos()
        else:
            word = words[index] if words else str(index)
            if word in dictionary:
                raise ValueError(f"word id {index} is {word!r}, which fairseq reserves: rename it")
            # fairseq's files hold counts; decreasing counts keep the order of the ids.
            rows[index] = dictionary.add_symbol(word, n=size - index)
    return dictionary, rows
