"""Versions of the numbers that this code makes, which are in the names of what experiments make with it.

So results of two versions never land in one folder, and never in one mean: after a version is raised, an experiment
makes anew what it concerns, and what was made before stays. ``tests/test_numerics.py`` compares golden numbers with
those that were recorded with each version, and fails where they have changed and the version has not. Options and
their defaults need no version: they are in the names themselves.
"""

#: Of text. Raise it when the same files become other tokens: tokenization, normalization, subwords, cleaning,
#: selection. All corpora are then made anew, and with them everything that is trained on them.
TEXT = 1
#: Of the synthetic corpus. Raise it when the same settings make other sentences, or other files.
SYNTHETIC = 2
#: Of trainings and translations. Raise it when the same options, text, and seed give other numbers, rounding apart:
#: layers, kernels, starting values, objectives, optimizers, batches, search. Everything is then trained anew.
TRAINING = 1
#: Of scores. Raise it when the same translations get other numbers: metrics, intervals, tests, groups of sentences,
#: drawings. Tables and reports are then made anew; trainings and translations stay.
SCORES = 1
