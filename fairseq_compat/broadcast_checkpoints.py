"""Lets several processes go on from a checkpoint, with PyTorch's safe loading left on.

One process reads the file and fairseq 0.12.2 sends what it holds to the others through ``torch.save`` and
``torch.load``, which refuses two classes in it since PyTorch 2.6: OmegaConf's, of the configuration, and fairseq's own
that stands for a tensor. The repair sends the configuration as plain dictionaries, and names the second, which holds
one number, safe.
"""

import functools


def repair(distributed_utils):
    """Wrap ``fairseq.distributed.utils._broadcast_object_slow`` if this PyTorch loads safe classes only."""
    import torch

    major, minor = torch.__version__.split(".")[:2]
    if (int(major), int(minor)) < (2, 6):
        return
    torch.serialization.add_safe_globals([distributed_utils._TensorPlaceholder])
    broadcast = distributed_utils._broadcast_object_slow

    @functools.wraps(broadcast)
    def broadcast_plain(obj, *args, **kwargs):
        return broadcast(_plain(obj), *args, **kwargs)

    distributed_utils._broadcast_object_slow = broadcast_plain


def _plain(obj):
    """Return `obj` with the configurations in it, if it is a dictionary, as plain ones."""
    from omegaconf import OmegaConf

    if not isinstance(obj, dict):
        return obj
    return {
        key: OmegaConf.to_container(value, enum_to_str=True) if OmegaConf.is_config(value) else value
        for key, value in obj.items()
    }
