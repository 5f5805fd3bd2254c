"""Refuses what no trained model has, as soon as a checkpoint is read and before anything is made of it.

fairseq 0.12.2 takes what a file holds. Options with an interpolation, such as ``${oc.env:HOME}``, put environment
variables of whoever loads a stranger's checkpoint into what is printed and saved. A model with a NaN translates into
words that mean nothing.
"""

import argparse
import pickle
import re

from .replacements import ModuleView, after_import

#: fairseq keeps the type of numbers in a parameter of this name, whose value is whatever the memory held.
UNINITIALIZED = "_float_tensor"
NO_CHECKPOINT = "it is no checkpoint, or damaged"


@after_import("fairseq.checkpoint_utils")
def look_at_contents(checkpoint_utils):
    """Let ``torch.load``, as fairseq calls it, look at what a file holds, and advise nobody to run its code."""
    torch = checkpoint_utils.torch

    def load(*args, **kwargs):
        try:
            state = torch.load(*args, **kwargs)
        except MemoryError:
            raise
        except Exception as error:
            unsafe = re.search(r"\bGLOBAL (\S+)", str(error))
            holds = unsafe and f"it holds {unsafe[1]}, and nothing that could run code is read from a checkpoint"
            raise pickle.UnpicklingError(holds or NO_CHECKPOINT) from None
        if not isinstance(state, dict):
            raise pickle.UnpicklingError(NO_CHECKPOINT)
        _check_options({name: state.get(name) for name in ("args", "cfg")})
        _check_parameters(state.get("model"))
        return state

    checkpoint_utils.torch = ModuleView(torch, load=load)


def _check_options(options):
    for name, value in _texts(options):
        # Those without a colon name other options; early versions of fairseq left them in.
        if re.search(r"\$\{.*:", value, re.DOTALL):
            raise pickle.UnpicklingError(
                f"its option {name} is {value!r}, which asks for something outside of it, such as environment variables"
            )


def _texts(options, name=""):
    """The texts in options, each with its name."""
    if isinstance(options, argparse.Namespace):
        options = vars(options)
    if isinstance(options, list | tuple):
        options = dict(enumerate(options))
    if isinstance(options, dict):
        for key, value in options.items():
            yield from _texts(value, f"{name}.{key}".removeprefix("."))
    elif isinstance(options, str):
        yield name, options


def _check_parameters(parameters):
    import torch

    for name, value in parameters.items() if isinstance(parameters, dict) else ():
        if isinstance(value, torch.Tensor) and not name.endswith(UNINITIALIZED) and not torch.isfinite(value).all():
            raise pickle.UnpicklingError(
                f"its parameter {name} has numbers that are NaN or infinite: use a checkpoint from before its training "
                "went wrong"
            )
