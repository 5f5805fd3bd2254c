"""Parallel text made ready for training: got, cleaned, and the part of it selected that resembles a domain.

Text streams through in blocks of lines, which all processors share; what has to be known of every pair at once
(duplicates, lengths, scores) waits on disk. No torch, no fairseq.
"""
