"""Lets the unmodified fairseq 0.12.2 run on current versions of Python and PyTorch without losing work.

A ``.pth`` file installed next to this package calls :func:`install` when Python starts. That only puts one finder on
``sys.meta_path``: a repair is loaded when the module that needs it is imported. No file of another package is changed,
and uninstalling this package is all it takes to get rid of it.

This file runs in every Python process of the environment, whatever its version, so it is short, imports only ``sys``,
and uses the syntax of Python 3.8.
"""

import sys

#: Which repairs belong to which module, and whether they come before or after the module is executed. Each
#: is a module of this package with a function ``repair``, which says what is broken and since when.
REPAIRS = {
    "antlr4": ("before", "typing_io"),
    "dataclasses": ("after", "dataclass_hashes"),
    "fairseq.checkpoint_utils": ("after", "checkpoint_classes", "checkpoint_files"),
    "fairseq.data.dictionary": ("after", "dictionary_files"),
    "fairseq.distributed.utils": ("after", "broadcast_checkpoints"),
    "fairseq.modules.transformer_layer": ("after", "encoder_fast_path"),
    "fairseq.options": ("after", "bfloat16_option"),
    "fairseq.trainer": ("after", "failed_updates"),
    "fairseq.utils": ("after", "unknown_word_copies", "literal_options"),
    "fairseq_cli.train": ("after", "finished_training", "terminated_training"),
    "hydra._internal.utils": ("after", "hydra_error_report"),
    "hydra.core.plugins": ("after", "hydra_plugin_scan"),
}

#: Other modules of fairseq that evaluate options.
EVALUATING = (
    "criterions.ctc",
    "data.audio.raw_audio_dataset",
    "data.codedataset",
    "models.fconv",
    "models.fconv_lm",
    "models.fconv_self_att",
    "models.hubert.hubert",
    "models.lightconv_lm",
    "models.speech_to_text.s2t_wav_transformer",
    "models.transformer_lm",
    "models.wav2vec.wav2vec",
    "models.wav2vec.wav2vec2",
    "optim.adafactor",
    "optim.adam",
    "optim.adamax",
    "optim.cpu_adam",
    "optim.fused_lamb",
)
REPAIRS.update(("fairseq." + name, ("after", "literal_options")) for name in EVALUATING)


class RepairFinder:
    """Finds the modules of :data:`REPAIRS` with the other finders and attaches their repairs."""

    def find_spec(self, fullname, path=None, target=None):
        """Return the other finders' spec of `fullname` with its repair, or None if there is none."""
        if fullname not in REPAIRS:
            return None
        from .repair_loader import add_repair

        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        specs = (finder.find_spec(fullname, path, target) for finder in others)
        return add_repair(next((spec for spec in specs if spec is not None), None))


def install():
    """Put the finder at the front of ``sys.meta_path``; a second call does nothing.

    A module that was imported earlier is repaired on the spot.
    """
    if any(isinstance(finder, RepairFinder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, RepairFinder())
    for name in REPAIRS.keys() & sys.modules.keys():
        from .repair_loader import repair

        repair(sys.modules[name])
