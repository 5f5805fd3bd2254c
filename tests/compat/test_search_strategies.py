"""Searches besides plain beam search: scores without penalties, no translation twice, and refusals that say why."""

from __future__ import annotations

from argparse import Namespace

import pytest
import torch

from tests.models.building import build, sources, task

BATCH = {"net_input": sources([4, 6, 3])}


def search(**options):
    model = build("gru_encoder").eval()
    generator = task().build_generator([model], Namespace(beam=4, nbest=4, max_len_b=9, **options))
    return model, generator.generate([model], BATCH)


@pytest.mark.parametrize("strength", [0.0, 0.5, 2.0])
def test_a_diverse_search_lists_each_translation_once_with_the_models_probability(strength):
    model, found = search(diverse_beam_groups=2, diverse_beam_strength=strength)
    for row, hypotheses in enumerate(found):
        tokens = [tuple(one["tokens"].tolist()) for one in hypotheses]
        assert len(set(tokens)) == len(tokens) > 1
        for one in hypotheses:
            words = one["tokens"]
            source = {name: value[row : row + 1] for name, value in BATCH["net_input"].items()}
            with torch.no_grad():
                output = model(**source, prev_output_tokens=words.roll(1).unsqueeze(0))
            expected = model.get_normalized_probs(output, log_probs=True)[0].gather(1, words.unsqueeze(1)).squeeze(1)
            torch.testing.assert_close(one["positional_scores"], expected, rtol=0, atol=1e-5)
            torch.testing.assert_close(one["score"], expected.mean(), rtol=0, atol=1e-5)


def test_sampling_may_draw_a_translation_twice():
    _, found = search(sampling=True, sampling_topk=1)
    assert all(len(hypotheses) == 4 for hypotheses in found)


def test_more_words_to_sample_from_than_there_are_are_refused():
    words = len(task().target_dictionary)
    search(sampling=True, sampling_topk=words)
    with pytest.raises(ValueError, match=f"^--sampling-topk must be at most {words}, all target words, not 100000$"):
        search(sampling=True, sampling_topk=100000)


def test_constraints_that_nobody_gives_are_refused():
    with pytest.raises(ValueError, match=r"^--constraints needs words .* which only fairseq-interactive reads"):
        search(constraints="ordered")
