"""Lets ``--bf16`` train on a CPU or a GPU.

fairseq 0.12.2 takes ``--bf16`` and ``--memory-efficient-bf16`` as a request to train on a TPU, and stops without
``torch_xla``: "'NoneType' object has no attribute 'xla_device'". Its trainer and its optimizers need no TPU for
bfloat16, as ``fairseq-hydra-train common.bf16=true`` shows. With the repair, only ``--tpu`` asks for a TPU.
"""

import functools
import sys


def repair(options):
    """Make ``fairseq.options.parse_args_and_arch`` set ``tpu`` only if the user did."""
    parse = options.parse_args_and_arch

    @functools.wraps(parse)
    def parse_without_implied_tpu(parser, input_args=None, *args, **kwargs):
        parsed = parse(parser, input_args, *args, **kwargs)
        namespace = parsed[0] if isinstance(parsed, tuple) else parsed
        arguments = sys.argv[1:] if input_args is None else input_args
        if getattr(namespace, "tpu", False) and not parser.get_default("tpu"):
            namespace.tpu = "--tpu" in arguments
        return parsed

    options.parse_args_and_arch = parse_without_implied_tpu
