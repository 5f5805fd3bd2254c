"""Lets fairseq read the checkpoints it writes, with PyTorch's safe loading left on.

Since PyTorch 2.6 ``torch.load`` refuses every class that is not known to be harmless. fairseq-train writes
``argparse.Namespace`` inside its configuration and, with ``--eval-bleu``, arrays of numpy's among its
meters. The repair names the first, and replaces the others by classes that can hold numbers only: an
untrusted checkpoint still cannot run code.
"""

import argparse


def repair(_checkpoint_utils):
    """Name those classes safe if this PyTorch loads safe classes only."""
    import torch

    major, minor = torch.__version__.split(".")[:2]
    if (int(major), int(minor)) >= (2, 6):
        from .checkpoint_arrays import REPLACEMENTS

        torch.serialization.add_safe_globals([argparse.Namespace, *REPLACEMENTS])
