"""What has to be read out of a trained model: grConv's gates, the alignments of given translations.

Everything here ends in JSON, one object a line, which :mod:`user_dir.analysis` reads without torch and fairseq.
"""
