"""GroundHog's forward pass, one sentence at a time, in float64 and in GroundHog's own letters and names.

Written from the equations, not from this package: rows are multiplied by matrices, z takes the new candidate, the
readout comes before the update. It stands in for the authors' code where its numbers are absent, and is itself compared
with them where they are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Arrays = Mapping[str, np.ndarray]


def sigmoid(a: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-a))


def softmax(a: np.ndarray) -> np.ndarray:
    e = np.exp(a - a.max())
    return e / e.sum()


def gru(p: Arrays, part: str, words: np.ndarray, reverse: bool = False) -> np.ndarray:
    """The states (S, H) of an encoder's recurrence over embedded words (S, E)."""
    h = np.zeros(p[f"W_{part}_transition_0"].shape[0])
    states = []
    for x in words[::-1] if reverse else words:
        h = gru_step(p, part, x, h, 0, 0, 0)
        states.append(h)
    return np.array(states[::-1] if reverse else states)


def gru_step(p: Arrays, part: str, x: np.ndarray, h: np.ndarray, c_in, c_z, c_r) -> np.ndarray:
    r = sigmoid(x @ p[f"W_0_{part}_reset_embdr_0"] + h @ p[f"R_{part}_transition_0"] + c_r)
    z = sigmoid(x @ p[f"W_0_{part}_update_embdr_0"] + h @ p[f"G_{part}_transition_0"] + c_z)
    below = x @ p[f"W_0_{part}_input_embdr_0"] + p[f"b_0_{part}_input_embdr_0"] + c_in
    return z * np.tanh((r * h) @ p[f"W_{part}_transition_0"] + below) + (1 - z) * h


def grconv(p: Arrays, words: np.ndarray, phi) -> np.ndarray:
    """The root (H,) of the pyramid over embedded words (S, E)."""
    h = words @ p["W_0_enc_input_embdr_0"] + p["b_0_enc_input_embdr_0"]
    while len(h) > 1:
        left, right = h[:-1], h[1:]
        new = phi(left @ p["U_enc_transition_0"] + right @ p["W_enc_transition_0"] + p["b_enc_transition_0"])
        gates = left @ p["GU_enc_transition_0"] + right @ p["GW_enc_transition_0"] + p["Gb_enc_transition_0"]
        w = np.array([softmax(row) for row in gates])
        h = w[:, 0:1] * new + w[:, 1:2] * left + w[:, 2:3] * right
    return h[0]


def score(
    p: Arrays, kind: str, source: Sequence[int], target: Sequence[int], *, phi=lambda a: np.maximum(a, 0)
) -> tuple[np.ndarray, np.ndarray]:
    """The log-probability (T,) of each target word, and the alignment (T, S), of ones without attention."""
    p = {name: array.astype(np.float64) for name, array in p.items()}
    words = p["W_0_enc_approx_embdr"][source] + p["b_0_enc_approx_embdr"]
    if kind == "rnnsearch":
        backward = gru(p, "back_enc", words, reverse=True)
        annotations = np.concatenate([gru(p, "enc", words), backward], axis=1)
        first = backward[0]
    else:
        root = grconv(p, words, phi) if kind == "grconv" else gru(p, "enc", words)[-1]
        annotations, first = root[None], root
    s = np.tanh(first @ p["W_0_dec_initializer_0"] + p["b_0_dec_initializer_0"])
    previous = np.zeros(p["W_0_dec_approx_embdr"].shape[1])
    results, alignments = [], []
    for y in target:
        alpha = np.ones(1)
        if kind == "rnnsearch":
            energy = np.tanh(annotations @ p["A_dec_transition_0"] + s @ p["B_dec_transition_0"])
            alpha = softmax(energy @ p["D_dec_transition_0"][:, 0])
        c = alpha @ annotations
        readout = s @ p["W_0_dec_hid_readout_0"] + p["b_0_dec_hid_readout_0"]
        readout = readout + c @ p["W_0_dec_repr_readout"] + previous @ p["W_0_dec_prev_readout_0"]
        maxout = readout.reshape(-1, 2).max(axis=1)
        scores = maxout @ p["W1_dec_deep_softmax"] @ p["W2_dec_deep_softmax"] + p["b_dec_deep_softmax"]
        results.append(np.log(softmax(scores)[y]))
        alignments.append(alpha)
        previous = p["W_0_dec_approx_embdr"][y] + p["b_0_dec_approx_embdr"]
        s = gru_step(
            *(p, "dec", previous, s),
            *(c @ p["W_0_dec_dec_inputter_0"], c @ p["W_0_dec_dec_updater_0"], c @ p["W_0_dec_dec_reseter_0"]),
        )
    return np.array(results), np.array(alignments)
