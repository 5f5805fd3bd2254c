"""Exported models translate as fairseq's search does with the models they were exported from."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fairseq.checkpoint_utils import load_model_ensemble_and_task
from fairseq.sequence_generator import SequenceGenerator

from recurrent_mt import onnx_translation
from recurrent_mt.layers.grconv import DilatedGRConvEncoder
from recurrent_mt.onnx_export import decoder, encoders, export_model
from recurrent_mt.onnx_translation import MORE, TIMES, OnnxModel, beam_search, translate
from recurrent_mt.shortlist import Shortlist, write_shortlist
from recurrent_mt.text_files import FileError
from recurrent_mt.text_form import LENGTH_LIMITS
from tests.kernels.batches import needs_native
from tests.models.building import ARCHITECTURES, ENCODERS_WITH_ATTENTION, build, sources, task
from tests.models.test_search import generate, models
from tests.parity.made_up import made_up
from user_dir.checkpoints.exporting import take_apart
from user_dir.cli.import_groundhog import KINDS, import_model
from user_dir.tasks.native_translation import NativeGenerator

LENGTHS = [3, 7, 1, 5]
#: The layer of each encoder. One without a graph is refused, by name.
LAYERS = {name: type(build(name).encoder.layer) for name in ARCHITECTURES}
EXPORTED = [name for name, layer in LAYERS.items() if layer in encoders.ENCODERS]
#: Options that add something to a graph or leave something out.
DILATED = {"grconv_dilated": True, "encoder_hidden_size": 6}
OPTIONS = [
    ("gru_encoder", "additive", {"encoder_bidirectional": True, "encoder_summary": "backward"}),
    ("gru_encoder", "none", {"decoder_order": "attention_first", "decoder_layers": 2}),
    (
        "gru_encoder",
        "additive",
        {
            **{"encoder_layers": 2, "encoder_bidirectional": True, "decoder_layers": 2, "skip_io": True},
            **{"encoder_layer_norm": True, "decoder_layer_norm": True, "decoder_order": "attention_first"},
        },
    ),
    ("gru_encoder", "additive", {"gru_rank": 2, "no_gate_bias": True, "embed_bias": True, "decoder_output_rank": 3}),
    (
        "gru_encoder",
        "scaled_general",
        {"decoder_cell": "min_gru", "decoder_layer_norm": True, "decoder_readout": "linear"},
    ),
    ("gru_encoder", "additive", {"decoder_cell": "min_gru", "decoder_layers": 3, "gru_rank": 2}),
    ("gru_encoder", "scaled_general", {"decoder_cell": "min_gru", "decoder_second_hop": True}),
    ("gru_encoder", "none", {"decoder_cell": "min_gru"}),
    ("min_gru_encoder", "additive", {"decoder_cell": "min_gru", "decoder_layers": 2, "token_shift": True}),
    ("gru_encoder", "additive", {"decoder_out_embed_dim": 8, "share_decoder_input_output_embed": True}),
    (
        "grconv_encoder",
        "additive",
        {"grconv_annotations": "pyramid", "grconv_annotation_height": 2, "encoder_layer_norm": True},
    ),
    ("grconv_encoder", "none", {"grconv_activation": "relu", "grconv_height": 3}),
    ("grconv_encoder", "additive", {**DILATED, "encoder_layer_norm": True}),
    ("grconv_encoder", "none", {**DILATED, "grconv_dilated_weights": 3, "grconv_dilated_summary": "max"}),
    ("grconv_encoder", "additive", {**DILATED, "grconv_dilated_weights": 3, "grconv_height": 2}),
]


def export(model, folder, for_task=None, **options):
    checkpoint = SimpleNamespace(model=model, task=for_task or task(), path="model.pt")
    export_model(take_apart(checkpoint), folder, **options)
    return OnnxModel(folder, threads=1)


def first_scores(exported, sentences):
    """The log-probabilities (B, V) of the first words."""
    encoded, state = exported.encode(sentences)
    count = len(encoded.words)
    forbidden = np.zeros(count, dtype=np.float32)
    scores, words, _ = exported.step(np.full(len(sentences), exported.eos), encoded, state, forbidden, count)
    return np.take_along_axis(scores, words.argsort(axis=1), axis=1)


def words_of(batch):
    return [row[row.ne(1)].numpy() for row in batch["src_tokens"]]


def assert_same_translations(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        assert [hypothesis.words for hypothesis in ours] == [one["tokens"][:-1].tolist() for one in theirs]
        scores = [float(one["score"]) for one in theirs]
        assert [hypothesis.score for hypothesis in ours] == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize(
    ("architecture", "attention", "options"),
    [*((*pair, {}) for pair in ENCODERS_WITH_ATTENTION if pair[0] in EXPORTED), *OPTIONS],
)
def test_an_exported_model_translates_as_fairseq_does(architecture, attention, options, tmp_path):
    (model,) = models(architecture, attention, **options)
    batch = sources(LENGTHS)
    found = beam_search(export(model, tmp_path), words_of(batch), beam=5, max_words=9)
    assert_same_translations(found, generate([model], batch))


@pytest.mark.parametrize(
    "options",
    [{"decoder_layers": 2}, {"decoder_cell": "min_gru"}, {"decoder_cell": "min_gru", "decoder_second_hop": True}],
    ids=["gru", "min_gru", "second_hop"],
)
def test_so_does_a_large_one_whose_annotations_are_multiplied_once(options, tmp_path, monkeypatch):
    monkeypatch.setattr(decoder, "MOST_WEIGHTS", 0)
    test_an_exported_model_translates_as_fairseq_does("gru_encoder", "additive", options, tmp_path)
    sources, _ = OnnxModel(tmp_path, threads=1).encode([np.array([4, 2])])
    made = decoder.products_width(build("gru_encoder", decoder_attention="additive", **options).decoder.layer)
    assert sources.own["values"].shape == (1, 2, made)


def test_every_graph_is_that_of_a_model_here():
    assert set(encoders.ENCODERS) - {DilatedGRConvEncoder} == {LAYERS[name] for name in EXPORTED}
    assert EXPORTED == ["grconv_encoder", "gru_encoder", "min_gru_encoder"]


@pytest.mark.parametrize(
    ("architecture", "options", "message"),
    [
        ("grnn_encoder", {}, "no ONNX graph for the encoder GRNNEncoder; there is for GRUEncoder, MinGRU"),
        ("gru_encoder", {"skip_time": 2}, "model.pt has --skip-time, which is not exported"),
        ("gru_encoder", {"encoder_transition_depth": 2}, "model.pt has a deep transition, which is not exported"),
        ("gru_encoder", {"decoder_self_attention_heads": 2}, "model.pt has self-attention, which is not exported"),
    ],
)
def test_what_has_no_graph_is_named(architecture, options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        export(build(architecture, **options), tmp_path)


def test_an_exported_model_takes_the_longest_source_of_its_manifest(tmp_path):
    """Positions are computed in the graph, not stored in it."""
    for_task = task()
    for_task.cfg.max_source_positions = longest = 4100
    model = build("grconv_encoder", for_task, **DILATED, grconv_dilated_positions=True).eval()
    batch = sources([longest])
    found = beam_search(export(model, tmp_path, for_task), words_of(batch), beam=5, max_words=9)
    assert_same_translations(found, generate([model], batch))


@pytest.mark.parametrize("kind", KINDS)
def test_an_imported_model_of_the_authors_translates_as_fairseq_does(kind, tmp_path):
    arrays, _ = made_up(kind, {"H": 10, "E": 7, "S": 23, "T": 31}, seed=1)
    np.savez(tmp_path / "params.npz", **arrays)
    import_model(tmp_path / "params.npz", tmp_path)
    (model,), _, its_task = load_model_ensemble_and_task([str(tmp_path / "checkpoint.pt")])
    model.eval()
    batch = sources(LENGTHS)
    generator = SequenceGenerator([model], its_task.target_dictionary, beam_size=5, max_len_b=9)
    expected = generator.generate([model], {"net_input": batch})
    exported = export(model, tmp_path / "onnx", its_task)
    assert_same_translations(beam_search(exported, words_of(batch), beam=5, max_words=9), expected)


@needs_native
@pytest.mark.parametrize(
    "options",
    [
        {"decoder_output_rank": 3},
        {"decoder_attention": "none", "decoder_cell": "min_gru", "decoder_readout": "linear"},
        {"decoder_out_embed_dim": 8, "share_decoder_input_output_embed": True},
    ],
)
@pytest.mark.parametrize("beam", [1, 5])
def test_with_a_shortlist_an_exported_model_translates_as_the_native_search_does(options, beam, tmp_path):
    for_task = task(target_words=60)
    words = for_task.target_dictionary.symbols
    lists = {f"s{number}": words[4 + number :: 5] for number in range(9)} | {"</s>": ["</s>", "t1"]}
    write_shortlist(tmp_path / "list", lists)
    model = build("gru_encoder", for_task, **{"decoder_attention": "additive", **options}).eval()
    batch = sources(LENGTHS)
    generator = NativeGenerator([model], for_task.target_dictionary, beam_size=beam, max_len_b=9)
    generator.shortlist = Shortlist.read(tmp_path / "list", for_task.source_dictionary.symbols, words)
    exported = export(model, tmp_path / "onnx", for_task, shortlist=tmp_path / "list")
    found = beam_search(exported, words_of(batch), beam=beam, max_words=9)
    assert_same_translations(found, generator.generate([model], {"net_input": batch}))


def test_in_eight_bits_a_shortlist_of_all_words_changes_nothing(tmp_path):
    for_task, batch = task(), words_of(sources(LENGTHS))
    every = for_task.target_dictionary.symbols
    write_shortlist(tmp_path / "list", {"</s>": every})
    (model,) = models("gru_encoder", "additive")
    whole, listed = (
        export(model, tmp_path / name, int8=True, shortlist=shortlist)
        for name, shortlist in {"whole": None, "listed": tmp_path / "list"}.items()
    )
    assert listed.encode(batch)[0].words.shape[-1] == len(every)
    expected, found = (beam_search(exported, batch, max_words=9) for exported in (whole, listed))
    for ours, theirs in zip(found, expected, strict=True):
        assert [one.words for one in ours] == [one.words for one in theirs]
        assert [one.score for one in ours] == pytest.approx([one.score for one in theirs], abs=1e-5)


@pytest.mark.parametrize("options", [{"beam_size": 1}, {"beam_size": 3, "len_penalty": 0.3}], ids=["greedy", "lenpen"])
def test_beam_and_length_penalty_are_fairseqs(options, tmp_path):
    (model,) = models("gru_encoder", "additive")
    batch = sources(LENGTHS)
    ours = {"beam": options["beam_size"], "length_penalty": options.get("len_penalty", 1.0)}
    found = beam_search(export(model, tmp_path), words_of(batch), max_words=9, **ours)
    assert_same_translations(found, generate([model], batch, **options))


@pytest.mark.parametrize(
    ("architecture", "options"),
    [
        *((architecture, {}) for architecture in EXPORTED),
        ("gru_encoder", {"share_decoder_input_output_embed": True}),
        ("grconv_encoder", {**DILATED, "grconv_dilated_positions": True}),
    ],
)
def test_eight_bits_store_less_and_score_nearly_the_same(architecture, options, tmp_path):
    sizes = {"encoder_embed_dim": 64, "decoder_embed_dim": 64, "decoder_out_embed_dim": 64}
    (model,) = models(architecture, "additive", **sizes, **options)
    exact, small = (export(model, tmp_path / str(int8), int8=int8) for int8 in (False, True))
    sizes = [(tmp_path / name / "decoder.onnx").read_bytes() for name in ("False", "True")]
    assert len(sizes[1]) < len(sizes[0])
    scores = [first_scores(exported, words_of(sources(LENGTHS))) for exported in (exact, small)]
    difference = np.abs(scores[0] - scores[1])
    assert 0 < difference.max() < 0.1 * np.ptp(scores[0])


def test_in_eight_bits_a_sentence_has_the_scores_that_it_has_alone(tmp_path):
    sizes = {"encoder_embed_dim": 64, "decoder_embed_dim": 64, "decoder_out_embed_dim": 64}
    (model,) = models("gru_encoder", "scaled_general", encoder_bidirectional=True, **sizes)
    exact, small = (export(model, tmp_path / str(int8), int8=int8) for int8 in (False, True))

    sentences = words_of(sources(LENGTHS))
    together = first_scores(small, sentences)
    for row, sentence in enumerate(sentences):
        alone = first_scores(small, [sentence])[0]
        np.testing.assert_allclose(alone, together[row], atol=1e-5)
        # What onnxruntime makes of the quantizer's order of products is wrong for a single row.
        error = np.abs(alone - first_scores(exact, [sentence])[0]).max()
        assert error < 0.1 * np.ptp(alone)


@pytest.mark.parametrize("int8", [False, True])
def test_an_embedding_that_everything_shares_is_stored_once(int8, tmp_path):
    joint = task(source_words=13, joined=True)
    sizes = {"encoder_embed_dim": 256, "decoder_embed_dim": 256, "decoder_out_embed_dim": 256}
    model = build("gru_encoder", joint, decoder_attention="additive", share_all_embeddings=True, **sizes).eval()
    exported = export(model, tmp_path, joint, int8=int8)
    (words, size), number = model.encoder.embed_tokens.weight.shape, 1 if int8 else 4
    assert (tmp_path / "shared.bin").stat().st_size == words * size * number
    others = sum(weight.numel() for weight in model.parameters()) - words * size
    assert sum(file.stat().st_size for file in tmp_path.glob("*.onnx")) < (2 if int8 else 4) * others + 40_000
    batch = sources(LENGTHS)
    if not int8:
        assert_same_translations(beam_search(exported, words_of(batch), beam=5, max_words=9), generate([model], batch))


@pytest.mark.parametrize("most_going", [0, 1], ids=["all_stay_to_the_end", "each_leaves_when_it_is_done"])
def test_translations_come_in_the_order_of_the_sentences_and_do_not_depend_on_the_batch(
    most_going, tmp_path, monkeypatch
):
    monkeypatch.setattr(onnx_translation, "MOST_GOING", most_going)
    (model,) = models("gru_encoder", "additive")
    exported = export(model, tmp_path)
    sentences = ["s1 s2 s3 s4", "s5", "", "never-seen s2"]
    together, alone = (translate(exported, sentences, batch=size, max_words=9) for size in (4, 1))
    for some, same in zip(together, alone):
        assert [one.text(exported) for one in some] == [one.text(exported) for one in same]
    assert together[1] != together[2] and len(together) == 4
    # A word like the padding symbol is an unknown word.
    assert exported.numbers("s1 never-seen <pad>").tolist() == [4 + 1, exported.unk, exported.unk, exported.eos]


def test_a_translation_that_does_not_end_has_twice_the_words_of_its_source_and_ten(tmp_path, monkeypatch):
    """As with the recipes."""
    assert {"max_len_a": TIMES, "max_len_b": MORE} == LENGTH_LIMITS
    exported = export(build("gru_encoder"), tmp_path)
    step = exported.step

    def step_on(words, sources, state, forbidden, count):
        return step(words, sources, state, np.where(sources.words == exported.eos, np.float32(-1e9), forbidden), count)

    monkeypatch.setattr(exported, "step", step_on)
    words = [exported.numbers("s1 s2"), exported.numbers("s1 s2 s3 s4")]
    assert {len(one.words) for found in beam_search(exported, words) for one in found} == {2 * 5 + 10}
    assert {len(one.words) for found in beam_search(exported, words, max_words=4) for one in found} == {4}
    for penalty in (math.nan, 51):
        with pytest.raises(ValueError, match=f"length_penalty must be from -50 to 50, not {penalty}"):
            translate(exported, ["s1"], length_penalty=penalty)
    with pytest.raises(TypeError, match="sentences must be a list, not 's1 s2'"):
        translate(exported, "s1 s2")


def test_what_cannot_be_exported_or_read_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"model.pt holds a Linear: only this plug-in's models are exported"):
        export(torch.nn.Linear(2, 2), tmp_path)
    with pytest.raises(ValueError, match=r"manifest.json.*is the folder one that recurrent-mt export has written"):
        OnnxModel(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps({"format": "another"}))
    with pytest.raises(ValueError, match="the format is 'another', and 'recurrent-mt-onnx-2' is read"):
        OnnxModel(tmp_path)
    exported = export(build("gru_encoder"), tmp_path)
    with pytest.raises(ValueError, match="sentence 2 has 71 words, </s> included; the model takes 64"):
        translate(exported, ["s1", "s1 " * 70])
    for number, message in (
        ({"beam": 0}, "beam must be at least 1, not 0"),
        ({"max_words": -1}, "max_words must be at least 1, not -1"),
        ({"batch": -1}, "batch must be at least 1, not -1"),
    ):
        with pytest.raises(ValueError, match=message):
            translate(exported, ["s1"], **number)
    (tmp_path / "decoder.onnx").write_bytes((tmp_path / "decoder.onnx").read_bytes()[:-1000])
    with pytest.raises(ValueError, match=r"decoder.onnx.*is no model that onnxruntime can load"):
        OnnxModel(tmp_path)


def write_lines(file, lines):
    file.write_text("".join(f"{line}\n" for line in lines))


def change_manifest(folder, **changes):
    file = folder / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


#: What may happen to an exported model: each had translated otherwise, or ended with a traceback.
DAMAGES = {
    "a permuted target.txt": (
        lambda folder: write_lines(folder / "target.txt", (folder / "target.txt").read_text().split()[::-1]),
        "target.txt: it is not the file that was exported",
    ),
    "no room for a word": (
        lambda folder: change_manifest(folder, longest_target=0),
        "manifest.json: .* lacks a number",
    ),
    "checksums of nothing": (lambda folder: change_manifest(folder, sha256=[]), "sha256 has no checksums of files"),
    "a file elsewhere": (
        lambda folder: change_manifest(folder, sha256={"/dev/zero": ""}),
        "sha256 has no checksums of files",
    ),
    "words without </s>": (
        lambda folder: (write_lines(folder / "source.txt", ["<pad>", "s1"]), change_manifest(folder, sha256={})),
        "source.txt: it lacks the word </s>",
    ),
    "another state": (lambda folder: change_manifest(folder, state=["x"]), "encoder.onnx: onnxruntime cannot run it: "),
    "no state's name": (lambda folder: change_manifest(folder, state=["keys"]), "state has a name twice, or that of"),
    "a state twice": (
        lambda folder: change_manifest(folder, state=["hidden"] * 2),
        "state has a name twice, or that of",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_model_is_refused_by_its_file(damage, tmp_path):
    export(build("gru_encoder"), tmp_path)
    do, message = DAMAGES[damage]
    do(tmp_path)
    with pytest.raises(FileError, match=message) as refused:
        translate(OnnxModel(tmp_path), ["s1"])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("beam", [1, 2])
def test_a_model_that_computes_no_numbers_is_refused(tmp_path, beam):
    """No hypothesis would end, and whoever takes the first would find none."""
    model = build("gru_encoder")
    torch.nn.init.constant_(model.decoder.output_projection.weight, math.nan)
    exported = export(model, tmp_path)
    with pytest.raises(FileError, match=r"decoder.onnx: it computes what is no number \(NaN\)"):
        translate(exported, ["s1"], beam=beam)


def test_the_graph_of_another_model_is_refused(tmp_path):
    """By its checksum, and in a folder of an earlier version, which has none, when it is run."""
    for name, options in (("model", {}), ("other", {"decoder_hidden_size": 9})):
        export(build("gru_encoder", **options), tmp_path / name)
    (tmp_path / "model" / "decoder.onnx").write_bytes((tmp_path / "other" / "decoder.onnx").read_bytes())
    with pytest.raises(FileError, match=r"decoder.onnx: it is not the file that was exported"):
        OnnxModel(tmp_path / "model")
    change_manifest(tmp_path / "model", sha256={})
    with pytest.raises(FileError, match=r"decoder.onnx: onnxruntime cannot run it: "):
        translate(OnnxModel(tmp_path / "model"), ["s1"])
