"""A repair of fairseq's searches: ``--no-repeat-ngram-size``."""

import math

from ..replacements import in_place_of


@in_place_of("fairseq.ngram_repeat_block", "NGramRepeatBlock._no_repeat_ngram")
def _no_repeat_ngram(self, tokens, lprobs, bsz: int, beam_size: int, step: int):
    """Forbid each word that would complete an n-gram of its hypothesis again; TorchScript compiles it under its name.

    fairseq 0.12.2 looks for the last words of a translation at the end of the memory that is set aside for it, where
    nothing is written yet: nothing matches, and n-grams come again and again. Only the optional extension for GPUs
    looks at the right place.
    """
    size: int = self.no_repeat_ngram_size
    # The symbol that begins a translation is the one that ends it, which has to remain possible for n = 1.
    written = tokens[:, 1 : step + 1]
    if written.size(1) < size:
        return lprobs
    ngrams = written.unfold(1, size, 1)
    last = written[:, written.size(1) - size + 1 :]
    again = (ngrams[:, :, : size - 1] == last.unsqueeze(1)).all(dim=2).nonzero()
    rows = again[:, 0]
    words = ngrams[rows, again[:, 1], size - 1]
    before = lprobs[rows, words]
    lprobs[rows, words] = -math.inf
    # What --prefix-size prescribes may repeat itself; without that word, the search would choose among impossible ones.
    stuck = lprobs[rows].amax(dim=1) == -math.inf
    lprobs[rows[stuck], words[stuck]] = before[stuck]
    return lprobs
