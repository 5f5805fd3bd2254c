"""Trainings are named after the defaults that hold in them, which are read from the plug-in's source."""

import ast
import dataclasses
import shutil

import pytest
from fairseq.models import MODEL_DATACLASS_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_DATACLASS_REGISTRY

from recurrent_mt.runs import defaults
from tests.runs.test_plan import folders, plan

OURS = "gru_encoder-additive"


@pytest.fixture
def own_plugin(tmp_path, monkeypatch):
    """A copy of the plug-in, whose source may be changed."""
    folder = shutil.copytree(defaults.PLUGIN, tmp_path / "user_dir")
    monkeypatch.setattr(defaults, "PLUGIN", folder)
    yield folder
    forget()


def forget():
    for read in (defaults.read_classes, defaults.list_registered):
        read.cache_clear()


def change(file, before, after):
    text = file.read_text()
    assert text.count(before) == 1
    file.write_text(text.replace(before, after))
    forget()


ORDER = 'DECODER_ORDER_CHOICES = option(\n        "'
CHANGES = {
    "of all models": ("models/config.py", f"{ORDER}word", f"{ORDER}attention"),
    "of one model": ("models/gru_encoder.py", "encoder_layers: int = option(1", "encoder_layers: int = option(2"),
    "that was off": ("models/config.py", "skip_time: int = option(\n        0", "skip_time: int = option(\n        2"),
    "of the objective": ("criterions.py", "default=0.0", "default=0.1"),
}


@pytest.mark.parametrize(("name", "before", "after"), CHANGES.values(), ids=CHANGES)
def test_seeds_that_are_trained_before_and_after_a_default_changes_are_in_two_folders(name, before, after, own_plugin):
    systems = f"systems={OURS},lstm"
    plans = [plan(systems, "seeds=1"), plan(systems, "seeds=1,3")]
    change(own_plugin / name, before, after)
    plans.append(plan(systems, "seeds=1,3"))
    first, same, other = ({key: system.folder for key, system in one.systems.items()} for one in plans)
    assert first == same and same[OURS] != other[OURS]
    assert same["lstm"] == other["lstm"], "no option of fairseq's own model has changed"
    assert plans[1].results != plans[2].results, "earlier results would lead to the new trainings"


def test_a_default_that_does_not_hold_and_one_that_is_off_change_nothing(own_plugin):
    before = folders(f"systems={OURS}")
    config, other = (own_plugin / "models" / name for name in ("config.py", "hourglass_encoder.py"))
    change(
        config, "encoder_embed_dim: int = option(512", "encoder_embed_dim: int = option(256"
    )  # the experiment sets it
    change(config, "    no_gate_bias: bool", '    novelty: bool = option(False, "new")\n    no_gate_bias: bool')
    change(other, "    unet_depth:", "    unet_novelty: int = 3\n    unet_depth:")
    assert folders(f"systems={OURS}") == before


def test_a_model_without_a_dataclass_and_the_files_of_editors_are_in_nobodys_way(own_plugin):
    (own_plugin / "models" / "older.py").write_text(
        "@dataclass\nclass Options:\n    width: int = 3\n\n\n@register_model('older')\nclass Older: ...\n\n\n"
        "@register_model('wide', Options)\nclass Wide: ...\n"
    )
    (own_plugin / "models" / ".#config.py").symlink_to("somebody@somewhere.1234")
    forget()
    found = {one.name: one.defaults for one in defaults.list_registered()}
    assert found["older"] == {} and found["wide"] == {"width": "3"} and "gru_encoder" in found


def is_ours(kind):
    return kind.__module__.startswith("user_dir")


def test_defaults_are_those_that_fairseq_gets():
    import user_dir.criterions
    import user_dir.optim
    import user_dir.tasks  # noqa: F401

    registries = {"--arch": MODEL_DATACLASS_REGISTRY, "--task": TASK_DATACLASS_REGISTRY}
    registries |= {f"--{group}": REGISTRIES[group]["dataclass_registry"] for group in ("criterion", "optimizer")}
    registered = {
        (option, name): kind for option, kinds in registries.items() for name, kind in kinds.items() if is_ours(kind)
    }
    found = {(one.chosen_by, one.name): one.defaults for one in defaults.list_registered()}
    assert found.keys() == registered.keys()
    for key, kind in registered.items():
        shown = [field for field in dataclasses.fields(kind) if not field.metadata.get("removed")]
        own = {name for base in kind.__mro__ if is_ours(base) for name in base.__annotations__}
        values = {field.name: field.default for field in shown if field.name in own}
        fixed = {field.name for field in shown if field.metadata.get("was_fixed")}
        assert all(found[key][name] == "None" for name in fixed)
        assert found[key].keys() == values.keys()
        for name, text in found[key].items():
            assert text == "II('common.seed')" or name in fixed or ast.literal_eval(text) == values[name]
