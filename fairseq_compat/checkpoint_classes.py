"""Lets fairseq read the checkpoints it writes, with PyTorch's safe loading left on.

Since PyTorch 2.6, ``torch.load`` rejects every class that is not known to be harmless. fairseq-train writes
``argparse.Namespace`` in its configuration and, with ``--eval-bleu``, numpy arrays in its meters. The repair declares
the first safe and replaces the others with classes that can only hold numbers: an untrusted checkpoint still cannot run
code.
"""

import argparse


def repair(_checkpoint_utils):
    """Declare those classes safe if this PyTorch only loads safe classes."""
    import torch

    major, minor = torch.__version__.split(".")[:2]
    if (int(major), int(minor)) >= (2, 6):
        from .checkpoint_arrays import REPLACEMENTS

        torch.serialization.add_safe_globals([argparse.Namespace, *REPLACEMENTS])
