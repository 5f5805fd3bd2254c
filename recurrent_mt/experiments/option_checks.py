"""What the schema of an experiment's options cannot say: which of them go together, and which would be ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .training_command import check_training_flag

BUDGETS = ("updates", "epochs", "minutes")
#: Decided by the configuration of an ablation, where it has one.
SETTINGS = (
    *("embedding_size", "encoder_size", "decoder_size", "tied", "layer_norm", "max_tokens", "dropout"),
    *("learning_rate", "schedule", "warmup", "label_smoothing"),
)

#: What text is collected with.
COLLECTION = ("size", "add", "cleaning", "select_words", "mirror", "checksums")

#: Of the settings, what an ablation without a configuration sets by flags.
SIZES = ("embedding_size", "encoder_size", "decoder_size", "tied", "layer_norm")
#: What follows the flags on every command line of fairseq-train, so that a flag would do nothing.
FIXED = (
    *("seed", "max_update", "max_epoch", "stop_time_hours", "save_dir", "num_workers", "no_epoch_checkpoints"),
    *("save_interval_updates", "keep_interval_updates", "log_format", "log_interval"),
)


class OptionError(ValueError):
    """An invalid option; the message names the file, or the command line, and the option."""


def check_together(options: Mapping[str, Any], place: str) -> None:
    """What no option can be checked for alone.

    Raises:
        OptionError: naming the options.
    """
    source, target = options["pair"].split("-")
    if source == target:
        raise OptionError(f"{place}: source and target language of pair are both {source}")
    if options["systems"] and not any(budget in options for budget in BUDGETS):
        raise OptionError(f"{place}: give a budget: {', '.join(BUDGETS)}")
    baseline = options["baseline"]
    if baseline is not None and baseline not in options["systems"]:
        raise OptionError(f"{place}: baseline {baseline} is not among the systems {', '.join(options['systems'])}")
    check_flags(options, place)
    check_kind(options, place)
    if any("e" in f"{exponent:g}" for exponent in options["lenpens"]):  # they are part of files' names
        raise OptionError(f"{place}: lenpens must be 0 or from 0.0001 to 999999")
    if options["extra_tests"] and options["corpus"] is None:
        raise OptionError(f"{place}: extra_tests needs a corpus: the synthetic one has a language of its own")


def check_kind(options: Mapping[str, Any], place: str) -> None:
    """What only an ablation takes, or only a comparison.

    Raises:
        OptionError: naming the option.
    """
    if isinstance(options["systems"], dict):
        if options["baseline"] is None:
            raise OptionError(f"{place}: an ablation needs a baseline: one of {', '.join(options['systems'])}")
        for key in ("learning_rates", "extra_tests", "beams", "without_unknown"):
            if options[key]:
                raise OptionError(f"{place}: an ablation takes no {key}")
    elif options["configuration"]:
        raise OptionError(f"{place}: configuration is for ablations: name {options['configuration']} among the systems")
    elif options["flags"]:
        raise OptionError(f"{place}: flags are for ablations, whose systems are a mapping")


def check_flags(options: Mapping[str, Any], place: str) -> None:
    """What an ablation puts on the command line of fairseq-train: options with values, and no code.

    Raises:
        OptionError: naming the option.
    """
    own = options["systems"].values() if isinstance(options["systems"], dict) else []
    if "segmentation" in options["flags"]:
        raise OptionError(f"{place}: segmentation is an option of the experiment and of its systems, and no flag")
    for flags in (options["flags"], *own):
        if len({flag.replace("_", "-") for flag in flags}) < len(flags):
            raise OptionError(f"{place}: flags are there twice, with hyphens and with underscores: {', '.join(flags)}")
        for flag, value in flags.items():
            try:
                check_flag(flag, value)
            except ValueError as error:
                raise OptionError(f"{place}: {error}") from None


def check_flag(flag: str, value: object) -> None:
    """What a system sets of fairseq-train's options must change the training, and nothing else.

    Raises:
        ValueError: naming the option.
    """
    if flag.lower().replace("-", "_") in FIXED:
        raise ValueError(f"{flag} cannot be a flag: the experiment sets it for every training")
    check_training_flag(flag, value)


def check_ignored(given: Mapping[str, Any], options: Mapping[str, Any], place: str) -> None:
    """Rejects options that would be ignored.

    Raises:
        OptionError: naming the option.
    """
    for key in COLLECTION:
        if key in given and not options["published"]:
            raise OptionError(f"{place}: {key} is for collected text, as of prepare_fr_en.sh: there is no `published`")
    if not isinstance(options["systems"], dict):
        return
    configuration = options["configuration"]
    for key in SETTINGS if configuration else SIZES:
        if key in given:
            owner = f"configuration {configuration}'s" if configuration else "no option of an ablation"
            raise OptionError(f"{place}: {key} is {owner}: flags can change it")


def check_lines(value: Any, place: str) -> None:
    """Refuses a line feed, which the schema's patterns let through at the end of a text, and other control characters.

    Raises:
        OptionError: naming the text.
    """
    texts = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value if isinstance(value, list) else []
    for text in texts:
        check_lines(text, place)
    if isinstance(value, str) and not value.isprintable():
        raise OptionError(f"{place}: {value!r} has a character that cannot be seen")
