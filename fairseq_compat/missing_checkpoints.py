"""Refuses to begin a training from a checkpoint that does not exist.

fairseq 0.12.2 trains from the beginning where ``--restore-file`` or ``--continue-once`` names no file.
"""

import functools
import os


def repair(trainer_module):
    """Let ``fairseq.trainer.Trainer.load_checkpoint`` raise an error, except for the last checkpoint in --save-dir."""
    load_checkpoint = trainer_module.Trainer.load_checkpoint

    @functools.wraps(load_checkpoint)
    def load_what_exists(self, filename, *args, **kwargs):
        options = self.cfg.checkpoint
        last = last_checkpoint(options, self.checkpoint_suffix)
        if os.path.abspath(filename) != os.path.abspath(last) and not trainer_module.PathManager.isfile(filename):
            raise FileNotFoundError(
                f"{_option(options)} {filename}: there is no such file{_folder(filename)}; without that option, "
                f"training continues from {last}, or begins"
            )
        return load_checkpoint(self, filename, *args, **kwargs)

    trainer_module.Trainer.load_checkpoint = load_what_exists


def last_checkpoint(options, suffix):
    """The file from which a training that is called again goes on, by its options of checkpoints."""
    return os.path.join(options.save_dir, f"checkpoint_last{suffix}.pt")


def _option(options):
    """The option that the name comes from, as ``fairseq.checkpoint_utils.load_checkpoint`` chooses it."""
    if options.restore_file != "checkpoint_last.pt":
        return "--restore-file"
    return "--continue-once" if options.continue_once is not None else "--finetune-from-model"


def _folder(filename):
    """Where it was looked for: hydra starts each training in a folder of its own."""
    return "" if os.path.isabs(filename) else f" in {os.getcwd()}"
