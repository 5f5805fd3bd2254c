"""Lets fairseq read the checkpoints it writes, with PyTorch's safe loading left on.

Since PyTorch 2.6, ``torch.load`` rejects every class that is not known to be harmless. fairseq-train writes
``argparse.Namespace`` in its configuration and, with ``--eval-bleu``, numpy arrays in its meters. The repair declares
the first safe and replaces the others with classes that can only hold numbers: an untrusted checkpoint still cannot run
code.
"""

import argparse

from .replacements import after_import


@after_import("fairseq.checkpoint_utils")
def declare_safe(checkpoint_utils):
    """Let ``torch.load`` read those classes."""
    from .checkpoint_arrays import REPLACEMENTS

    checkpoint_utils.torch.serialization.add_safe_globals([argparse.Namespace, *REPLACEMENTS])
