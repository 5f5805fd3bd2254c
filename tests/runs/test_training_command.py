import argparse
import re

import pytest
from fairseq import options
from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import MODEL_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_REGISTRY

import user_dir
from recurrent_mt.runs.training_command import ON, SETTABLE, configuration_arguments, quote_path, read_arguments


def test_a_configuration_is_a_command_line():
    configuration = {
        "common": {"user_dir": "user_dir", "fp16": False, "seed": -1},
        "task": {"_name": "translation", "data": "DIR"},
        "model": {"_name": "gru_encoder", "encoder_bidirectional": True, "gru_rank": None},
        "optimization": {"lr": [0.1, 0.05]},
        "lr_scheduler": {"_name": "fixed"},
    }
    assert configuration_arguments(configuration) == [
        *("DIR", "--user-dir", "user_dir", "--seed", "-1", "--task", "translation", "--arch", "gru_encoder"),
        *("--encoder-bidirectional", "--lr", "0.1,0.05", "--lr-scheduler", "fixed"),
    ]


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        *(
            ({"any": {name: "/x"}}, f"'{name}' cannot be set in a file: no option of a model, objective")
            for name in (
                *("user_dir", "User-Dir", "user_di", "ema_seed_model", "quantization_config_path", "w2v_path"),
                *("pretrained_checkpoint", "load_pretrained_encoder_from", "sentencepiece_model", "valid_subset"),
                *("log_file", "Log-File", "tensorboard_logdir", "wandb_project", "aim_repo", "azureml_logging"),
                *("distributed_init_method", "distributed_port", "plasma_path", "checkpoint_suffix", "save_dir"),
                *("restore_file", "finetune_from_model", "continue_once"),
            )
        ),
        ({"common": {"fp16": "--user-dir=/x"}}, "fp16 is '--user-dir=/x': a value may not begin with '-'"),
        ({"common": {"user_dir": "--x"}}, "user_dir is '--x': a value may not begin"),
        ({"task": {"data": "--user-dir=/x"}}, "data is '--user-dir=/x': a value may not begin"),
        ({"optimization": {"lr": ["--user-dir=/x"]}}, "lr is '--user-dir=/x': a value may not begin"),
        ({"optimization": {"lr": "1\n--user-dir\n/x"}}, r"lr is '1\\n--user-dir\\n/x': a value must be one line"),
        ({"common": {"user-dir=/x": True}}, "'user-dir=/x' cannot be set in a file"),
        ({"model": "gru_encoder"}, "model must be a group of options, not 'gru_encoder'"),
        ({"dataset": {"_name": "x"}}, "dataset has no _name"),
        ({"task": {"data": "???"}}, "task.data is missing: give task.data=VALUE"),
    ],
)
def test_what_would_be_something_else_is_refused(configuration, message):
    with pytest.raises(ValueError, match=message):
        configuration_arguments(configuration)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("task.data=müller", "task.data='müller'"),
        ("task.data=a,b", "task.data='a,b'"),
        ("+model.file=/it's", r"+model.file='/it\'s'"),
        *((f"task.data={folder}", f"task.data='{folder}'") for folder in ("2024_10", "1e3", "[x]", "null")),
        *((f"checkpoint.save_dir={folder}", f"checkpoint.save_dir='{folder}'") for folder in ("2024_10", "a=b")),
        *((same, same) for same in ("task.data=/a b:/c", "task.data='/ö'", "task.data=${x}/c", "optimization.lr=[0.1")),
        ("+model.kernels=[a/b,c]", "+model.kernels=[a/b,c]"),
    ],
)
def test_only_a_path_that_hydra_cannot_read_is_quoted(given, read):
    assert quote_path(given) == read


def test_what_leads_out_of_the_folder_is_set_by_the_caller_alone(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("checkpoint: {save_dir: checkpoints, restore_file: null}\ncommon: {user_dir: x, log_file: null}\n")
    assert read_arguments(file, []) == ["--save-dir", "checkpoints", "--user-dir", "user_dir"]
    changes = ["checkpoint.save_dir=/x", "distributed_training.distributed_port=29500"]
    assert read_arguments(file, changes)[:2] == ["--save-dir", "/x"]
    assert read_arguments(file, changes)[-2:] == ["--distributed-port", "29500"]
    file.write_text("checkpoint: {save_dir: /x}\ncommon: {user_dir: x, log_file: null}\n")
    with pytest.raises(ValueError, match=r"mine\.yaml: 'save_dir' cannot be set in a file"):
        read_arguments(file, ["common.log_file=/y"])


def test_another_file_of_the_same_stem_is_not_read_in_place_of_the_one_that_is_named(tmp_path):
    (tmp_path / "mine.yml").write_text("model: {dropout: 0.1}\n")
    (tmp_path / "mine.yaml").write_text("model: {dropout: 0.9}\n")
    with pytest.raises(ValueError, match=r"mine\.yml: the name of a configuration must end in \.yaml: rename the file"):
        read_arguments(tmp_path / "mine.yml", [])


#: fairseq's classes to which an option belongs: those of this project, and what a comparison is made with.
OURS = {"lstm", "fconv", "transformer", "translation", "cross_entropy", "label_smoothed_cross_entropy"}
#: What these have and no file needs: two of them are evaluated, the others are for other processors or text of audio.
LEFT_OUT = {
    *("encoder_xformers_att_config", "decoder_xformers_att_config", "groups", "epoch2lr", "update2lr", "data"),
    *("offload_activations", "min_params_to_wrap", "char_inputs", "base_layers", "base_sublayers", "base_shuffle"),
    *("export", "load_alignments", "shortlist", "sample_subwords"),
}


def list_actions(kind):
    """The options of a registered class, as its parser has them."""
    parser = argparse.ArgumentParser(add_help=False, conflict_handler="resolve")
    if getattr(kind, "__dataclass", None):
        gen_parser_from_dataclass(parser, getattr(kind, "__dataclass")())
    elif hasattr(kind, "add_args"):
        kind.add_args(parser)
    return parser._actions


def list_options(kind):
    """The names of the options of a registered class, with their help."""
    return {action.dest: action.help or "" for action in list_actions(kind)}


def list_kinds():
    """The classes that a training on text may have."""
    kinds = {**MODEL_REGISTRY, **TASK_REGISTRY, **REGISTRIES["criterion"]["registry"]}
    kinds = {name: kind for name, kind in kinds.items() if name in OURS or kind.__module__.startswith("user_dir")}
    return kinds | REGISTRIES["optimizer"]["registry"] | REGISTRIES["lr_scheduler"]["registry"]


def test_every_option_of_a_model_an_objective_an_optimizer_and_a_task_of_text_may_be_set():
    kinds = list_kinds()
    assert user_dir and len(kinds) > 35
    for name, kind in kinds.items():
        refused = {option for option in list_options(kind) if not SETTABLE.fullmatch(option)} - LEFT_OUT
        assert not refused, name


def test_a_switch_that_is_on_gets_its_flag_to_be_off():
    actions = [action for kind in list_kinds().values() for action in list_actions(kind)]
    actions += options.get_training_parser()._actions
    assert {action.dest for action in actions if action.const is False and SETTABLE.fullmatch(action.dest)} == set(ON)
    for value, arguments in ((True, []), (False, ["--left-pad-source"]), (None, [])):
        assert configuration_arguments({"task": {"left_pad_source": value}}) == arguments


def test_nothing_that_may_be_set_names_a_file_but_those_that_are_read_as_data():
    found = {action.dest: action.help or "" for action in options.get_training_parser()._actions}
    for registry in (MODEL_REGISTRY, TASK_REGISTRY, *(entry["registry"] for entry in REGISTRIES.values())):
        for kind in registry.values():
            found |= list_options(kind)
    assert len(found) > 700
    settable = {option for option in found if SETTABLE.fullmatch(option)}
    reaching = re.compile(r"(\b|_)(path|file|dir|directory|folder|port|url|address|pretrained)s?(\b|_)")
    named = {option for option in settable if reaching.search(option) or reaching.search(found[option].lower())}
    assert named == {"encoder_embed_path", "decoder_embed_path"}
