"""Lets the unmodified fairseq 0.12.2 run on current versions of Python, PyTorch, and numpy without losing work.

A ``.pth`` file installed next to this package calls :func:`install` when Python starts. That only puts one finder on
``sys.meta_path``: a repair is loaded when the module that needs it is imported. No file of another package is changed,
and uninstalling this package is all it takes to get rid of it.

This file runs in every Python process of the environment, so it is short and imports only ``sys``.
"""

import sys

#: Files of this package without which fairseq does not run on current versions, or runs code of a checkpoint, and the
#: modules that each of them repairs. What exactly is broken, and since when, its docstring says.
NEEDED = {
    "broadcast_checkpoints": ("fairseq.distributed.utils",),
    "checkpoint_classes": ("fairseq.checkpoint_utils",),
    "checkpoint_contents": ("fairseq.checkpoint_utils",),
    "dataclass_hashes": ("dataclasses",),
    "encoder_fast_path": ("fairseq.modules.transformer_layer",),
    "inherited_settings": ("fairseq.dataclass.initialize",),
    "lazy_help": ("hydra._internal.utils",),
    "literal_options": (
        *("fairseq.utils", "fairseq.criterions.ctc"),
        *("fairseq.data.audio.raw_audio_dataset", "fairseq.data.codedataset"),
        *("fairseq.models.fconv", "fairseq.models.fconv_lm", "fairseq.models.fconv_self_att"),
        *("fairseq.models.hubert.hubert", "fairseq.models.lightconv_lm", "fairseq.models.transformer_lm"),
        "fairseq.models.speech_to_text.s2t_wav_transformer",
        *("fairseq.models.wav2vec.wav2vec", "fairseq.models.wav2vec.wav2vec2"),
        *("fairseq.optim.adafactor", "fairseq.optim.adam", "fairseq.optim.adamax"),
        *("fairseq.optim.cpu_adam", "fairseq.optim.fused_lamb"),
    ),
    "merged_data_sizes": ("fairseq.data.indexed_dataset",),
    "needless_advice": ("fairseq.dataclass.initialize",),
    "numpy_names": (
        *("fairseq.data.data_utils", "fairseq.data.language_pair_dataset", "fairseq.data.token_block_dataset"),
        "fairseq.modules.dynamic_crf_layer",
    ),
    "optional_types": ("fairseq.dataclass.utils",),
}
#: Files for what fairseq does wrong, and the modules that each of them repairs. They change what it does, and are left
#: out with FAIRSEQ_COMPAT=minimal in the environment: for whoever reproduces a number of fairseq's.
REPAIRS = {
    "repairs.checkpoint_utils": ("fairseq.checkpoint_utils",),
    "repairs.data": ("fairseq.data.dictionary", "fairseq_cli.preprocess"),
    "repairs.distributed": ("fairseq.distributed.utils",),
    "repairs.generate": ("fairseq_cli.generate", "fairseq_cli.interactive"),
    "repairs.iterators": ("fairseq.data.iterators",),
    "repairs.optim": ("fairseq.models.ema.ema", "fairseq.optim.fp16_optimizer"),
    "repairs.options": ("fairseq.options",),
    "repairs.search": ("fairseq.ngram_repeat_block",),
    "repairs.tasks": ("fairseq.models", "fairseq.tasks.fairseq_task", "fairseq.tasks.translation"),
    "repairs.text_lines": (
        *("fairseq.data.dictionary", "fairseq.data.huffman.huffman_coder", "fairseq.data.indexed_dataset"),
        *("fairseq.file_chunker_utils", "fairseq.tasks.sentence_prediction", "fairseq.tasks.sentence_ranking"),
        *("fairseq.utils", "fairseq_cli.interactive", "fairseq_cli.preprocess", "fairseq_cli.score"),
    ),
    "repairs.train": ("fairseq_cli.train",),
    "repairs.trainer": ("fairseq.trainer",),
    "repairs.unknown_words": ("fairseq.utils",),
    "repairs.word_vectors": ("fairseq.utils",),
}

#: For each module, the files that repair it.
MODULES: dict[str, list[str]] = {}
for _file, _modules in (*NEEDED.items(), *REPAIRS.items()):
    for _module in _modules:
        MODULES.setdefault(_module, []).append(_file)


class RepairFinder:
    """Finds the modules of :data:`MODULES` with the other finders and attaches their repairs."""

    def __init__(self):
        self._searched = set()

    def find_spec(self, fullname, path=None, target=None):
        """Return the other finders' spec of `fullname` with its repair, or None if there is none."""
        # A finder that asks the others, as this one does, asks this one: the module would be repaired twice.
        if fullname not in MODULES or fullname in self._searched:
            return None
        from .repair_loader import add_repair

        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        specs = (finder.find_spec(fullname, path, target) for finder in others)
        self._searched.add(fullname)
        try:
            return add_repair(next((spec for spec in specs if spec is not None), None))
        finally:
            self._searched.discard(fullname)


def install():
    """Put the finder at the front of ``sys.meta_path``; a second call does nothing.

    A module that was imported earlier is repaired on the spot.
    """
    if any(isinstance(finder, RepairFinder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, RepairFinder())
    for name in MODULES.keys() & sys.modules.keys():
        from .repair_loader import repair

        repair(sys.modules[name])
