"""Repairs of ``fairseq.options``: what is made of a command line."""

import sys

from ..replacements import around


@around("fairseq.options", "parse_args_and_arch")
def parse_args_and_arch(parse, parser, input_args=None, *args, **kwargs):
    """Ask for a TPU only if the user does.

    fairseq 0.12.2 takes ``--bf16`` and ``--memory-efficient-bf16`` as a request to train on a TPU, and stops without
    ``torch_xla``: "'NoneType' object has no attribute 'xla_device'". Its trainer and its optimizers need no TPU for
    bfloat16, as ``fairseq-hydra-train common.bf16=true`` shows.
    """
    parsed = parse(parser, input_args, *args, **kwargs)
    namespace = parsed[0] if isinstance(parsed, tuple) else parsed
    if getattr(namespace, "tpu", False) and not parser.get_default("tpu"):
        namespace.tpu = "--tpu" in (sys.argv[1:] if input_args is None else input_args)
    return parsed
