"""What has to be read out of a trained model: grConv's gates, the alignments of given translations.

Everything here ends in JSON, one object a line, which :mod:`recurrent_mt.evaluation` reads without torch and fairseq.
"""
