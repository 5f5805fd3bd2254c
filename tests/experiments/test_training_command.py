import pytest

from recurrent_mt.experiments.configurations import quote_path, read_arguments
from recurrent_mt.experiments.training_command import configuration_arguments


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
        ({"model": {"user_dir": "/x"}}, "user_dir would run code: it cannot be set in a file"),
        ({"common": {"User-Dir": "/x"}}, "User-Dir would run code"),
        *(
            ({"any": {name: "/x"}}, f"{name} could write, load, or connect anywhere: it cannot be set in a file")
            for name in (
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
        ({"common": {"user-dir=/x": True}}, "'user-dir=/x' is no name of an option"),
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
        *((same, same) for same in ("task.data=/a b:/c", "task.data='/ö'", "task.data=${x}/c", "optimization.lr=[0.1")),
    ],
)
def test_only_a_path_that_hydra_cannot_read_is_quoted(given, read):
    assert quote_path(given) == read


def test_what_leads_out_of_the_folder_is_set_by_the_caller_alone(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("checkpoint: {save_dir: checkpoints, restore_file: null}\ncommon: {user_dir: x, log_file: null}\n")
    assert read_arguments(file, []) == ["--save-dir", "checkpoints", "--user-dir", "user_dir"]
    changes = ["checkpoint.save_dir=/x", "+distributed_training.distributed_port=29500"]
    assert read_arguments(file, changes)[:2] == ["--save-dir", "/x"]
    assert read_arguments(file, changes)[-2:] == ["--distributed-port", "29500"]
    file.write_text("checkpoint: {save_dir: /x}\ncommon: {user_dir: x, log_file: null}\n")
    with pytest.raises(ValueError, match=r"mine\.yaml: save_dir could write"):
        read_arguments(file, ["common.log_file=/y"])
