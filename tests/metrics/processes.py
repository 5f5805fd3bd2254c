"""Which processes count."""

from recurrent_mt import metrics


def spy_on_processes(monkeypatch, block=3):
    """A list that receives the processes of each count; a few sentences are a block's worth."""
    used = []
    ordered_map = metrics.ordered_map

    def spy(function, items, jobs):
        used.append(jobs)
        return ordered_map(function, items, jobs)

    monkeypatch.setattr(metrics, "_BLOCK", block)
    monkeypatch.setattr(metrics, "ordered_map", spy)
    return used
