"""The plug-in's part of ``recurrent-mt``: the tools that read or write checkpoints or load models, a module each.

The modules are like those of :mod:`recurrent_mt.cli`, which finds them here by name.
"""
