"""Translation of long sentences by segments (Pouget-Abadie et al. 2014, arXiv 1409.1257).

Every span of a sentence is translated on its own, what the models think of the translation is the span's cost, and
the sentence is cut where the sum of costs is smallest. ``cuts``, ``confidence``, ``spans`` and ``sentences`` know
numbers and words alone; ``translation`` brings fairseq's models.
"""
