"""Reads parameters from GroundHog, the authors' released code, into models of this package.

GroundHog multiplies rows by matrices, so each matrix is transposed here. Its update gate z weights the new candidate
where ours weights the old state: σ(−a) = 1 − σ(a), so everything that enters the update gate changes sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

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


class Parameters(NamedTuple):
    """The parameters of one GroundHog model, checked.

    Attributes:
        kind: one of :data:`KINDS`.
        sizes: H hidden units, E embedding size, C context size, M maxout units, S and T words per side.
        arrays: under GroundHog's names.
    """

    kind: str
    sizes: dict[str, int]
    arrays: dict[str, Tensor]


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
        elif not np.isfinite(arrays[name]).all():
            problems.append(f"{name} holds numbers that are not finite")
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
    try:
        source_words, embedding = arrays["W_0_enc_approx_embdr"].shape
        hidden, _ = arrays["W_dec_transition_0"].shape
        target_words, _ = arrays["W_0_dec_approx_embdr"].shape
    except ValueError as error:
        raise ValueError(
            "W_0_enc_approx_embdr, W_0_dec_approx_embdr and W_dec_transition_0 must be matrices"
        ) from error
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
