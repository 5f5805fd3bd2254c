import pytest
import torch

from recurrent_mt.kernels import backend
from tests.kernels.batches import needs_interpreter
from tests.models.building import ARCHITECTURES, build, sample
from tests.tolerances import PARITY


def scores(model):
    return model(**sample([4, 1, 6], [5, 2, 7])["net_input"])[0]


@pytest.mark.parametrize("attention", ["none", "additive"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_kernel_backend_reaches_every_recurrence(architecture, attention):
    model = build(architecture, decoder_attention=attention, decoder_layers=2, kernel_backend="fused")
    backends = [layer.backend for layer in model.modules() if hasattr(layer, "backend")]
    assert len(backends) >= 2 and set(backends) == {"fused"}


def test_a_missing_triton_is_named_at_the_first_batch(monkeypatch):
    monkeypatch.setattr(backend, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="gru's backend 'fused' needs triton, which is not installed"):
        scores(build("gru_encoder", kernel_backend="fused"))


@needs_interpreter
@pytest.mark.parametrize("architecture", ["gru_encoder", "grconv_encoder"])
def test_a_model_scores_the_same_with_packed_and_fused_kernels(architecture):
    packed, fused = (build(architecture, kernel_backend=name).eval() for name in ("packed", "fused"))
    fused.load_state_dict(packed.state_dict())
    torch.testing.assert_close(scores(fused), scores(packed), **PARITY[torch.float32])
