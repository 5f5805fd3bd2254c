"""Lets several processes continue from a checkpoint, with PyTorch's safe loading left on.

One process reads the file, and fairseq 0.12.2 sends its contents to the others through ``torch.save`` and
``torch.load``. Since PyTorch 2.6, that rejects two classes: OmegaConf's configuration class, and fairseq's own class
that stands for a tensor. The repair sends the configuration as plain dictionaries, and declares the second class, which
holds one number, safe.
"""

import functools


def repair(distributed_utils):
    """Wrap ``fairseq.distributed.utils._broadcast_object_slow`` if this PyTorch only loads safe classes."""
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
    """Return `obj`, if it is a dictionary, with the configurations in it as plain dictionaries."""
    from omegaconf import OmegaConf

    if not isinstance(obj, dict):
        return obj
    return {
        key: OmegaConf.to_container(value, enum_to_str=True) if OmegaConf.is_config(value) else value
        for key, value in obj.items()
    }
