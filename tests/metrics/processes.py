"""Which processes count."""

from recurrent_mt.metrics import sentence_statistics


def spy_on_processes(monkeypatch, block=3):
    """A list that receives the processes of each count; a few sentences are a block's worth."""
    used = []
    ordered_map = sentence_statistics.ordered_map

    def spy(function, items, jobs):
        used.append(jobs)
        return ordered_map(function, items, jobs)

    monkeypatch.setattr(sentence_statistics, "_BLOCK", block)
    monkeypatch.setattr(sentence_statistics, "ordered_map", spy)
    return used
