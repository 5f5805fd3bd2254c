"""The same seed gives the same losses and the same translations, bit for bit, on a CPU."""

import torch
from fairseq.sequence_generator import SequenceGenerator

from tests.models.building import build, sample, sources, task
from tests.training import ADAM, trainer

BATCHES = [sample([4, 1, 6], [5, 2, 7]), sample([2, 3], [4, 4])]


def losses_and_translations(seed):
    """Of a model with dropout everywhere, after ten updates."""
    model = build("gru_encoder", dropout=0.3, encoder_layers=2, decoder_layers=2)
    training = trainer(model, "cross_entropy", *ADAM)
    training.cfg.common.seed = seed
    losses = [training.train_step([batch])["loss"] for _ in range(5) for batch in BATCHES]
    generator = SequenceGenerator([model.eval()], task().target_dictionary, beam_size=3, max_len_b=9)
    found = generator.generate([model], {"net_input": sources([3, 7, 1, 5])})
    return losses, [(one["tokens"], one["positional_scores"]) for beam in found for one in beam]


def test_the_same_seed_repeats_and_another_seed_differs():
    (losses, translations), (again, translations_again) = losses_and_translations(1), losses_and_translations(1)
    assert losses == again
    for one, other in zip(translations, translations_again, strict=True):
        assert torch.equal(one[0], other[0]) and torch.equal(one[1], other[1])
    assert losses_and_translations(2)[0] != losses, "the dropout's seed is that of the updates"
