"""Repairs of fairseq's criterions: each word of a target is in the loss, and none that the loss leaves out."""

from torch.nn.functional import cross_entropy

from ..replacements import around, in_place_of


@in_place_of("fairseq.criterions.adaptive_loss", "AdaptiveLoss.forward")
def adaptive_loss(self, model, sample, reduce=True):
    """The loss of a batch, or of each of its words, the divisor of its gradient, and what to log.

    fairseq 0.12.2 compares the number that a word has within its cluster with that of padding in the dictionary, which
    is 1: the second word of each cluster but the first is never trained, and its loss is counted as 0.
    """
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


@around("fairseq.criterions.label_smoothed_cross_entropy", "LabelSmoothedCrossEntropyCriterion.forward")
def count_words_after_the_prefix(forward, self, model, sample, reduce=True):
    """Divide losses and gradients by the words that ``--ignore-prefix-size`` leaves, as fairseq does by all."""
    if self.ignore_prefix_size > 0:
        counted = sample["target"][:, self.ignore_prefix_size :].ne(self.padding_idx)
        sample = {**sample, "ntokens": int(counted.sum())}
    return forward(self, model, sample, reduce=reduce)
