"""Options that say so change nothing of what a trained model computes."""

import pytest
import torch
from fairseq.models import MODEL_DATACLASS_REGISTRY

from tests.models.building import ARCHITECTURES, build, sample
from tests.tolerances import PARITY

#: Another value of each such option, and what it needs besides.
VALUES = {
    "dropout": {"dropout": 0.5},
    "recurrent_dropout": {"recurrent_dropout": 0.5},
    "word_dropout": {"word_dropout": 0.5},
    **{f"{side}_embed_path": {f"{side}_embed_path": "vectors"} for side in ("encoder", "decoder")},
    **{f"{side}_freeze_embed": {f"{side}_freeze_embed": True} for side in ("encoder", "decoder")},
    "initialization": {"initialization": "published"},
    **{
        f"{side}_spectral_radius": {"initialization": "published", f"{side}_spectral_radius": 0.4}
        for side in ("encoder", "decoder")
    },
    "autocast": {"autocast": "bfloat16"},
}
#: bfloat16 has eight significant bits, and scores are as large as 5.
TOLERANCE = {"autocast": {"rtol": 0, "atol": 0.1}}


def kept(architecture):
    fields = MODEL_DATACLASS_REGISTRY[architecture].__dataclass_fields__
    return {
        name
        for name, field in fields.items()
        if field.metadata.get("decides", "function") != "function" and not field.metadata.get("removed")
    }


def test_every_option_that_says_so_is_tested():
    assert set().union(*map(kept, ARCHITECTURES)) == set(VALUES)


@pytest.mark.parametrize("name", VALUES)
def test_the_same_parameters_compute_the_same(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vectors").write_text("1 8\ns1" + " 1" * 8 + "\n")
    architecture = next(one for one in reversed(ARCHITECTURES) if name in kept(one) and "gr" in one)
    sizes = {"encoder_embed_dim": 8, "decoder_attention": "additive"}
    model, other = build(architecture, **sizes), build(architecture, **sizes, **VALUES[name])
    generator = torch.Generator().manual_seed(3)
    parameters = {key: torch.randn(value.shape, generator=generator) / 2 for key, value in model.state_dict().items()}
    model.load_state_dict(parameters)
    other.load_state_dict(parameters)
    batch = sample([4, 1, 6], [5, 2, 7])["net_input"]
    with torch.no_grad():
        expected, found = model.eval()(**batch)[0], other.eval()(**batch)[0]
    assert expected.std() > 1, "a model whose scores are all alike shows nothing"
    torch.testing.assert_close(found.float(), expected, **TOLERANCE.get(name, PARITY[torch.float32]))
