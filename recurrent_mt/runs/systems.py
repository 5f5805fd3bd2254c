"""The options of fairseq-train that the name of a system stands for."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Any

from .corpora import POSITION_LIMIT
from .experiment import CONFIGURATIONS, Experiment, names_configuration
from .training_command import ARCHITECTURES, assign, check_flags, option_words, read_arguments

#: fairseq's own; all others are of this project.
STOCK = ("lstm", "fconv", "transformer")
ATTENTIONS = ("none", "additive", "dot", "general", "scaled_dot", "scaled_general")
#: Updates over which the learning rate rises: the 4,000 of Vaswani et al. (2017) if the budget has ten
#: times as many, and this many if it is not counted in updates.
LONGEST_WARMUP, UNCOUNTED_WARMUP = 4000, 400
#: What differs from seed to seed, and from place to place.
SEED, PLUGIN, DATA = "{seed}", "{plugin}", "{data}"


def list_training_arguments(experiment: Experiment) -> dict[str, list[str]]:
    """What follows ``fairseq-train`` for each system: data, model, objective, optimizer, and batches, but no budget.

    A file of configs/ brings its own, to an ablation, too; all other systems share the experiment's.

    Raises:
        ValueError: if there is no such system.
    """
    # All systems of an ablation share one file, which takes hydra a tenth of a second to read.
    read = cache(lambda name: configured_arguments(name, experiment))
    return {name: training_arguments(name, experiment, read) for name in experiment.systems}


def training_arguments(name: str, experiment: Experiment, read: Callable[[str], list[str]]) -> list[str]:
    """The arguments that one system is trained with; ``read`` returns what a file of configs/ stands for.

    Raises:
        ValueError: as of `read_name`.
    """
    if not experiment.ablation and names_configuration(name):
        return [*read(name), "--seed", SEED]
    changed = own_flags(name, experiment)
    model = str(changed.get("arch", "")) if experiment.ablation else read_name(name)[0]
    if experiment.ablation and experiment.configuration:
        common = read(experiment.configuration)
        check_left_out(name, experiment, common)
        return [*without(changed, common), *flag_arguments(changed), "--seed", SEED]
    source, target = experiment.languages
    shared = [
        *("--task", "translation", "--source-lang", source, "--target-lang", target),
        *("--dropout", str(experiment.dropout), "--optimizer", "fused_adam"),
        *("--lr", experiment.learning_rate, "--clip-norm", "1.0"),
        *schedule_arguments(model, experiment),
        *objective_arguments(stock=model in STOCK and not experiment.ablation, smoothing=experiment.label_smoothing),
        *("--max-tokens", str(experiment.max_tokens)),
        # A model of an ablation has the sizes that its flags say.
        *([] if experiment.ablation else model_arguments(model, changed, experiment)),
    ]
    check_left_out(name, experiment, shared)
    return [DATA, "--user-dir", PLUGIN, *without(changed, shared), *flag_arguments(changed), "--seed", SEED]


def configured_arguments(name: str, experiment: Experiment) -> list[str]:
    """The arguments that a file of configs/ stands for, with the data and languages of this experiment.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if fairseq would reject its contents.
    """
    source, target = experiment.languages
    languages = [f"task.source_lang={source}", f"task.target_lang={target}"]
    places = [assign("common.user_dir", PLUGIN), assign("task.data", DATA)]
    found = read_arguments(CONFIGURATIONS / f"{name}.yaml", [*places, *languages])
    # What follows has the experiment's budget, but says nothing of the time if that is counted otherwise.
    return list(without({"stop-time-hours"}, found))


def own_flags(name: str, experiment: Experiment) -> dict[str, Any]:
    """What one system sets of fairseq-train's options, by the names that they have on a command line."""
    if not experiment.ablation:
        return read_name(name)[1]
    own = {key: value for key, value in experiment.changes[name].items() if key != "segmentation"}
    return {key.replace("_", "-"): value for flags in (experiment.flags, own) for key, value in flags.items()}


def check_left_out(name: str, experiment: Experiment, arguments: Sequence[str]) -> None:
    """What a system switches off must be on without it, or in another system: else, a mistyped name would do nothing.

    Args:
        name: of the system.
        experiment: with all its systems.
        arguments: that the system starts from.

    Raises:
        ValueError: naming the option.
    """
    known = {*arguments, *chain(*(flag_arguments(own_flags(other, experiment)) for other in experiment.systems))}
    for key, value in own_flags(name, experiment).items():
        if (value is None or value is False) and not option_words(key, value) and f"--{key}" not in known:
            raise ValueError(f"{name} switches off {key}, which is on in no system: is that the name of an option?")


def without(flags: Collection[str], arguments: Sequence[str]) -> Iterator[str]:
    """The arguments but for these options and their values."""
    dropped = False
    for word in arguments:
        if word.startswith("--"):
            dropped = word[2:] in flags
        if not dropped:
            yield word


def has_positions(arguments: Sequence[str]) -> bool:
    """Whether a model has a fixed number of positions; our encoders and fairseq's lstm have none."""
    architectures = [value for option, value in pairwise(arguments) if option == "--arch"] or ["fconv"]
    return not all(name.startswith("lstm") or name.endswith("_encoder") for name in architectures)


def schedule_arguments(name: str, experiment: Experiment) -> list[str]:
    """How the learning rate changes; the transformer does not train with a constant one."""
    if experiment.schedule == "constant" and name != "transformer":
        return []
    return ["--lr-scheduler", "inverse_sqrt", "--warmup-updates", str(warmup_updates(experiment))]


def objective_arguments(*, stock: bool, smoothing: float) -> list[str]:
    """Cross-entropy; user_dir's gives fairseq's numbers in less memory."""
    if not stock:
        criterion = "chunked_cross_entropy"
    else:
        criterion = "label_smoothed_cross_entropy" if smoothing else "cross_entropy"
    return ["--criterion", criterion, *(["--label-smoothing", str(smoothing)] if smoothing else [])]


def model_arguments(name: str, own: Collection[str], experiment: Experiment) -> list[str]:
    """The architecture and its sizes; ``own`` are the options that the system sets itself.

    grconv_encoder has no directions: it is as wide as a bidirectional encoder's annotations.

    Raises:
        ValueError: if there is no such system.
    """
    decoder, encoder, embedding = experiment.decoder_size, experiment.encoder_size, experiment.embedding_size
    # A matrix that both looks words up and scores them has one width.
    shared = [f"--share-{'' if name == 'fconv' else 'decoder-'}input-output-embed"] if experiment.tied else []
    output = ["--decoder-out-embed-dim", str(embedding if experiment.tied else decoder), *shared]
    embeddings = flag_arguments({"encoder-embed-dim": embedding, "decoder-embed-dim": embedding})
    recurrent = [*embeddings, "--decoder-hidden-size", str(decoder), *output]
    directions = ["--encoder-bidirectional", "--encoder-hidden-size", str(encoder)]
    if name == "lstm":
        return [*recurrent, "--arch", "lstm", *directions, "--decoder-attention", "1"]
    if name == "fconv":
        return convolution_arguments(decoder, [*embeddings, *output])
    if name == "transformer":
        return [*transformer_arguments(decoder), *shared]
    architecture, _, attention = name.partition("-")
    if architecture not in ARCHITECTURES or attention not in ATTENTIONS:
        raise ValueError(
            f"unknown system '{name}': choose {', '.join(STOCK)}, one of {', '.join(ARCHITECTURES)} followed by a "
            f"hyphen and one of {', '.join(ATTENTIONS)}, or the name of a file of configs/ alone; after the others, "
            "+OPTION=VALUE sets an option of fairseq-train, as in grconv_encoder-none+grconv-height=2"
        )
    # A stack of recurrences in both directions has the size of one of them; others have that of their annotations.
    widths = {"gru_encoder": directions, "min_gru_encoder": ["--encoder-hidden-size", str(encoder)]}
    width = widths.get(architecture, ["--encoder-hidden-size", str(2 * encoder)])
    # The pyramid of grConv as published is not normalized.
    normalizes = architecture in widths or "grconv-dilated" in own
    norms = [f"--{side}-layer-norm" for side in ("encoder", "decoder")[not normalizes :] if experiment.layer_norm]
    return [*recurrent, "--arch", architecture, *width, "--decoder-attention", attention, *norms]


def read_name(name: str) -> tuple[str, dict[str, Any]]:
    """Reads ``MODEL+OPTION=VALUE+OPTION``, as in ``grconv_encoder-none+grconv-height=2+dropout=0.3``.

    Returns:
        The model, and options of fairseq-train with their values, True where there is none.

    Raises:
        ValueError: if an option could do more than change a training, or is there twice.
    """
    model, *settings = name.split("+")
    own: dict[str, Any] = {}
    for setting in settings:
        flag, _, value = setting.partition("=")
        known = {"": True, "true": True, "false": False}
        check_flags({flag: known.get(value, value)})
        flag = flag.replace("_", "-")
        if flag in own:
            raise ValueError(f"{name} sets {flag} twice")
        if flag == "segmentation":
            raise ValueError(f"{name}: only a system of an ablation has a segmentation of its own")
        own[flag] = known.get(value, value)
    return model, own


def convolution_arguments(decoder_size: int, words: list[str]) -> list[str]:
    """Layers and kernels of fairseq's fconv_iwslt_de_en, half as wide as the recurrent decoder.

    With the output of the recurrent models: 5% fewer parameters than the lstm at 256 and 512 units and 6,000 words a
    side. Two positions of fconv's tables are never used: with fairseq's default of 1,024, it would reject sentences
    that the transformer accepts.
    """
    width, positions = math.ceil(decoder_size / 2), POSITION_LIMIT + 3
    layers = ["--encoder-layers", f"[({width}, 3)] * 4", "--decoder-layers", f"[({width}, 3)] * 3"]
    limits = flag_arguments({"max-source-positions": positions, "max-target-positions": positions})
    return ["--arch", "fconv", *words, *layers, *limits]


def transformer_arguments(decoder_size: int) -> list[str]:
    """Half as wide as the recurrent decoder, in whole multiples of eight, three layers a side.

    5% fewer parameters than the lstm where fconv has 5% fewer. Four heads as in fairseq's transformer_iwslt_de_en;
    Adam of Vaswani et al. (2017).
    """
    width = 8 * math.ceil(decoder_size / 16)
    result = ["--arch", "transformer"]
    for side in ("encoder", "decoder"):
        result += [f"--{side}-embed-dim", str(width), f"--{side}-ffn-embed-dim", str(4 * width)]
        result += [f"--{side}-attention-heads", "4", f"--{side}-layers", "3"]
    return [*result, "--adam-betas", "(0.9, 0.98)"]


def warmup_updates(experiment: Experiment) -> int:
    """A tenth of the budget, within bounds, unless the experiment says otherwise."""
    if experiment.warmup:
        return experiment.warmup
    if experiment.updates is None:
        return UNCOUNTED_WARMUP
    return max(1, min(experiment.updates // 10, LONGEST_WARMUP))


def flag_arguments(values: Mapping[str, Any]) -> list[str]:
    """``--key value`` for each; ``true`` is a flag without a value, ``false`` and ``null`` nothing."""
    return [word for key, value in values.items() for word in option_words(key, value)]


def budget_arguments(experiment: Experiment) -> list[str]:
    """When training ends.

    Zero means no limit: a file of configs/ has its own limits, which come first. fairseq counts the time of validations
    and checkpoints, and keeps the count in its checkpoints: what a kill undid is not counted.
    """
    if experiment.updates is not None:
        return ["--max-epoch", "0", "--max-update", str(experiment.updates)]
    if experiment.epochs is not None:
        return ["--max-update", "0", "--max-epoch", str(experiment.epochs)]
    assert experiment.minutes is not None  # one of the three is there
    return ["--max-update", "0", "--max-epoch", "0", "--stop-time-hours", f"{experiment.minutes / 60:.6f}"]
