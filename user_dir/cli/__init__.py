"""What ``recurrent-mt`` calls of the plug-in: the tools that read or write checkpoints, or load models.

Modules as those of :mod:`recurrent_mt.cli`, which finds them here by their names. ``align`` and ``structure`` are the
halves of those tools that need a model.
"""
