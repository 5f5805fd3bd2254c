"""The plug-in's part of ``recurrent-mt``: the tools that read or write checkpoints or load models.

The modules are like those of :mod:`recurrent_mt.cli`, which finds them here by name. ``inspection`` has
the halves of ``align``, ``demo``, and ``structure`` that need a model.
"""
