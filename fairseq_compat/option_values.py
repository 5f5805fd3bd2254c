"""Refuses values of options that mean nothing, in a sentence, before work is lost.

fairseq 0.12.2 takes them: ``--lenpen nan`` lists hypotheses in any order, ``--sampling-topp 1.5`` samples from all
words, ``--nbest 5 --beam 2`` lists two hypotheses, ``--lm-weight`` without a model weighs nothing, ``--lr -1`` and
``--label-smoothing 2`` unlearn, ``--decoder-freeze-embed`` keeps a shared output layer as it was drawn.
``--validate-interval 0`` ends in a ZeroDivisionError after an epoch that nobody saved.
"""

import functools
import math
from dataclasses import fields

_POSITIVE = (lambda number: number >= 1, "at least 1")
#: Which numbers an option may be, and how to say so; None, where it is the default, is no number.
CHECKS = {
    "batch_size": _POSITIVE,
    "batch_size_valid": _POSITIVE,
    "max_tokens": _POSITIVE,
    "max_tokens_valid": _POSITIVE,
    "update_freq": _POSITIVE,
    "log_interval": _POSITIVE,
    "save_interval": _POSITIVE,
    "validate_interval": _POSITIVE,
    "beam": _POSITIVE,
    "nbest": _POSITIVE,
    "lr": (lambda rate: rate >= 0, "at least 0"),
    "label_smoothing": (lambda share: 0 <= share < 1, "at least 0 and below 1"),
    "lenpen": (math.isfinite, "a finite number"),
    "sampling_topp": (lambda share: share < 0 or 0 < share <= 1, "above 0 and at most 1, or negative for none"),
}
#: Options that keep a matrix as it is, and those that make it the output layer's, too.
FROZEN_OUTPUTS = (
    ("decoder_freeze_embed", "share_decoder_input_output_embed"),
    ("decoder_freeze_embed", "share_all_embeddings"),
    ("encoder_freeze_embed", "share_all_embeddings"),
)


def repair(module):
    """Check options where they are parsed, where training begins, and where a search is made."""
    if module.__name__ == "fairseq.options":
        module.parse_args_and_arch = _checking_the_command_line(module.parse_args_and_arch)
    elif module.__name__ == "fairseq_cli.train":
        module.main = _checking_the_configuration(module.main)
    else:
        module.FairseqTask.build_generator = _checking_the_search(module.FairseqTask.build_generator)


def problem(options):
    """What is wrong with options, by name, in a sentence; None if nothing is."""
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        numbers = [number for number in (value if isinstance(value, (list, tuple)) else [value]) if _is_number(number)]
        if any(number != number for number in numbers):
            return f"{flag} must be a number, not nan"
        allowed, what = CHECKS.get(name, (None, ""))
        if allowed is not None and not all(map(allowed, numbers)):
            return f"{flag} must be {what}, not {', '.join(map(str, numbers))}"
    return _contradiction(options)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _contradiction(options):
    nbest = options.get("nbest", 0)
    beam = options.get("beam", nbest)
    if nbest > beam:
        return f"--nbest {nbest} needs a search with as many hypotheses: --beam {nbest}, not --beam {beam}"
    if options.get("lm_weight") and options.get("lm_path") is None:
        return f"--lm-weight {options['lm_weight']} needs a language model: --lm-path"
    for frozen, shared in FROZEN_OUTPUTS:
        if options.get(frozen) and options.get(shared):
            frozen, shared = (f"--{name.replace('_', '-')}" for name in (frozen, shared))
            return f"{frozen} would not train the output layer, which is the same matrix with {shared}: leave one out"
    return None


def _checking_the_command_line(parse):
    @functools.wraps(parse)
    def parse_and_check(parser, *args, **kwargs):
        parsed = parse(parser, *args, **kwargs)
        # A command has some of the options; with suppress_defaults, only what was given is there.
        if message := problem(vars(parsed[0] if isinstance(parsed, tuple) else parsed)):
            parser.error(message)
        return parsed

    return parse_and_check


def _checking_the_configuration(main):
    @functools.wraps(main)
    def main_with_checked_options(cfg, *args, **kwargs):
        from omegaconf import OmegaConf

        # fairseq-hydra-train parses no command line.
        groups = cfg.values() if OmegaConf.is_dict(cfg) else ()
        for group in filter(OmegaConf.is_dict, groups):
            if message := problem(OmegaConf.to_container(group)):
                raise ValueError(message)
        return main(cfg, *args, **kwargs)

    return main_with_checked_options


def _checking_the_search(build_generator):
    @functools.wraps(build_generator)
    def build_checked_generator(self, models, args, *more, **kwargs):
        from fairseq.dataclass.configs import GenerationConfig

        # --eval-bleu-args and Python are no command line either.
        options = {field.name: getattr(args, field.name, field.default) for field in fields(GenerationConfig)}
        message = problem(options)
        softmaxes = [getattr(getattr(model, "decoder", None), "adaptive_softmax", None) for model in models]
        if not message and options["temperature"] != 1 and any(softmax is not None for softmax in softmaxes):
            message = (
                f"--temperature {options['temperature']} does not work with an adaptive softmax, of which fairseq "
                "would divide the input: leave it out"
            )
        if message:
            raise ValueError(message)
        return build_generator(self, models, args, *more, **kwargs)

    return build_checked_generator
