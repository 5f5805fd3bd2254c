"""The native beam search against fairseq's generator, mostly in double precision, where rounding decides nothing."""

import logging
from argparse import Namespace
from itertools import cycle

import pytest
import torch
from fairseq.optim.adam import Adam
from fairseq.search import Sampling
from fairseq.sequence_generator import SequenceGenerator
from torch import nn

from recurrent_mt.kernels import native
from recurrent_mt.kernels.beam_search import SearchOptions, beam_search
from recurrent_mt.kernels.dispatch import using
from tests.combinations import half
from tests.kernels.batches import needs_native
from tests.models.building import ARCHITECTURES, ATTENTION_NAMES, build, sources, task
from user_dir.optim import FusedAdam
from user_dir.tasks import native_translation
from user_dir.tasks.native_translation import NativeDecoder, NativeGenerator, NativeTranslationTask

#: What is asked of the search besides a beam of five.
SEARCHES = {
    "plain": {},
    "greedy": {"beam_size": 1},
    "widest": {"beam_size": 16},
    "length": {"len_penalty": 0.3},
    "sums": {"normalize_scores": False},
    "unknown": {"unk_penalty": 2.5},
    "no_unknown": {"unk_penalty": float("inf")},
    "wanted_unknown": {"unk_penalty": -3.0},
    "long": {"min_len": 5},
    "short": {"max_len_b": 2},
    "by_source": {"max_len_a": 0.5, "max_len_b": 1},
    "warm": {"temperature": 2.0},
    "one_word": {"min_len": 0, "max_len_b": 0},
}

ORDERS = ["word_first", "attention_first"]

#: Options of the decoder that the search knows.
DECODERS = {
    "low_rank": {"gru_rank": 3},
    "output_rank": {"decoder_output_rank": 3},
    "layer_norm": {"decoder_layer_norm": True},
    "layer_norm_of_what_attention_gave": {"decoder_layer_norm": True, "decoder_order": "attention_first"},
    "published": {"embed_bias": True, "no_gate_bias": True},
    "shared": {"share_decoder_input_output_embed": True, "decoder_out_embed_dim": 8},
    "linear_readout": {"decoder_readout": "linear"},
    "min_gru": {"decoder_cell": "min_gru", "decoder_readout": "linear"},
    "three_min_grus": {"decoder_cell": "min_gru", "decoder_layers": 2},
    "min_gru_with_token_shift": {"decoder_cell": "min_gru", "token_shift": True},
    "min_gru_of_low_rank_with_layer_norm": {"decoder_cell": "min_gru", "decoder_layer_norm": True, "gru_rank": 3},
}

#: And those that it leaves to fairseq, with what it says.
LEFT_TO_FAIRSEQ = {
    "layers": ({"decoder_layers": 2}, "more than one layer of GRUs"),
    "self_attention": ({"decoder_self_attention_heads": 2}, "self-attention"),
    "skip_time": ({"skip_time": 2}, "skips in time"),
    "transition": ({"decoder_transition_depth": 2}, "deep transition"),
    "input_skip": ({"skip_io": True}, "adds a layer's input to its output"),
}

#: Searches that it leaves to fairseq: how the generator is built, what it is called with, and what it says.
LEFT_SEARCHES = {
    "sampling": ({"search_strategy": Sampling(task().target_dictionary)}, {}, "the search is not plain beam search"),
    "source_length": ({"match_source_len": True}, {}, "output as long as the input is asked for"),
    "constraints": ({}, {"constraints": torch.tensor([[1, 7, 0]])}, "constraints are given"),
    "language_model": ({"lm_model": nn.Identity()}, {}, "a language model is added"),
    "ngrams": ({"no_repeat_ngram_size": 2}, {}, "repeated n-grams are forbidden"),
    "first_word": ({}, {"bos_token": 7}, "translations begin with another word"),
    "prefixes": ({}, {"prefix_tokens": torch.tensor([[7, 8]])}, "prefixes are given"),
    "suppressed": ({"tokens_to_suppress": ["t3"]}, {}, "words are suppressed"),
    "ensemble": ({}, {}, "there are several models"),
    "speech": ({}, {"sample": {"net_input": {"source": torch.zeros(1, 9)}}}, "the source is not text"),
}


def with_retained_dropout(built):
    built.make_generation_fast_(retain_dropout=True, retain_dropout_modules=None)
    return built


#: And models: what becomes of one, and what is said of it.
LEFT_MODELS = {
    "another_class": (lambda built: nn.Sequential(built), "a Sequential is not one of this plug-in's models"),
    "device": (lambda built: built.to("meta"), "the model is not on the CPU"),
    "number": (lambda built: built.bfloat16(), "the model's numbers are torch.bfloat16"),
    "dropout": (with_retained_dropout, "dropout is retained"),
}


def model(architecture="gru_encoder", attention="additive", *, vocabulary=17, number=torch.double, std=0.5, **options):
    """A model whose words depend strongly on source and prefix, so that beams really cross."""
    options = {"decoder_attention": attention, **options}
    built = build(architecture, task(target_words=vocabulary - 4), **options).to(number)
    torch.manual_seed(20)
    for parameter in built.parameters():
        torch.nn.init.normal_(parameter, std=std)
    return built.eval()


def translate(generator_class, built, batch, **options):
    options = {"beam_size": 5, "max_len_b": 9, **options}
    generator = generator_class([built], built.decoder.dictionary, **options)
    return generator.generate([built], {"net_input": batch})


def assert_same_translations(built, batch, **options):
    found, expected = (translate(one, built, batch, **options) for one in (NativeGenerator, SequenceGenerator))
    for beam, expected_beam in zip(found, expected, strict=True):
        for hypothesis, other in zip(beam, expected_beam, strict=True):
            # fairseq adds scores in float32, whatever the model's format is.
            torch.testing.assert_close(hypothesis, other, rtol=1e-5, atol=1e-5, check_dtype=False)
    return found


@pytest.fixture(autouse=True)
def fairseqs_search_is_not_used(request, monkeypatch):
    """A test that compares two searches must not compare fairseq's with itself."""
    if "left" not in request.node.name:
        monkeypatch.setattr(native_translation, "_log", lambda reason: pytest.fail(reason))


@needs_native
@pytest.mark.parametrize(
    ("search", "order", "attention"),
    [
        *(("plain", order, attention) for order in ("word_first", "attention_first") for attention in ATTENTION_NAMES),
        *((search, *rest) for search, rest in zip(list(SEARCHES)[1:], cycle(half(ORDERS, ["none", "additive"])))),
    ],
)
def test_hypotheses_are_fairseqs(search, order, attention):
    batch = sources([3, 7, 1, 5])
    assert_same_translations(model(attention=attention, decoder_order=order), batch, **SEARCHES[search])


@needs_native
@pytest.mark.parametrize(
    ("vocabulary", "number"), [*((words, torch.double) for words in (63, 64, 65, 300)), (300, torch.float32)]
)
def test_words_at_the_edges_of_the_blocks_that_are_passed_over_together_are_found(vocabulary, number):
    built = model(vocabulary=vocabulary, number=number)
    edges = {word for word in (63, 64, vocabulary - 1) if word < vocabulary}
    with torch.no_grad():
        built.decoder.output_projection.bias[list(edges)] += 4
    found = assert_same_translations(built, sources([3, 7, 1, 5]))
    assert edges <= {int(word) for beam in found for hypothesis in beam for word in hypothesis["tokens"]}


@needs_native
@pytest.mark.parametrize("attention", ["none", "additive"])
def test_a_search_with_narrow_products_is_fairseqs_up_to_their_rounding(attention):
    options = {"attention": attention, "vocabulary": 300, "number": torch.float32, "std": 0.3}
    narrow, batch = model(**options, autocast="bfloat16"), sources([3, 7, 1, 5])
    found, expected = (translate(one, narrow, batch) for one in (NativeGenerator, SequenceGenerator))
    exact = translate(NativeGenerator, model(**options), batch)
    assert {factor.dtype for factor in NativeDecoder(narrow.decoder).weights().factors} == {torch.bfloat16}
    for beams in zip(found, expected, exact, strict=True):
        ours, theirs, others = (torch.stack([one["score"] for one in beam]) for beam in beams)
        assert_close_up_to_rounding(ours, theirs)
        assert not torch.equal(ours, others)
    # Rounding may decide which of two words comes next: fairseq is given those that were found.
    words = torch.nn.utils.rnn.pad_sequence([beam[0]["tokens"] for beam in found], True, padding_value=1)
    generator = SequenceGenerator([narrow], narrow.decoder.dictionary, beam_size=1, max_len_b=9)
    forced = generator.generate([narrow], {"net_input": batch}, prefix_tokens=words)
    for beam, (other,) in zip(found, forced, strict=True):
        assert torch.equal(beam[0]["tokens"], other["tokens"])
        for name in ("positional_scores", "attention"):
            assert_close_up_to_rounding(beam[0][name], other[name])


def assert_close_up_to_rounding(found, expected):
    """To that of one number in bfloat16, which has eight bits."""
    assert found.shape == expected.shape and found.dtype is torch.float32
    assert (found - expected).norm() <= 2**-8 * expected.norm()


#: Where a single NaN reaches every score. In the readout, the larger of two neighbors must not leave it out.
REACHING = [
    *(f"layer.readout.{part}" for part in ("state.weight", "state.bias", "previous_word.weight", "context.weight")),
    *("layer.first.gru.gate_weight", "output_projection.weight", "output_projection.bias"),
]


@needs_native
@pytest.mark.parametrize("name", REACHING)
@pytest.mark.parametrize(("unit", "number"), [(0, torch.float32), (1, torch.double)])
def test_scores_that_are_no_numbers_end_the_search_as_fairseqs(name, unit, number):
    built = model(number=number)
    with torch.no_grad():
        built.decoder.get_parameter(name)[unit] = torch.nan
    with pytest.raises(AssertionError):
        translate(SequenceGenerator, built, sources([3, 7, 1, 5]))
    with pytest.raises(RuntimeError, match="the model's scores are no numbers"):
        translate(NativeGenerator, built, sources([3, 7, 1, 5]))


@needs_native
@pytest.mark.parametrize(("architecture", "attention"), half(ARCHITECTURES, ["none", "additive"]))
def test_every_encoder_is_read(architecture, attention):
    assert_same_translations(model(architecture, attention), sources([4, 1, 6]))


@needs_native
@pytest.mark.parametrize(("decoder", "attention"), half(list(DECODERS), ["none", "additive"]))
def test_decoders_with_options_are_searched(decoder, attention):
    assert_same_translations(model(attention=attention, **DECODERS[decoder]), sources([4, 1, 6]))


@needs_native
@pytest.mark.parametrize(("attention", "layers"), [("additive", 1), ("scaled_general", 1), ("general", 3)])
def test_attention_that_asks_twice_is_searched(attention, layers):
    options = {"decoder_cell": "min_gru", "decoder_layers": layers, "decoder_layer_norm": True}
    options |= {"decoder_second_hop": True, "token_shift": layers > 1}
    found = assert_same_translations(model(attention=attention, **options), sources([4, 1, 6]))
    once = assert_same_translations(
        model(attention=attention, **options | {"decoder_second_hop": False}), sources([4, 1, 6])
    )
    assert [one["score"] for one in found[0]] != [one["score"] for one in once[0]]


@needs_native
def test_products_of_words_that_were_dropped_for_lack_of_room_are_computed_again():
    """With a readout as wide as this, there is room for the products of three words."""
    built = model(attention="none", decoder_out_embed_dim=1 << 18, decoder_hidden_size=4)
    torch.nn.init.normal_(built.decoder.output_projection.weight, std=0.01)
    found = assert_same_translations(built, sources([4]), beam_size=2, min_len=12, max_len_b=12)
    assert len({int(word) for hypothesis in found[0] for word in hypothesis["tokens"]}) > 3


@needs_native
def test_annotations_of_several_words_spread_their_attention():
    assert_same_translations(
        model("grconv_encoder", grconv_annotations="pyramid", grconv_annotation_height=2), sources([4, 1, 6])
    )


def negate(weights):
    with torch.no_grad():
        for weight in weights:
            weight.mul_(-1)


def step(optimizer):
    """An update as fairseq's trainer makes it, with a gradient that changes every weight."""

    def update(weights):
        weights = list(weights)
        for weight in weights:
            weight.grad = weight.detach().sign()
        optimizer(weights, lr=2.0).step()

    return update


@needs_native
@torch.inference_mode()
def test_a_model_made_in_inference_mode_is_searched():
    assert_same_translations(model(), sources([4, 1, 6]))


def narrow(weights):
    for weight in weights:
        weight.data = -weight.data.bfloat16()
        weight.data = weight.data.float()


@needs_native
@pytest.mark.parametrize("change", [negate, step(Adam), step(FusedAdam), narrow])
def test_changed_weights_are_seen_by_the_next_search(change):
    built, batch = model(), sources([4, 1, 6])
    generator = NativeGenerator([built], task().target_dictionary, beam_size=5, max_len_b=9)
    before = generator.generate([built], {"net_input": batch})
    change(built.parameters())
    after = generator.generate([built], {"net_input": batch})
    expected = translate(SequenceGenerator, built, batch)
    assert [beam[0]["tokens"].tolist() for beam in after] == [beam[0]["tokens"].tolist() for beam in expected]
    assert [beam[0]["tokens"].tolist() for beam in after] != [beam[0]["tokens"].tolist() for beam in before]


@needs_native
@pytest.mark.parametrize("option", LEFT_TO_FAIRSEQ)
def test_other_decoders_are_left_to_fairseq(option):
    options, reason = LEFT_TO_FAIRSEQ[option]
    assert reason in native_translation.reason_unsupported(model(**options))


@needs_native
@pytest.mark.parametrize("asked", LEFT_SEARCHES)
def test_other_searches_are_left_to_fairseq_and_the_log_says_why(asked, monkeypatch, caplog):
    options, given, reason = LEFT_SEARCHES[asked]
    native_translation._log.cache_clear()
    monkeypatch.setattr(SequenceGenerator, "_generate", lambda generator, sample, *arguments: (sample, *arguments))
    models = [model()] * (2 if asked == "ensemble" else 1)
    generator = NativeGenerator(models, task().target_dictionary, **options)
    given = {"sample": {"net_input": sources([3])}, **given}
    with caplog.at_level(logging.INFO):
        left = generator.generate([], **given)
    assert left == (*(given.get(name) for name in ("sample", "prefix_tokens", "constraints", "bos_token")),)
    assert caplog.messages[-1].endswith(f": {reason}")


@needs_native
@pytest.mark.parametrize("changed", LEFT_MODELS)
def test_other_models_are_left_to_fairseq(changed):
    change, reason = LEFT_MODELS[changed]
    built = model()
    assert native_translation.reason_unsupported(built) is None
    assert native_translation.reason_unsupported(change(built)) == reason


@needs_native
def test_other_kernels_and_a_missing_library_are_left_to_fairseq(monkeypatch):
    with using("packed"):
        assert native_translation.reason_unsupported(model()) == "the model's kernels are 'packed'"
    monkeypatch.setattr(native, "reason_unavailable", lambda: "it was never built")
    assert native_translation.reason_unsupported(model()) == "it was never built"


def test_the_task_searches_natively_unless_alignments_are_asked_for(monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(native_translation, "_log", said.append)
    config, built = task().cfg, model()
    native_task = NativeTranslationTask(config, task().source_dictionary, task().target_dictionary)
    options = {"beam": 2, "sampling_topk": -1, "sampling_topp": -1.0}
    assert type(native_task.build_generator([built], Namespace(**options))) is NativeGenerator
    aligned = native_task.build_generator([built], Namespace(**options, print_alignment="hard"))
    assert not isinstance(aligned, NativeGenerator)
    assert said == ["it prints alignments"]


@needs_native
@torch.no_grad()
def test_sources_without_words_are_refused():
    model = build("gru_encoder", decoder_attention="dot").eval()
    decoder = NativeDecoder(model.decoder)
    source = decoder.source(model.encoder(**sources([3, 2])))
    names = ("keys", "products", "padding_mask")
    empty = source._replace(**{name: getattr(source, name)[:, :0] for name in names})
    options = SearchOptions(2, 3, 0, 0.0, 1.0, begin=2, end=2, padding=1, unknown=3)
    assert beam_search(decoder.weights(), source, options)
    with pytest.raises(ValueError, match="sources to attend to must have words"):
        beam_search(decoder.weights(), empty, options)
