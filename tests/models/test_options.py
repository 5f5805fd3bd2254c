"""Options: each is read, each has a help text, and a wrong value is named."""

import pytest
import torch
from fairseq.criterions.cross_entropy import CrossEntropyCriterion
from fairseq.models import MODEL_DATACLASS_REGISTRY
from omegaconf import OmegaConf

from tests.models.building import ARCHITECTURES, MODELS, SIZES, build, sample, task

every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)


class Recorder:
    """A configuration that remembers which of its options were read."""

    def __init__(self, config):
        self._config, self.read = config, set()

    def __getattr__(self, name):
        self.read.add(name)
        return getattr(self._config, name)


@every_architecture
def test_every_option_is_read_and_explained(architecture):
    config = MODEL_DATACLASS_REGISTRY[architecture](**{**dict.fromkeys(SIZES, 6), "dropout": 0.0})
    names = {name for name in config._get_all_attributes() if name != "_name"}
    read = set()
    for sharing, initialization in ((False, "published"), (True, "default")):
        config.share_all_embeddings, config.initialization = sharing, initialization
        recorder = Recorder(config)
        MODELS[architecture].build_model(recorder, task(joined=True))
        read |= recorder.read
    assert names <= read
    assert all(config._get_help(name) for name in names)


@pytest.mark.parametrize(
    ("architecture", "option", "value"),
    [
        ("gru_encoder", "gru_rank", -1),
        ("gru_encoder", "encoder_transition_depth", 0),
        ("gru_encoder", "decoder_hidden_size", 0),
        ("grconv_encoder", "grconv_height", -1),
    ],
)
def test_a_size_that_would_be_another_model_is_refused(architecture, option, value):
    with pytest.raises(ValueError, match=f"--{option.replace('_', '-')} must be at least [01], not {value}"):
        build(architecture, **{option: value})


@every_architecture
def test_no_flag_defaults_to_true(architecture):
    config = MODEL_DATACLASS_REGISTRY[architecture]()
    assert not [name for name in config._get_all_attributes() if getattr(config, name) is True]


@every_architecture
def test_built_from_hydras_configuration_as_from_the_dataclass(architecture):
    config = OmegaConf.structured(MODEL_DATACLASS_REGISTRY[architecture](**SIZES))
    shapes = {name: p.shape for name, p in MODELS[architecture].build_model(config, task()).named_parameters()}
    assert shapes == {name: p.shape for name, p in build(architecture).named_parameters()}


def test_all_embeddings_shared_are_one_parameter_with_the_gradients_of_three():
    sizes = {"encoder_embed_dim": 8, "decoder_out_embed_dim": 8}
    shared = build("gru_encoder", task(joined=True), share_all_embeddings=True, **sizes)
    apart = build("gru_encoder", task(joined=True), share_decoder_input_output_embed=True, **sizes)
    apart.load_state_dict(shared.state_dict())
    weight = shared.encoder.embed_tokens.weight
    assert shared.decoder.embed_tokens.weight is weight and shared.decoder.output_projection.weight is weight
    batch = sample([4, 1, 6], [5, 2, 7], words=11)
    for model in (shared, apart):
        CrossEntropyCriterion(task(joined=True), sentence_avg=False)(model.eval(), batch)[0].backward()
    grads = [side.embed_tokens.weight.grad for side in (apart.encoder, apart.decoder)]
    assert all(grad.abs().sum() > 0 for grad in grads)
    torch.testing.assert_close(weight.grad, sum(grads))


@pytest.mark.parametrize(("initialization", "freeze"), [("default", False), ("published", True)])
def test_words_of_a_file_of_embeddings_start_with_its_vectors(tmp_path, initialization, freeze):
    vectors = {"s0": [0.5, -1.0], "s3": [2.0, 3.0], "stranger": [1.0, 1.0]}
    path = tmp_path / "vectors.txt"
    path.write_text("3 2\n" + "".join(f"{word} {' '.join(map(str, v))}\n" for word, v in vectors.items()))
    options = {"encoder_embed_dim": 2, "encoder_embed_path": str(path), "encoder_freeze_embed": freeze}
    model = build("gru_encoder", initialization=initialization, **options)
    source, embedding = model.encoder.dictionary, model.encoder.embed_tokens.weight
    for word in ("s0", "s3"):
        assert embedding[source.index(word)].tolist() == vectors[word]
    assert embedding[source.index("s1")].abs().max() < 0.2
    assert embedding[source.pad()].tolist() == [0, 0]


def test_a_frozen_embedding_is_frozen_whole_and_the_other_side_is_not():
    model = build("gru_encoder", encoder_freeze_embed=True, embed_bias=True)
    trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    words = {f"{side}.embed_tokens.{kind}" for side in ("encoder", "decoder") for kind in ("weight", "bias")}
    assert words & trained == {"decoder.embed_tokens.weight", "decoder.embed_tokens.bias"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decoder_attention": "dot", "decoder_hidden_size": 9}, "states of 9 units with annotations of 5"),
        ({"share_all_embeddings": True}, "needs a joined dictionary"),
        (
            {"share_decoder_input_output_embed": True},
            r"--decoder-out-embed-dim \(7\) to equal --decoder-embed-dim \(8\)",
        ),
        (
            {"share_decoder_input_output_embed": True, "decoder_output_rank": 3},
            r"--decoder-output-rank \(3\) to equal --decoder-embed-dim \(8\)",
        ),
        ({"encoder_summary": "backward"}, "--encoder-summary backward needs --encoder-bidirectional"),
        (
            {"decoder_cell": "min_gru", "decoder_order": "attention_first"},
            "does not go with --decoder-order attention_",
        ),
        ({"decoder_cell": "min_gru", "decoder_transition_depth": 2}, "does not go with --decoder-transition-depth"),
        ({"token_shift": True}, "--token-shift is never read"),
        ({"decoder_second_hop": True}, "--decoder-second-hop needs --decoder-cell min_gru"),
        ({"decoder_second_hop": True, "decoder_cell": "min_gru", "decoder_attention": "none"}, "and an attention"),
        (
            {"decoder_cell": "min_gru", "decoder_layer_norm": True, "initialization": "published"},
            "--initialization published does not define the starting values of --decoder-layer-norm",
        ),
    ],
)
def test_contradictory_options_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        build("gru_encoder", **options)


@pytest.mark.parametrize(
    "option", [{"recurrent_dropout": 0.1}, {"skip_time": 2}, {"no_gate_bias": True}, {"skip_io": True}]
)
def test_an_option_of_grus_is_refused_where_there_is_none(option):
    build("gru_encoder", decoder_cell="min_gru", **option)  # its encoder reads it
    with pytest.raises(ValueError, match=f"--{next(iter(option)).replace('_', '-')} is never read"):
        build("grconv_encoder", decoder_cell="min_gru", **option)


def test_sharing_all_embeddings_needs_equal_sizes_and_one_file(tmp_path):
    joined = task(joined=True)
    with pytest.raises(ValueError, match=r"--encoder-embed-dim \(6\) to equal --decoder-embed-dim \(8\)"):
        build("gru_encoder", joined, share_all_embeddings=True)
    path = tmp_path / "vectors.txt"
    path.write_text("0 8\n")
    with pytest.raises(ValueError, match="does not allow a separate --decoder-embed-path"):
        build("gru_encoder", joined, share_all_embeddings=True, encoder_embed_dim=8, decoder_embed_path=str(path))


def test_bad_files_of_embeddings_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no embedding file at .*nowhere; .* --model-overrides"):
        build("gru_encoder", encoder_embed_path=str(tmp_path / "nowhere"))
    path = tmp_path / "vectors.txt"
    path.write_text("1 2\ns0 1.0 2.0\n")
    with pytest.raises(ValueError, match=r"vectors\.txt: its vectors have 2 numbers, and the model's embeddings 6"):
        build("gru_encoder", encoder_embed_path=str(path))
    path.write_text("1 2\ns0 one two\n")
    with pytest.raises(ValueError, match=r"vectors\.txt, line 2: could not convert string to float: 'one'"):
        build("gru_encoder", encoder_embed_path=str(path))
