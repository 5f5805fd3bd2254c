"""What files of settings put on the command line of fairseq-train: options with values, and no code.

Such a file may come from anywhere. It may set what a model is and how it learns, and nothing else: ``--user-dir`` would
run the Python of a folder, other options write to a path, load a checkpoint, or connect to an address, and a value that
looks like an option is one, whatever stands before it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from .defaults import list_registered

#: This project's models.
ARCHITECTURES = tuple(sorted(one.name for one in list_registered() if one.chosen_by == "--arch"))
#: The groups of a configuration that have a ``_name``: on the command line, the value of --GROUP, of a model of --arch.
NAMED = ("model", "task", "criterion", "optimizer", "lr_scheduler")
#: What may be set: numbers, switches, and choices, but for names of files that are read as data, of word vectors
#: (``*_embed_path``). An option that only NAME_encoder has begins with NAME.
SETTABLE = re.compile(
    rf"""arch|task|criterion|optimizer|(source|target)_lang
    # models
    |(encoder|decoder)_(?!xformers)\w+|(share|skip|adaptive|quant_noise)_\w+
    |({"|".join(name.removesuffix("_encoder") for name in ARCHITECTURES)})_\w+
    |(\w+_)?dropout|initialization|no_gate_bias|embed_bias|token_shift|autocast|kernel_backend|checkpoint_activations
    |max_(source|target)_positions|activation_fn|layernorm_embedding|tie_adaptive_\w+|cross_self_attention
    |no_(token_positional_embeddings|scale_embedding|cross_attention|decoder_final_norm)
    # objectives, optimizers, schedules
    |label_smoothing|report_accuracy|ignore_prefix_size|sentence_avg|update_freq|clip_norm|weight_decay|momentum
    |(adam|adamax|adadelta|adafactor|lamb)_\w+|use_old_adam|anneal_eps|beta1|clip_threshold|decay_rate|scale_parameter
    |relative_step|no_bias_correction|lr(_\w+)?|(min|max|stop_min)_lr|warmup_\w+|force_anneal|end_learning_rate|power
    |total_num_update|t_mult|(hold|decay)_steps|phase_ratio|(init|final)_lr_scale|shrink_min
    |store_ema|ema_(decay|start_update|update_freq|fp32)|cpu|bf16|(fp16|amp)(_\w+)?|memory_efficient_\w+|\w+_loss_scale
    # batches and text
    |(max_tokens|batch_size)(_valid)?|required_\w+_multiple|curriculum|grouped_shuffling|num_(workers|batch_buckets)
    |left_pad_\w+|truncate_source|upsample_primary|sort_k_batches|max_train_words
    # when to stop, validate, save, and report
    |seed|max_(epoch|update|valid_steps)|stop_time_hours|patience|validate_\w+|fixed_validation_seed|disable_validation
    |eval_\w*bleu(_\w+)?|shrinking_beam|(maximize_)?best_checkpoint_metric|save_interval(_updates)?|keep_\w+
    |no_(save|save_optimizer_state|epoch_checkpoints|last_checkpoints|progress_bar)|log_(format|interval)""",
    re.ASCII | re.VERBOSE,
)
#: Switches that are on unless fairseq-train gets their flag.
ON = ("left_pad_source",)
#: Switches of fairseq's models that are on, and take a value.
VALUED = ("decoder_attention", "encoder_glu", "decoder_glu")
#: fairseq's default, in the folder of the call.
SAVE_DIR = "checkpoints"
#: Keys whose values are paths, though they may look like numbers.
PATHS = ("task.data", "checkpoint.save_dir")
NEGATIVE_NUMBER = re.compile(r"-(\d+|\d*\.\d+)")
#: What follows the flags on every command line of fairseq-train, so that a flag would do nothing.
FIXED = (
    *("seed", "max_update", "max_epoch", "stop_time_hours", "save_dir", "num_workers", "no_epoch_checkpoints"),
    *("save_interval_updates", "keep_interval_updates", "log_format", "log_interval"),
)


def check_flags(flags: Mapping[str, Any]) -> None:
    """What a system sets of fairseq-train's options must change the training, and nothing else.

    Raises:
        ValueError: naming the option.
    """
    if len({flag.replace("_", "-") for flag in flags}) < len(flags):
        raise ValueError(f"flags are there twice, with hyphens and with underscores: {', '.join(flags)}")
    for flag, value in flags.items():
        if flag.lower().replace("-", "_") in FIXED:
            raise ValueError(f"{flag} cannot be a flag: the experiment sets it for every training")
        if flag != "segmentation":
            check_training_flag(flag, value)


def check_training_flag(name: str, value: object) -> None:
    """Refuses what would become something else than the option ``--name`` with its value.

    Raises:
        ValueError: naming the option or the value.
    """
    option = name.lower().replace("-", "_")
    unused = value is None or value is False or (option, value) == ("save_dir", SAVE_DIR)
    if not SETTABLE.fullmatch(option) and not unused:
        reason = "no option of a model, objective, optimizer, or batches; it could run code, write, load, or connect"
        raise ValueError(f"{name[:80]!r} cannot be set in a file: {reason}")
    check_training_value(name, value)


def check_training_value(name: str, value: object) -> None:
    """Refuses a value that a command line would not take as one.

    Raises:
        ValueError: naming the option and the value.
    """
    text = str(value)
    if text.startswith("-") and not NEGATIVE_NUMBER.fullmatch(text):
        raise ValueError(f"{name} is {text[:80]!r}: a value may not begin with '-'")
    if len(text.splitlines()) > 1 or "\0" in text:
        raise ValueError(f"{name} is {text[:80]!r}: a value must be one line")


def configuration_arguments(configuration: Mapping[str, Any], given: Collection[str] = ()) -> list[str]:
    """The arguments of fairseq-train that a configuration for fairseq-hydra-train stands for.

    Args:
        configuration: group to key to value.
        given: each ``GROUP.KEY`` whose value is the caller's own and not the file's.

    Raises:
        ValueError: if a mandatory value is missing, or something is no option with a value.
    """
    result: list[str] = []
    for group, values in configuration.items():
        if not isinstance(values, dict):
            raise ValueError(f"{group} must be a group of options, not {values!r}")
        for key, value in values.items():
            if value == "???":
                raise ValueError(f"{group}.{key} is missing: give {group}.{key}=VALUE")
            if (group, key) == ("task", "data"):
                check_training_value(key, value)
                result.insert(0, str(value))
            else:
                result += option_arguments(str(group), str(key), value, trusted=f"{group}.{key}" in given)
    return result


def option_arguments(group: str, key: str, value: Any, *, trusted: bool = False) -> list[str]:
    """The arguments of one option of a configuration; of a trusted one, only the form is checked.

    Raises:
        ValueError: if it is no option with a value.
    """
    if key == "_name":
        if group not in NAMED:
            raise ValueError(f"{group} has no _name")
        key = "arch" if group == "model" else group
    if isinstance(value, list):
        value = ",".join(map(str, value))
    # The plug-in is always the caller's own, over whatever a file says.
    if (group, key) == ("common", "user_dir") or (trusted and key != "user_dir"):
        check_training_value(key, value)
    else:
        check_training_flag(key, value)
    return option_words(key, value)


def option_words(key: str, value: Any) -> list[str]:
    """The words by which fairseq-train gets the value of an option: ``true`` and ``false`` are a flag, or nothing."""
    if isinstance(value, bool):
        option = key.replace("-", "_")
        value = str(value) if option in VALUED else value != (option in ON)
    if value is None or value is False:
        return []
    flag = f"--{key.replace('_', '-')}"
    return [flag] if value is True else [flag, str(value)]


def assign(key: str, value: object) -> str:
    """The ``KEY=VALUE`` with which Hydra takes a value as it is, whatever characters it has."""
    from hydra.core.override_parser.types import Quote, QuotedString

    return f"{key}={QuotedString(text=str(value), quote=Quote.single).with_quotes()}"


def quote_path(override: str) -> str:
    """A ``KEY=VALUE`` that Hydra can read, where VALUE is a path with characters that its grammar has no place for.

    Such are letters with accents, quotes, commas and parentheses. What Hydra reads as one text stays as it is; a folder
    2024_10, which it reads as the number 202410, is quoted, too.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    key, _, value = override.partition("=")
    if "/" not in value and key not in PATHS:
        return override
    try:
        parsed = OverridesParser.create().parse_override(override)
    except HydraException:
        return assign(key, value)
    other = parsed.is_sweep_override() or (key in PATHS and not isinstance(parsed.value(), str))
    return assign(key, value) if other else override


def name_languages(overrides: Sequence[str], pairs: Path) -> list[str]:
    """The overrides with both languages in place of each ``pair=SRC-TGT`` for which a folder of pairs has no file.

    Raises:
        ValueError: if such a pair is not two languages.
    """
    result = []
    for override in overrides:
        key, _, pair = override.partition("=")
        if key != "pair" or (pairs / f"{pair}.yaml").is_file():
            result.append(override)
            continue
        languages = pair.split("-")
        if len(languages) != 2 or not all(re.fullmatch(r"\w+", language) for language in languages):
            raise ValueError(f"{override} is no pair of languages: write SRC-TGT, such as pair=de-en")
        result += [assign(f"task.{side}_lang", language) for side, language in zip(("source", "target"), languages)]
    return result


def read_arguments(file: str | PathLike[str], overrides: Sequence[str]) -> list[str]:
    """The arguments that a file stands for, changed by ``KEY=VALUE`` as for fairseq-hydra-train, with any pair.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if Hydra or fairseq would reject its contents.
    """
    path = Path(file).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"there is no configuration {file}")
    if path.suffix != ".yaml":  # Hydra would read NAME.yaml in its place
        raise ValueError(f"{path}: the name of a configuration must end in .yaml: rename the file")
    overrides = name_languages(overrides, path.parent / "pair")
    try:
        # fairseq-train knows which options there are: one may be in no file, such as model.autocast.
        changes = [re.sub(r"^(?=\w+\.)", "++", quote_path(text)) for text in overrides]
        settings = compose_settings(path.parent, path.stem, ["common.user_dir=user_dir", *changes])
        return configuration_arguments(settings, {text.partition("=")[0].lstrip("+~") for text in overrides})
    except Exception as error:  # whatever Hydra raises names the key or the file
        raise ValueError(f"{path.name}: {error}") from error


def compose_settings(folder: Path, name: str, overrides: Sequence[str] = ()) -> Any:
    """The settings of ``NAME.yaml`` with all that it inherits: group to key to value."""
    from hydra import compose, initialize_config_dir  # only here: most experiments read no such file
    from omegaconf import OmegaConf

    with warnings.catch_warnings():
        # Hydra warns of this version, which holds for the whole process: fairseq calls what 1.2 no longer has.
        warnings.simplefilter("ignore", UserWarning)
        initialize = initialize_config_dir(config_dir=str(folder), version_base="1.1")
    with initialize:
        return OmegaConf.to_container(compose(config_name=name, overrides=list(overrides)), resolve=True)
