"""Makes a checkpoint appear complete or not at all, and names the file when that fails.

fairseq 0.12.2 writes one checkpoint aside and renames it, but copies it over ``checkpoint_best.pt`` and
``checkpoint_last.pt`` in place: a kill or a full disk at that moment leaves a last checkpoint that cannot be read, and
training cannot continue. Its second attempt to write a file appends to what the first one left, which produces a file
that no reader opens, and renames it. Neither its errors nor PyTorch's name the file, and for one that is no checkpoint,
PyTorch advises to turn the protection against code in it off.
"""

import contextlib
import functools
import os
import pickle
import re
import zipfile


def repair(checkpoint_utils):
    """Copy aside and rename, write once, remove what failed, and name the file in the log."""
    path_manager = checkpoint_utils.PathManager
    copy, save, write = (
        path_manager.copy,
        checkpoint_utils.torch_persistent_save,
        checkpoint_utils._torch_persistent_save,
    )
    logger = checkpoint_utils.logger

    @functools.wraps(copy)
    def copy_aside(src_path, dst_path, overwrite=False):
        if not overwrite or not path_manager.supports_rename(dst_path):
            return copy(src_path, dst_path, overwrite=overwrite)
        with _written_aside(dst_path, logger) as aside:
            copied = copy(src_path, aside, overwrite=True)
            os.replace(aside, dst_path)
        return copied

    @functools.wraps(save)
    def save_aside(obj, filename, async_write=False):
        with _written_aside(filename, logger):
            save(obj, filename, async_write=async_write)

    @functools.wraps(write)
    def write_once(obj, f):
        import torch

        return write(obj, f) if isinstance(f, str) else torch.save(obj, f)

    path_manager.copy = staticmethod(copy_aside)
    checkpoint_utils.torch_persistent_save = save_aside
    checkpoint_utils._torch_persistent_save = write_once
    checkpoint_utils.load_checkpoint_to_cpu = _naming_the_file(checkpoint_utils.load_checkpoint_to_cpu, logger)


@contextlib.contextmanager
def _written_aside(path, logger):
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


def _naming_the_file(load, logger):
    @functools.wraps(load)
    def load_or_name(path, *args, **kwargs):
        try:
            return load(path, *args, **kwargs)
        except Exception as error:
            reason = _what_it_is_not(path, error)
            shown = reason or str(error).partition("\n")[0] or type(error).__name__
            logger.error("%s cannot be loaded: %s", path, shown)
            if reason:
                raise pickle.UnpicklingError(reason) from None
            raise

    return load_or_name


def _what_it_is_not(path, error):
    """Why a file is no checkpoint; None if it might be one, and something else is wrong."""
    unsafe = re.search(r"\bGLOBAL (\S+)", str(error))
    if unsafe:
        return f"it holds {unsafe[1]}, and nothing that could run code is read from a checkpoint"
    damaged = isinstance(error, EOFError) or "weights_only" in str(error)
    if damaged or (os.path.isfile(path) and not _may_be_saved_by_torch(path)):
        return "it is no checkpoint, or damaged"
    return None


def _may_be_saved_by_torch(path):
    """Whether a file is an archive, or begins as a pickle does, which is what PyTorch wrote before version 1.6."""
    with open(path, "rb") as file:
        return file.read(1) == b"\x80" or zipfile.is_zipfile(file)
