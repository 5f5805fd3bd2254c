"""The plug-in's part of ``recurrent-mt``: the tools that read or write checkpoints or load models.

The modules are like those of :mod:`recurrent_mt.cli`, which finds them here by name. ``align``, ``demo`` and
``structure`` are the halves of those tools that need a model.
"""
