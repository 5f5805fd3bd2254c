"""Models of low rank made of trained ones."""

import argparse

import pytest
import torch
from fairseq import checkpoint_utils
from omegaconf import OmegaConf

from recurrent_mt.layers.weights import kept_share, truncate, whole_matrix
from tests.checkpoints.checkpoints import small_checkpoint
from tests.models.building import build, sources
from tests.models.test_search import generate
from tests.tolerances import INVARIANCE
from user_dir.checkpoints.checkpoint import Checkpoint
from user_dir.cli.factorize import factorize_checkpoint

NEW_OPTIONS = (
    *("gru_rank", "skip_io", "skip_time", "decoder_layer_norm", "encoder_layer_norm"),
    *("encoder_self_attention_heads", "decoder_self_attention_heads"),
    *("encoder_transition_depth", "decoder_transition_depth"),
)


def beams(checkpoint):
    """Words and scores of a beam search."""
    hypotheses = generate([checkpoint.model], sources([3, 7, 1, 5]))
    return [[(h["tokens"].tolist(), h["score"].item()) for h in beam] for beam in hypotheses]


def save_again(folder, change):
    """The checkpoint with a changed state, under the same name."""
    state = torch.load(folder / "checkpoint.pt")
    change(state)
    checkpoint_utils.torch_persistent_save(state, str(folder / "checkpoint.pt"))


@pytest.mark.parametrize(("architecture", "attention"), [("gru_encoder", "additive"), ("grconv_encoder", "none")])
def test_at_full_rank_the_translations_and_their_scores_are_the_same(architecture, attention, tmp_path):
    options = {"initialization": "published", "encoder_spectral_radius": 0.4, "recurrent_dropout": 0.3}
    full = small_checkpoint(tmp_path, architecture, decoder_attention=attention, decoder_layers=2, **options)
    file, matrices = factorize_checkpoint(tmp_path / "checkpoint.pt", tmp_path / "exact", rank=64)
    for ours, theirs in zip(beams(Checkpoint(file, tmp_path)), beams(full)):
        assert [words for words, _ in ours] == [words for words, _ in theirs]
        assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], rel=1e-4)
    assert [matrix.kept for matrix in matrices] == pytest.approx([1.0] * len(matrices))
    assert all(matrix.rank == min(matrix.shape) for matrix in matrices)
    assert torch.load(file)["cfg"]["model"]["recurrent_dropout"] == 0.0


@pytest.mark.parametrize("decoder", [{"decoder_transition_depth": 2}, {"decoder_cell": "min_gru", "decoder_layers": 2}])
def test_below_full_rank_it_is_the_model_that_the_option_builds(decoder, tmp_path):
    options = {"encoder_bidirectional": True, "skip_io": True, **decoder}
    full = small_checkpoint(tmp_path, "gru_encoder", **options)
    file, matrices = factorize_checkpoint(tmp_path / "checkpoint.pt", tmp_path / "low", rank=2)
    low = Checkpoint(file, tmp_path).model
    built = build("gru_encoder", gru_rank=2, **options)
    shapes = {name: parameter.shape for name, parameter in built.named_parameters()}
    assert {name: parameter.shape for name, parameter in low.named_parameters()} == shapes
    weights = dict(full.model.named_parameters())
    assert {matrix.name for matrix in matrices} == weights.keys() - shapes.keys()
    for matrix in matrices:
        values = torch.linalg.svdvals(weights[matrix.name].detach())
        assert matrix.kept == pytest.approx((values[:2].square().sum() / values.square().sum()).item(), rel=1e-4)
        assert 0 < matrix.kept < 1 and matrix.rank == 2
        product = whole_matrix(low.get_submodule(matrix.name))
        error = torch.linalg.matrix_norm(weights[matrix.name] - product, ord=2)
        torch.testing.assert_close(error, values[2], **INVARIANCE)


def test_checkpoints_older_than_these_options_load_and_score_the_same(tmp_path):
    expected = beams(small_checkpoint(tmp_path, "gru_encoder"))
    save_again(tmp_path, lambda state: [state["cfg"]["model"].pop(name) for name in NEW_OPTIONS])
    assert beams(Checkpoint(tmp_path / "checkpoint.pt", tmp_path)) == expected


def test_a_checkpoint_of_the_command_line_keeps_its_form(tmp_path):
    """fairseq-train saves the model's options as a namespace; one from before --gru-rank does not have it."""
    small_checkpoint(tmp_path, "gru_encoder")

    def to_namespace(state):
        options = {name: value for name, value in state["cfg"]["model"].items() if name not in NEW_OPTIONS}
        state["cfg"]["model"] = argparse.Namespace(**options)

    save_again(tmp_path, to_namespace)
    file, _ = factorize_checkpoint(tmp_path / "checkpoint.pt", tmp_path / "low", rank=3)
    state = torch.load(file)
    assert state["cfg"]["model"].gru_rank == 3 and state["last_optimizer_state"] is None
    assert OmegaConf.create(state["cfg"]["task"]).data == str(tmp_path)
    assert len(beams(Checkpoint(file, tmp_path))) == 4


def test_a_model_that_cannot_be_factorized_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"there is no checkpoint .*nowhere\.pt"):
        factorize_checkpoint(tmp_path / "nowhere.pt", tmp_path / "low", rank=2)
    small_checkpoint(tmp_path, "gru_encoder")
    path = tmp_path / "checkpoint.pt"
    with pytest.raises(ValueError, match=r"checkpoint\.pt would be overwritten: choose another --save-dir"):
        factorize_checkpoint(path, tmp_path / "low" / "..", rank=2)
    low, _ = factorize_checkpoint(path, tmp_path / "low", rank=2)
    with pytest.raises(ValueError, match=r"low/checkpoint\.pt: its GRU layers are already low-rank"):
        factorize_checkpoint(low, tmp_path / "lower", rank=1)
    save_again(tmp_path, lambda state: state.update(model={"decoder.fc.weight": torch.zeros(2, 2)}))
    with pytest.raises(ValueError, match=r"checkpoint\.pt: it has no GRU layer of this package"):
        factorize_checkpoint(path, tmp_path / "other", rank=2)
    assert not (tmp_path / "other").exists() and not (tmp_path / "lower").exists()


def test_truncation_keeps_the_largest_singular_values():
    weight = torch.diag(torch.tensor([3.0, 1.0, 2.0]))
    left, right = truncate(weight, 2)
    torch.testing.assert_close(left @ right, torch.diag(torch.tensor([3.0, 0.0, 2.0])))
    assert kept_share(weight, 2) == pytest.approx(13 / 14)
    assert kept_share(torch.zeros(2, 2), 1) == 1.0
