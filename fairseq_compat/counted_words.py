"""Counts each word of a target in the loss, and none that the loss leaves out.

fairseq 0.12.2's ``adaptive_loss`` compares the number that a word has within its cluster with that of padding in the
dictionary, which is 1: the second word of each cluster but the first is never trained, and its loss is counted as 0.
``label_smoothed_cross_entropy --ignore-prefix-size N`` divides losses and gradients by the words that it ignores, too.
"""

import functools


def repair(module):
    """Mend ``forward`` of ``AdaptiveLoss`` or ``LabelSmoothedCrossEntropyCriterion``."""
    if hasattr(module, "AdaptiveLoss"):
        module.AdaptiveLoss.forward = _adaptive_loss
    else:
        criterion = module.LabelSmoothedCrossEntropyCriterion
        criterion.forward = _counting_words_after_the_prefix(criterion.forward)


def _adaptive_loss(self, model, sample, reduce=True):
    """The loss of a batch, or of each of its words, the divisor of its gradient, and what to log."""
    from torch.nn.functional import cross_entropy

    softmax = getattr(model.decoder, "adaptive_softmax", None)
    if softmax is None:
        raise ValueError("--criterion adaptive_loss needs a model with --adaptive-softmax-cutoff")
    output = model(**sample["net_input"])
    target = model.get_targets(sample, output).view(-1)
    logits, targets = softmax(output[0], target)
    _, positions = softmax.adapt_target(target)
    # Padding is a word of the first cluster, the only one whose words have the dictionary's numbers.
    loss = cross_entropy(logits[0], targets[0], ignore_index=self.padding_idx, reduction="none")
    for of_cluster, words, at in zip(logits[1:], targets[1:], positions):
        if words is not None:
            loss = loss.index_add(0, at, cross_entropy(of_cluster, words, reduction="none"))
    if reduce:
        loss = loss.sum()
    words, sentences = int(target.ne(self.padding_idx).sum()), sample["target"].size(0)
    size = sentences if self.sentence_avg else words
    return loss, size, {"loss": loss.data, "ntokens": words, "nsentences": sentences, "sample_size": size}


def _counting_words_after_the_prefix(forward):
    @functools.wraps(forward)
    def forward_after_the_prefix(self, model, sample, reduce=True):
        if self.ignore_prefix_size > 0:
            counted = sample["target"][:, self.ignore_prefix_size :].ne(self.padding_idx)
            sample = {**sample, "ntokens": int(counted.sum())}
        return forward(self, model, sample, reduce=reduce)

    return forward_after_the_prefix
