"""Recurrent machine translation without fairseq: kernels and layers, scores, evaluation, reports, corpora, ratings.

Nothing here imports fairseq; ``kernels`` and ``layers`` import PyTorch, the rest does not. The plug-in ``user_dir``
makes fairseq models of the layers.
"""
