"""What is read out of a trained model: grConv's gates and the alignments of given translations.

All of it is written as JSON, one object per line, which :mod:`recurrent_mt.evaluation` reads without torch or fairseq.
"""
