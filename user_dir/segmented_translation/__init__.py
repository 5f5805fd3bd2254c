"""Translation of long sentences in segments (Pouget-Abadie et al. 2014, arXiv 1409.1257).

Every span of a sentence is translated on its own, the models' scores of the translation give the span's cost, and the
sentence is cut where the sum of costs is smallest. ``segmentation`` only knows numbers and words;
``translation`` brings in fairseq's models.
"""
