"""The released code's search, against the same algorithm one sentence at a time, and against trying everything."""

import argparse
import itertools
import math

import pytest
import torch
from fairseq.sequence_scorer import SequenceScorer

from tests.combinations import half
from tests.models import building
from user_dir.tasks import published_translation
from user_dir.tasks.published_translation import PublishedTranslationConfig, PublishedTranslationTask


def setup(*, target_words, attention="additive", seed=4, deviation=0.9):
    config = PublishedTranslationConfig()
    config.max_source_positions = config.max_target_positions = 64
    config.shrinking_beam = True
    task = PublishedTranslationTask(config, building.dictionary(11, "s"), building.dictionary(target_words, "t"))
    model = building.build("gru_encoder", task, decoder_attention=attention)
    torch.manual_seed(seed)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=deviation)
    return task, model.eval()


def next_log_probabilities(model, source, prefixes):
    """(N, V) after prefixes of equally many words, by teacher forcing; padding is never a word."""
    previous = torch.tensor([[2, *prefix] for prefix in prefixes])
    sentences = {
        "src_tokens": source.expand(len(prefixes), -1),
        "src_lengths": torch.full((len(prefixes),), source.size(1)),
    }
    with torch.no_grad():
        output = model(**sentences, prev_output_tokens=previous)
        scores = model.get_normalized_probs(output, log_probs=True)[:, -1]
    scores[:, 1] = -math.inf
    return scores


def by_hand(model, source, beam, *, forbid_unknown=False):
    """The search for one sentence (1, n): finished hypotheses with their sums, best mean first."""
    live, finished = [((), 0.0)], []
    for step in range(3 * source.size(1)):
        options = []
        scores = next_log_probabilities(model, source, [prefix for prefix, _ in live])
        if step < source.size(1) // 2:
            scores[:, 2] = -math.inf
        if forbid_unknown:
            scores[:, 3] = -math.inf
        for (prefix, total), of_words in zip(live, scores.tolist()):
            options += [((*prefix, word), total + score) for word, score in enumerate(of_words)]
        options = [option for option in options if option[1] > -math.inf]
        options = sorted(options, key=lambda option: -option[1])[: beam - len(finished)]
        finished += [option for option in options if option[0][-1] == 2]
        live = [option for option in options if option[0][-1] != 2]
        if not live:
            break
    return sorted(finished, key=lambda option: -option[1] / len(option[0]))


def search(task, model, batch, *, beam, **options):
    arguments = argparse.Namespace(beam=beam, **options)
    generator = task.build_generator([model], arguments)
    generator.beam_size = beam  # fairseq allows no beam wider than the vocabulary
    sample = {"id": torch.arange(len(batch["src_tokens"])), "net_input": batch}
    return task.inference_step(generator, [model], sample)


@pytest.mark.parametrize(("attention", "beam", "forbid_unknown"), half(["none", "additive"], [1, 3, 6], [False, True]))
def test_a_batch_is_searched_as_one_sentence_at_a_time(attention, beam, forbid_unknown, monkeypatch):
    monkeypatch.setattr(published_translation, "LARGEST_BEAM", 8)
    task, model = setup(target_words=7, attention=attention)
    lengths = [4, 2, 5, 3]
    batch = building.sources(lengths)
    options = {"unkpen": math.inf} if forbid_unknown else {}
    shrunk = False
    for row, hypotheses in enumerate(search(task, model, batch, beam=beam, **options)):
        source = batch["src_tokens"][row : row + 1, -lengths[row] :]
        expected = by_hand(model, source, beam, forbid_unknown=forbid_unknown)
        if not expected:
            continue  # wider beams are tried, which is tested below
        assert [tuple(h["tokens"].tolist()) for h in hypotheses] == [words for words, _ in expected]
        for hypothesis, (words, total) in zip(hypotheses, expected):
            assert hypothesis["score"].item() == pytest.approx(total / len(words), abs=1e-4)
        shrunk |= len({len(words) for words, _ in expected}) > 1
    assert shrunk or beam == 1, "all hypotheses ended together: the beam never shrank"


def test_a_beam_wide_enough_finds_the_best_of_all():
    """Every sentence of up to 6 words over 5 symbols, for a source of one word and its end."""
    task, model = setup(target_words=1, deviation=0.8)
    batch = building.sources([2])
    words = [0, 3, 4]
    scores = {}
    for length in range(6):
        prefixes = list(itertools.product(words, repeat=length))
        scores |= zip(prefixes, next_log_probabilities(model, batch["src_tokens"], prefixes).tolist())
    best = max(
        sum(scores[prefix[:i]][word] for i, word in enumerate([*prefix, 2])) / (len(prefix) + 1)
        for prefix in filter(None, scores)
    )
    (hypotheses,) = search(task, model, batch, beam=800)
    assert max(h["score"].item() for h in hypotheses) == pytest.approx(best, abs=1e-4)


def test_no_end_in_the_first_half_and_none_beyond_three_times_the_source():
    task, model = setup(target_words=7)
    with torch.no_grad():
        model.decoder.output_projection.bias[2] = 30.0  # ends as soon as it may
    for length in (1, 2, 5, 8):
        (hypotheses,) = search(task, model, building.sources([length]), beam=4)
        assert min(len(h["tokens"]) for h in hypotheses) == length // 2 + 1
    with torch.no_grad():
        model.decoder.output_projection.bias[2] = -1.0
    (hypotheses,) = search(task, model, building.sources([3]), beam=6)
    assert max(len(h["tokens"]) for h in hypotheses) <= 9


def test_unknown_words_come_back_where_nothing_ends_without_them():
    task, model = setup(target_words=7)
    with torch.no_grad():
        model.decoder.output_projection.weight.zero_()
        model.decoder.output_projection.bias.zero_()
        model.decoder.output_projection.bias[4] = 20.0  # without <unk> the beam fills with one word for ever
        model.decoder.output_projection.bias[2] = -5.0
    (hypotheses,) = search(task, model, building.sources([2]), beam=1, unkpen=math.inf)
    assert len(hypotheses) >= 1 and all(h["tokens"][-1] == 2 for h in hypotheses)


def test_a_model_that_never_ends_is_named_and_gives_an_empty_translation(caplog):
    task, model = setup(target_words=7)
    with torch.no_grad():
        model.decoder.output_projection.bias[2] = -math.inf
    (hypotheses,) = search(task, model, building.sources([2]), beam=400)
    assert [h["tokens"].tolist() for h in hypotheses] == [[2]]
    assert hypotheses[0]["score"] == -math.inf
    assert "ends, even with a beam of 500: writing an empty one" in caplog.text


def test_what_the_shrinking_beam_cannot_do_is_refused():
    task, model = setup(target_words=7)
    with pytest.raises(ValueError, match="--shrinking-beam is a search of its own: leave out --sampling"):
        task.build_generator([model], argparse.Namespace(beam=4, sampling=True))
    with pytest.raises(ValueError, match="--print-alignment needs full beams"):
        task.build_generator([model], argparse.Namespace(beam=2, print_alignment="hard"))


def test_given_translations_are_scored_as_by_fairseqs_own_task():
    task, model = setup(target_words=7)
    sample = building.sample([4, 2], [3, 5], words=7)
    scorer = task.build_generator([model], argparse.Namespace(score_reference=True))
    scored = task.inference_step(scorer, [model], sample)
    expected = SequenceScorer(task.target_dictionary).generate([model], sample)
    assert [beam[0]["score"].item() for beam in scored] == [beam[0]["score"].item() for beam in expected]


def test_a_sentence_that_is_tried_again_keeps_its_prefix():
    """One place in the beam, in which `</s>` never comes first: nothing ends within 3n until the beam is wider."""
    task, model = setup(target_words=7)
    generator = task.build_generator([model], argparse.Namespace(beam=1))
    batch = building.sources([4, 2], words=11)
    sample = {"id": torch.arange(2), "net_input": batch}
    prefixes = torch.tensor([[5, 6], [6, 4]])
    tried, again = [], task._try_again
    task._try_again = lambda *arguments: tried.append(arguments[3]) or again(*arguments)
    with torch.no_grad():
        model.decoder.output_projection.bias[2] = -50
    found = task.inference_step(generator, [model], sample, prefix_tokens=prefixes)
    assert tried == [0, 1]
    for beam, prefix in zip(found, prefixes.tolist()):
        assert beam[0]["tokens"][:2].tolist() == prefix
