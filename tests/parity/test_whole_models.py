"""Whole models of the authors' code, imported and asked for every target word's probability."""

import numpy as np
import pytest
import torch
from fairseq.checkpoint_utils import load_model_ensemble_and_task

from tests.parity import oracle
from user_dir.models.groundhog_checkpoint import import_model


@pytest.fixture(scope="module", params=["rnnenc", "grconv", "rnnsearch"])
def imported(request, tmp_path_factory):
    """The oracle's arrays, and the model that fairseq loads from what was imported."""
    arrays = oracle.load(f"groundhog_{request.param}.npz")
    folder = tmp_path_factory.mktemp(request.param)
    assert import_model(oracle.FOLDER / f"groundhog_{request.param}.npz", folder) == request.param
    (model,), _, task = load_model_ensemble_and_task([str(folder / "checkpoint.pt")])
    return arrays, model.eval(), task


def encode(dictionary, ids):
    """GroundHog's ids as ours: 1 is the unknown word, the last one the end of the sentence."""
    special = {1: dictionary.unk(), len(dictionary) - 3: dictionary.eos()}
    return torch.tensor([[special[i] if i in special else dictionary.index(str(i)) for i in ids]])


def pairs(arrays):
    count = sum(name.startswith("x") for name in arrays)
    assert count > 0
    return range(count)


def score(imported, index):
    arrays, model, task = imported
    source = encode(task.source_dictionary, arrays[f"x{index}"].tolist())
    target = encode(task.target_dictionary, arrays[f"y{index}"].tolist())
    previous = torch.cat([torch.tensor([[task.target_dictionary.eos()]]), target[:, :-1]], dim=1)
    with torch.no_grad():
        output = model(src_tokens=source, src_lengths=torch.tensor([source.size(1)]), prev_output_tokens=previous)
        log_probabilities = model.get_normalized_probs(output, log_probs=True)
    return log_probabilities[0].gather(1, target[0][:, None])[:, 0], output[1]


def test_log_probability_of_every_word(imported):
    for index in pairs(imported[0]):
        ours, _ = score(imported, index)
        expected = np.log(imported[0][f"res{index}_0"][:, 0])
        np.testing.assert_allclose(ours.numpy(), expected, rtol=0, atol=1e-4)


def test_alignment_weights(imported):
    if "res0_1" not in imported[0]:
        pytest.skip("a model without attention")
    for index in pairs(imported[0]):
        _, extra = score(imported, index)
        expected = imported[0][f"res{index}_1"][:, :, 0]
        np.testing.assert_allclose(extra["attn"][0][0].numpy(), expected, rtol=0, atol=1e-5)


def test_nothing_of_fairseqs_own_is_ever_predicted(imported):
    _, model, task = imported
    source = encode(task.source_dictionary, [5, 6, 40])
    output = model(src_tokens=source, src_lengths=torch.tensor([3]), prev_output_tokens=torch.tensor([[2]]))
    probabilities = model.get_normalized_probs(output, log_probs=False)[0, 0]
    dictionary = task.target_dictionary
    assert probabilities[dictionary.bos()] == probabilities[dictionary.pad()] == 0
    assert probabilities.sum().item() == pytest.approx(1)
