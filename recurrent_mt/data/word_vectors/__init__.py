"""Pre-trained embeddings: skip-gram vectors of the training text, and maps between the spaces of two languages.

The files are read by ``--encoder-embed-path`` and ``--decoder-embed-path``.
"""
