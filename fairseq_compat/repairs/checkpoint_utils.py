"""Repairs of ``fairseq.checkpoint_utils``: checkpoints are written whole, and read for what they are."""

import contextlib
import os

from fairseq.checkpoint_utils import PathManager, logger

from ..replacements import around
from .comparisons import batch_differences

#: What looks at each checkpoint that is read.
LOOKING: list = []


@contextlib.contextmanager
def looking_at_each(look):
    """While it lasts, `look` gets the name and the contents of each checkpoint that fairseq has read."""
    LOOKING.append(look)
    try:
        yield
    finally:
        LOOKING.remove(look)


@around("fairseq.checkpoint_utils", "PathManager.copy")
def copy_aside(copy, src_path, dst_path, overwrite=False):
    """Copy aside and rename.

    fairseq 0.12.2 copies over ``checkpoint_best.pt`` and ``checkpoint_last.pt`` in place: a kill or a full disk at that
    moment leaves a last checkpoint that cannot be read, and training cannot continue.
    """
    if not overwrite or not PathManager.supports_rename(dst_path):
        return copy(src_path, dst_path, overwrite=overwrite)
    with _written_aside(dst_path) as aside:
        copied = copy(src_path, aside, overwrite=True)
        os.replace(aside, dst_path)
    return copied


@around("fairseq.checkpoint_utils", "torch_persistent_save")
def save_aside(save, obj, filename, async_write=False):
    """Remove what failed, and name the file in the log."""
    with _written_aside(filename):
        save(obj, filename, async_write=async_write)


@around("fairseq.checkpoint_utils", "_torch_persistent_save")
def write_once(write, obj, f):
    """Write once: a second attempt appends to what the first one left, which produces a file that no reader opens."""
    import torch

    return write(obj, f) if isinstance(f, str) else torch.save(obj, f)


@contextlib.contextmanager
def _written_aside(path):
    """Yield fairseq's name for the file next to `path`; if the body fails, remove it to free its space."""
    aside = path + ".tmp"
    try:
        yield aside
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.remove(aside)
        if isinstance(error, Exception):
            message = (
                "%s was not written: %s. Earlier checkpoints are unchanged: "
                "rerun the same command to resume from checkpoint_last.pt once there is room"
            )
            logger.error(message, path, error)
        raise


@around("fairseq.checkpoint_utils", "load_checkpoint_to_cpu")
def load_checkpoint_to_cpu(load, path, *args, **kwargs):
    """Name the file that cannot be loaded, and show it to what looks at each."""
    try:
        state = load(path, *args, **kwargs)
    except Exception as error:
        logger.error("%s cannot be loaded: %s", path, error)
        raise
    for look in list(LOOKING):
        look(path, state)
    return state


@around("fairseq.checkpoint_utils", "load_checkpoint")
def load_and_compare_batches(load, cfg, trainer, **kwargs):
    """Say why training cannot go on in the middle of an epoch, or goes on with other batches.

    A checkpoint says how many batches of its epoch have been seen. If the epoch is divided otherwise when fairseq
    0.12.2 continues, it skips as many of the new batches: pairs come twice, others not at all. It says nothing about
    that unless there are fewer batches than it skips: "please report this to the fairseq developers".
    """
    read: dict = {}

    def remember(path, state):
        position = (state.get("extra_state") or {}).get("train_iterator", {})
        read.update(path=path, cfg=state.get("cfg"), sentences=position.get("sentences"))

    def differences():
        # Of several processes, one has read it.
        return batch_differences(read["cfg"], read["sentences"], trainer) if read.get("cfg") else []

    with looking_at_each(remember):
        try:
            extra_state, epoch_itr = load(cfg, trainer, **kwargs)
        except RuntimeError as error:
            if "dataloader mismatch" not in str(error):
                raise
            reasons = "; ".join(differences()) or "the data or an option has changed"
            raise RuntimeError(
                f"{read.get('path', cfg.restore_file)} was saved in the middle of an epoch that has fewer batches "
                f"now: {reasons}. Continue with what it was saved with, or with --reset-dataloader, which begins with "
                "epoch 1"
            ) from None
    if epoch_itr.iterations_in_epoch > 0 and (reasons := differences()):
        logger.warning(
            "%s was saved in the middle of an epoch with other batches: %s. In this epoch, some pairs come twice "
            "and others not at all; --reset-dataloader begins with epoch 1",
            *(read["path"], "; ".join(reasons)),
        )
    return extra_state, epoch_itr
