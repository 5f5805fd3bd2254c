"""Spans in batches through fairseq's search and scorer, against one span at a time."""

import math
import random
from functools import partial

import pytest
import torch
from fairseq.sequence_scorer import SequenceScorer
from fairseq.tasks.translation import TranslationTask

from tests.checkpoints.checkpoints import write_checkpoint
from tests.models import building
from tests.tolerances import INVARIANCE
from user_dir import segmented_translation
from user_dir.checkpoints.checkpoint import Checkpoint
from user_dir.segmented_translation import ForwardTranslator, InverseScorer, translate_spans

SOURCE_WORDS = 11

#: Sums over the words of a translation.
COSTS = {"rel": INVARIANCE["rtol"], "abs": 10 * INVARIANCE["atol"]}


def system(folder, *, inverse=False, seed=4):
    """A random model whose translations depend strongly on the source."""
    task, languages = building.task(), ("src", "tgt")
    if inverse:
        task, languages = TranslationTask(task.cfg, task.target_dictionary, task.source_dictionary), ("tgt", "src")
    place = folder / languages[0]
    place.mkdir()
    checkpoint = Checkpoint(write_checkpoint(place, "gru_encoder", languages, task, decoder_attention="none"), place)
    torch.manual_seed(seed)
    for parameter in checkpoint.model.parameters():
        torch.nn.init.normal_(parameter, std=0.9)
    return checkpoint


def random_spans(number, seed=1):
    """Different spans of 1 to 6 words, one of them unknown to every dictionary."""
    generator = random.Random(seed)
    words = [f"s{index}" for index in range(SOURCE_WORDS)] + ["elsewhere"]
    spans = {tuple(generator.choice(words) for _ in range(generator.randint(1, 6))) for _ in range(number)}
    return sorted(spans, key=lambda span: generator.random())


def test_spans_of_a_batch_are_translated_as_one_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(segmented_translation, "MAX_SPANS", 3)
    monkeypatch.setattr(segmented_translation, "MAX_TOKENS", 30)
    spans = random_spans(12)
    forward = ForwardTranslator(system(tmp_path, seed=7), beam=4)
    inverse = InverseScorer(system(tmp_path, inverse=True, seed=8))
    translate = partial(translate_spans, forward=forward, inverse=inverse)
    together = translate(spans)
    assert len({candidates[0].words for candidates in together}) > 3, "the model says the same of everything"
    for span, candidates in zip(spans, together, strict=True):
        (alone,) = translate([span])
        assert [candidate.words for candidate in alone] == [candidate.words for candidate in candidates]
        for one, other in zip(alone, candidates):
            assert one.forward_cost == pytest.approx(other.forward_cost, **COSTS)
            assert one.inverse_cost == pytest.approx(other.inverse_cost, **COSTS)


def score_alone(scoring, source, target):
    """−log p of one pair by fairseq's scorer, without batches of ours."""
    task = scoring.task
    source_tokens = task.source_dictionary.encode_line(" ".join(source), add_if_not_exist=False).long()[None]
    target_tokens = task.target_dictionary.encode_line(" ".join(target), add_if_not_exist=False).long()[None]
    sample = {
        "net_input": {
            "src_tokens": source_tokens,
            "src_lengths": torch.tensor([source_tokens.size(1)]),
            "prev_output_tokens": target_tokens.roll(1, dims=1),
        },
        "target": target_tokens,
    }
    ((hypothesis,),) = SequenceScorer(task.target_dictionary).generate([scoring.model], sample)
    return -hypothesis["positional_scores"].sum().item()


def test_costs_are_negative_log_probabilities_of_whole_translations(tmp_path):
    there, back = system(tmp_path), system(tmp_path, inverse=True, seed=8)
    spans = random_spans(15)
    found = translate_spans(spans, ForwardTranslator(there, beam=5), InverseScorer(back))
    for span, candidates in zip(spans, found):
        for candidate in candidates:
            assert candidate.forward_cost == pytest.approx(score_alone(there, span, candidate.words), **COSTS)
            assert candidate.inverse_cost == pytest.approx(score_alone(back, candidate.words, span), **COSTS)


def test_all_that_the_search_finds_are_candidates_by_the_whole_cost(tmp_path):
    for candidates in ForwardTranslator(system(tmp_path), beam=6).candidates(random_spans(10)):
        costs = [candidate.forward_cost for candidate in candidates]
        assert len(costs) == 6 and costs == sorted(costs)


def test_unknown_words_of_the_target_can_be_forbidden(tmp_path):
    spans, there = random_spans(30), system(tmp_path)
    allowed = ForwardTranslator(there, beam=4).candidates(spans)
    assert any("<unk>" in candidate.words for beam in allowed for candidate in beam)
    forbidden = ForwardTranslator(there, beam=4, unknown_penalty=math.inf).candidates(spans)
    assert not any("<unk>" in candidate.words for beam in forbidden for candidate in beam)


def test_no_spans_have_no_candidates(tmp_path):
    forward, inverse = ForwardTranslator(system(tmp_path)), InverseScorer(system(tmp_path, inverse=True))
    assert translate_spans([], forward, inverse) == []


def test_a_translation_has_at_most_three_times_as_many_words_counting_the_ends(tmp_path):
    span = ("s1", "s2", "s3")
    endless = system(tmp_path)
    with torch.no_grad():
        endless.model.decoder.output_projection.bias[2] = -100
    (found,) = ForwardTranslator(endless, beam=2).candidates([span])
    assert {len(candidate.words) + 1 for candidate in found} == {3 * (len(span) + 1)}
