"""Refuses what no trained model has, as soon as a checkpoint is read and before anything is made of it.

fairseq 0.12.2 takes what a file holds. Options with an interpolation, such as ``${oc.env:HOME}``, put environment
variables of whoever loads a stranger's checkpoint into what is printed and saved. A model with a NaN translates into
words that mean nothing. And a small file may unpack to more than there is memory.
"""

import argparse
import os
import pickle
import re
import zipfile

from .module_view import ModuleView
from .replacements import after_import

#: How many times as large as its file what is in it may be. PyTorch compresses nothing.
MOST_UNPACKED = 10
#: fairseq keeps the type of numbers in a parameter of this name, whose value is whatever the memory held.
UNINITIALIZED = "_float_tensor"


@after_import("fairseq.checkpoint_utils")
def look_at_contents(checkpoint_utils):
    """Let ``torch.load``, as fairseq calls it, look at the file before and at what it holds after."""
    torch = checkpoint_utils.torch

    def load(file, *args, **kwargs):
        _check_size(file)
        state = torch.load(file, *args, **kwargs)
        if isinstance(state, dict):
            _check_options({name: state.get(name) for name in ("args", "cfg")})
            _check_parameters(state.get("model"))
        return state

    checkpoint_utils.torch = ModuleView(torch, load=load)


def _check_size(file):
    size = os.fstat(file.fileno()).st_size
    if zipfile.is_zipfile(file):
        unpacked = sum(entry.file_size for entry in zipfile.ZipFile(file).infolist())
        if unpacked > MOST_UNPACKED * size:
            raise pickle.UnpicklingError(f"its {size} bytes unpack to {unpacked}, and PyTorch compresses no checkpoint")
    file.seek(0)


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
        if not isinstance(value, torch.Tensor) or name.endswith(UNINITIALIZED):
            continue
        if value.numel() * value.element_size() > value.untyped_storage().nbytes():
            raise pickle.UnpicklingError(f"its parameter {name} of {value.numel()} numbers has fewer in the file")
        if not torch.isfinite(value).all():
            raise pickle.UnpicklingError(
                f"its parameter {name} has numbers that are NaN or infinite: use a checkpoint from before its training "
                "went wrong"
            )
