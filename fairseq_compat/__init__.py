"""Lets the unmodified fairseq 0.12.2 run on current versions of Python, PyTorch, and numpy without losing work.

A ``.pth`` file installed next to this package calls :func:`install` when Python starts. That only puts one finder on
``sys.meta_path``: a repair is loaded when the module that needs it is imported. No file of another package is changed,
and uninstalling this package is all it takes to get rid of it.

This file runs in every Python process of the environment, so it is short and imports only ``sys``.
"""

import sys

#: Which repairs belong to which module. Each is a module of this package with a function ``repair``, which is called
#: with that module after it was executed; its docstring says what is broken and since when.
REPAIRS = {
    "dataclasses": ("dataclass_hashes",),
    "fairseq.checkpoint_utils": (
        *("checkpoint_classes", "checkpoint_contents", "checkpoint_files"),
        *("resumed_batches", "other_dictionaries", "model_sizes"),
    ),
    "fairseq.criterions.adaptive_loss": ("counted_words",),
    "fairseq.criterions.label_smoothed_cross_entropy": ("counted_words",),
    "fairseq.data.data_utils": ("numpy_names", "validation_subsets"),
    "fairseq.data.dictionary": ("dictionary_files", "padding_words", "text_lines"),
    "fairseq.data.indexed_dataset": ("merged_data_sizes", "text_lines", "empty_data"),
    "fairseq.data.iterators": ("resumed_batches", "curriculum_option", "skipped_remainders"),
    "fairseq.data.language_pair_dataset": ("numpy_names", "parallel_lines"),
    "fairseq.data.token_block_dataset": ("numpy_names",),
    "fairseq.dataclass.initialize": ("inherited_settings", "needless_advice"),
    "fairseq.dataclass.utils": ("optional_types",),
    "fairseq.distributed.utils": ("broadcast_checkpoints", "finished_processes", "lost_processes"),
    "fairseq.models": ("position_limits",),
    "fairseq.models.ema.ema": ("shared_averages", "resumed_averages"),
    "fairseq.modules.dynamic_crf_layer": ("numpy_names",),
    "fairseq.modules.transformer_layer": ("encoder_fast_path",),
    "fairseq.ngram_repeat_block": ("repeated_ngrams",),
    "fairseq.optim.fp16_optimizer": ("fp16_option", "master_weights"),
    "fairseq.optim.lr_scheduler.reduce_lr_on_plateau": ("resumed_plateaus",),
    "fairseq.options": ("bfloat16_option", "validation_options", "option_values"),
    "fairseq.search": ("search_strategies",),
    "fairseq.sequence_generator": ("search_strategies",),
    "fairseq.tasks.fairseq_task": ("batch_limits", "fused_language_models", "option_values"),
    "fairseq.tasks.language_modeling": ("other_dictionaries",),
    "fairseq.tasks.translation": (
        *("parallel_lines", "position_limits", "joined_data", "other_dictionaries", "option_names"),
    ),
    "fairseq.trainer": (
        *("failed_updates", "changed_models", "missing_checkpoints", "past_epochs"),
        *("resumed_progress", "resumed_plateaus", "absent_parameters"),
    ),
    "fairseq.utils": ("unknown_word_copies", "literal_options", "lstm_alignments", "text_lines", "embedding_files"),
    "fairseq_cli.eval_lm": ("option_names",),
    "fairseq_cli.generate": ("position_limits", "unknown_word_copies", "translated_shards", "option_names"),
    "fairseq_cli.interactive": (
        *("interactive_lines", "position_limits", "unknown_word_copies"),
        *("fused_language_models", "option_names"),
    ),
    "fairseq_cli.preprocess": ("parallel_lines", "text_lines"),
    "fairseq_cli.train": (
        *("batch_limits", "skipped_remainders", "repeated_training", "early_stopping", "best_checkpoints"),
        "option_values",
        "terminated_training",  # last: what the others do can be terminated, too
    ),
    "fairseq_cli.validate": ("validation_options", "option_names"),
    "hydra._internal.utils": ("lazy_help",),
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
REPAIRS.update(("fairseq." + name, ("literal_options",)) for name in EVALUATING)

#: Other modules that read text line by line.
READING = (
    "fairseq.data.huffman.huffman_coder",
    "fairseq.file_chunker_utils",
    "fairseq.tasks.sentence_prediction",
    "fairseq.tasks.sentence_ranking",
    "fairseq_cli.interactive",
    "fairseq_cli.score",
)
REPAIRS.update((name, (*REPAIRS.get(name, ()), "text_lines")) for name in READING)


class RepairFinder:
    """Finds the modules of :data:`REPAIRS` with the other finders and attaches their repairs."""

    def __init__(self):
        self._searched = set()

    def find_spec(self, fullname, path=None, target=None):
        """Return the other finders' spec of `fullname` with its repair, or None if there is none."""
        # A finder that asks the others, as this one does, asks this one: the module would be repaired twice.
        if fullname not in REPAIRS or fullname in self._searched:
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
    for name in REPAIRS.keys() & sys.modules.keys():
        from .repair_loader import repair

        repair(sys.modules[name])
