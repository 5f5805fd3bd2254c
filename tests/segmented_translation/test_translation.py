"""Spans in batches through fairseq's search and scorer, against one span at a time."""

import math
import random
from functools import partial

import pytest
import torch
from fairseq.sequence_scorer import SequenceScorer

from tests.models import building
from tests.tolerances import INVARIANCE
from user_dir.segmented_translation.translation import (
    Ensemble,
    ForwardTranslator,
    InverseScorer,
    translate_spans,
)
from user_dir.tasks.published_translation import PublishedTranslationConfig, PublishedTranslationTask

SOURCE_WORDS, TARGET_WORDS = 9, 7

#: Sums over the words of a translation.
COSTS = {"rel": INVARIANCE["rtol"], "abs": 10 * INVARIANCE["atol"]}


def system(*, shrinking_beam=False, inverse=False, architecture="gru_encoder", seed=4, count=1, **limits):
    """A random model whose translations depend strongly on the source."""
    config = PublishedTranslationConfig()
    config.max_source_positions = config.max_target_positions = 64
    config.shrinking_beam = shrinking_beam
    config.source_lang, config.target_lang = ("en", "fr") if inverse else ("fr", "en")
    dictionaries = building.dictionary(SOURCE_WORDS, "s"), building.dictionary(TARGET_WORDS, "t")
    task = PublishedTranslationTask(config, *(reversed(dictionaries) if inverse else dictionaries))
    models = []
    for index in range(count):
        model = building.build(architecture, task, decoder_attention="none")
        torch.manual_seed(seed + index)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.9)
        models.append(model.eval())
    return Ensemble(task, models, **limits)


def random_spans(number, seed=1):
    """Different spans of 1 to 6 words, one of them unknown to every dictionary."""
    generator = random.Random(seed)
    words = [f"s{index}" for index in range(SOURCE_WORDS)] + ["elsewhere"]
    spans = {tuple(generator.choice(words) for _ in range(generator.randint(1, 6))) for _ in range(number)}
    return sorted(spans, key=lambda span: generator.random())


@pytest.mark.parametrize(("count", "shrinking_beam"), [(1, False), (2, True)], ids=["full", "ensemble, shrinking"])
def test_spans_of_a_batch_are_translated_as_one_at_a_time(shrinking_beam, count):
    spans = random_spans(12)
    # Of the ensemble, the shrinking beam must try two of them again.
    limits = {"max_sentences": 7, "max_tokens": 30}
    forward = ForwardTranslator(system(shrinking_beam=shrinking_beam, count=count, seed=7, **limits), beam=4)
    inverse = InverseScorer(system(inverse=True, seed=8, **limits))
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
    ((hypothesis,),) = SequenceScorer(task.target_dictionary).generate(scoring.models, sample)
    return -hypothesis["positional_scores"].sum().item()


def test_costs_are_negative_log_probabilities_of_whole_translations():
    there, back = system(), system(inverse=True, seed=8)
    spans = random_spans(15)
    found = translate_spans(spans, ForwardTranslator(there, beam=5), InverseScorer(back))
    for span, candidates in zip(spans, found):
        for candidate in candidates:
            assert candidate.forward_cost == pytest.approx(score_alone(there, span, candidate.words), **COSTS)
            assert candidate.inverse_cost == pytest.approx(score_alone(back, candidate.words, span), **COSTS)


def test_the_best_candidates_by_the_whole_cost_and_no_more_than_asked():
    spans = random_spans(10)
    all_of_them = ForwardTranslator(system(), beam=6).candidates(spans)
    some = ForwardTranslator(system(), beam=6, count=2).candidates(spans)
    for many, few in zip(all_of_them, some):
        costs = [candidate.forward_cost for candidate in many]
        assert len(costs) == 6 and costs == sorted(costs)
        assert few == many[:2]


def test_unknown_words_of_the_target_can_be_forbidden():
    spans = random_spans(30)
    allowed = ForwardTranslator(system(), beam=4).candidates(spans)
    assert any("<unk>" in candidate.words for beam in allowed for candidate in beam)
    forbidden = ForwardTranslator(system(), beam=4, unknown_penalty=math.inf).candidates(spans)
    assert all(beam for beam in forbidden)
    assert not any("<unk>" in candidate.words for beam in forbidden for candidate in beam)


def test_words_outside_the_dictionary_are_unknown():
    forward = ForwardTranslator(system())
    assert forward.is_unknown("elsewhere") and not forward.is_unknown("s0")
    assert forward.is_unknown("<pad>"), "what is spelled like padding is a word"
    assert forward.candidates([("s0", "<pad>")]) == forward.candidates([("s0", "<unk>")])


def test_no_spans_and_a_span_whose_translations_never_end(caplog):
    endless = system(shrinking_beam=True)
    with torch.no_grad():
        endless.models[0].decoder.output_projection.bias[2] = -math.inf
    forward, inverse = ForwardTranslator(endless, beam=400), InverseScorer(system(inverse=True))
    translate = partial(translate_spans, forward=forward, inverse=inverse)
    assert translate([]) == []
    assert translate([("s1",)]) == [[]]
    assert "writing an empty one" in caplog.text


def test_a_translation_has_at_most_three_times_as_many_words_counting_the_ends():
    span = ("s1", "s2", "s3")
    endless = system()
    with torch.no_grad():
        endless.models[0].decoder.output_projection.bias[2] = -100
    (found,) = ForwardTranslator(endless, beam=2).candidates([span])
    assert {len(candidate.words) + 1 for candidate in found} == {3 * (len(span) + 1)}
