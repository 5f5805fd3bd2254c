"""Lets several processes continue from a checkpoint, with PyTorch's safe loading left on.

One process reads the file, and fairseq 0.12.2 sends its contents to the others through ``torch.save`` and
``torch.load``. Since PyTorch 2.6, that rejects two classes: OmegaConf's configuration class, and fairseq's own class
that stands for a tensor. The repair sends the configuration as plain dictionaries, and declares the second class, which
holds one number, safe.
"""

from .replacements import after_import, around


@after_import("fairseq.distributed.utils")
def declare_safe(distributed_utils):
    """Let ``torch.load`` read fairseq's class."""
    import torch

    torch.serialization.add_safe_globals([distributed_utils._TensorPlaceholder])


@around("fairseq.distributed.utils", "_broadcast_object_slow")
def broadcast_plain(broadcast, obj, *args, **kwargs):
    """Send `obj`, if it is a dictionary, with the configurations in it as plain dictionaries."""
    from omegaconf import OmegaConf

    if isinstance(obj, dict):
        obj = {
            key: OmegaConf.to_container(value, enum_to_str=True) if OmegaConf.is_config(value) else value
            for key, value in obj.items()
        }
    return broadcast(obj, *args, **kwargs)
