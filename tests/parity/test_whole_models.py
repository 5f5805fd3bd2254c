"""Whole models of the authors' code, imported and asked for every target word's probability.

Where numbers of the authors' code are at hand they are the truth. Models of other sizes, with weights of our own, are
compared with the equations written out in NumPy, which are first compared with those numbers themselves.
"""

import numpy as np
import pytest
import torch
from fairseq.checkpoint_utils import load_model_ensemble_and_task

from tests.cli import toy
from tests.commands import call
from tests.parity import groundhog_equations, oracle
from tests.parity.made_up import made_up
from user_dir.cli.import_groundhog import KINDS, UNKNOWN, import_model, read_parameters

SIZES = [{"H": 16, "E": 12, "S": 41, "T": 41}, {"H": 10, "E": 7, "S": 23, "T": 31}, {"H": 2, "E": 1, "S": 5, "T": 4}]


def load(path, folder):
    """Imports parameters and loads what was written as fairseq does."""
    kind = import_model(path, folder)
    (model,), _, task = load_model_ensemble_and_task([str(folder / "checkpoint.pt")])
    return kind, model.eval(), task


def encode(dictionary, ids):
    """GroundHog's ids as ours: 1 is the unknown word, the last one the end of the sentence."""
    words = len(dictionary) - 2  # our dictionary has <s> and <pad> besides
    special = {1: dictionary.unk(), words - 1: dictionary.eos()}
    return torch.tensor([[special[i] if i in special else dictionary.index(str(i)) for i in ids]])


def score(model, task, source_ids, target_ids):
    """The log-probability of each target word, and the alignment if there is one."""
    source, target = encode(task.source_dictionary, source_ids), encode(task.target_dictionary, target_ids)
    previous = torch.cat([torch.tensor([[task.target_dictionary.eos()]]), target[:, :-1]], dim=1)
    with torch.no_grad():
        output = model(src_tokens=source, src_lengths=torch.tensor([source.size(1)]), prev_output_tokens=previous)
        log_probabilities = model.get_normalized_probs(output, log_probs=True)
    alignment = None if output[1] is None else output[1]["attn"][0][0].numpy()
    return log_probabilities[0].gather(1, target[0][:, None])[:, 0].numpy(), alignment


@pytest.fixture(scope="module", params=KINDS)
def authors(request, tmp_path_factory):
    """The authors' numbers, and the model that fairseq loads from what was imported."""
    arrays = oracle.load(f"groundhog_{request.param}.npz")
    kind, model, task = load(oracle.find(f"groundhog_{request.param}.npz"), tmp_path_factory.mktemp(request.param))
    assert kind == request.param
    return arrays, kind, model, task


def pairs(arrays):
    indices = [name[1:] for name in arrays if name.startswith("x")]
    assert indices
    return [(arrays[f"x{i}"].tolist(), arrays[f"y{i}"].tolist(), i) for i in indices]


def test_log_probabilities_are_the_authors(authors):
    arrays, _, model, task = authors
    for source, target, index in pairs(arrays):
        ours, _ = score(model, task, source, target)
        np.testing.assert_allclose(ours, np.log(arrays[f"res{index}_0"][:, 0]), rtol=0, atol=1e-4)


def test_alignment_weights_are_the_authors(authors):
    arrays, kind, model, task = authors
    if kind != "rnnsearch":
        pytest.skip(f"{kind} has no attention")
    for source, target, index in pairs(arrays):
        _, alignment = score(model, task, source, target)
        np.testing.assert_allclose(alignment, arrays[f"res{index}_1"][:, :, 0], rtol=0, atol=1e-5)


def test_the_written_out_equations_give_the_authors_numbers(authors):
    arrays, kind, _, _ = authors
    parameters = {name[len("param/") :]: array for name, array in arrays.items() if name.startswith("param/")}
    for source, target, index in pairs(arrays):
        expected, _ = groundhog_equations.score(parameters, kind, source, target)
        np.testing.assert_allclose(np.log(arrays[f"res{index}_0"][:, 0]), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("sizes", SIZES[1:], ids=lambda sizes: "H{H}-E{E}-S{S}-T{T}".format(**sizes))
@pytest.mark.parametrize("kind", KINDS)
def test_imported_models_follow_the_equations(kind, sizes, tmp_path):
    arrays, sentences = made_up(kind, sizes, seed=sizes["H"])
    np.savez(tmp_path / "params.npz", **arrays)
    recognized, model, task = load(tmp_path / "params.npz", tmp_path / "model")
    assert recognized == kind
    for source, target in sentences:
        expected, expected_alignment = groundhog_equations.score(arrays, kind, source, target)
        ours, alignment = score(model, task, source, target)
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-4)
        if kind == "rnnsearch":
            np.testing.assert_allclose(alignment, expected_alignment, rtol=0, atol=1e-5)
        else:
            assert alignment is None


def test_what_groundhog_does_not_have_is_never_predicted(tmp_path):
    arrays, _ = made_up("rnnenc", SIZES[0], seed=1)
    np.savez(tmp_path / "params.npz", **arrays)
    _, model, task = load(tmp_path / "params.npz", tmp_path / "model")
    output = model(
        src_tokens=encode(task.source_dictionary, [5, 6, 40]),
        src_lengths=torch.tensor([3]),
        prev_output_tokens=torch.tensor([[2]]),
    )
    probabilities = model.get_normalized_probs(output, log_probs=False)[0, 0]
    assert probabilities[task.target_dictionary.bos()] == probabilities[task.target_dictionary.pad()] == 0
    assert probabilities.sum().item() == pytest.approx(1)


def test_bad_parameters_are_named(tmp_path):
    arrays, _ = made_up("rnnsearch", SIZES[1], seed=0)
    lacking = {name: array for name, array in arrays.items() if name != "G_enc_transition_0"}
    with pytest.raises(ValueError, match="G_enc_transition_0 is missing; mystery is not a parameter of rnnsearch"):
        read_parameters({**lacking, "mystery": np.zeros(1)})
    with pytest.raises(ValueError, match=r"B_dec_transition_0 has the shape \(10, 9\) instead of \(10, 10\)"):
        read_parameters({**arrays, "B_dec_transition_0": np.zeros((10, 9), np.float32)})
    with pytest.raises(ValueError, match="b_dec_deep_softmax holds numbers that are not finite"):
        read_parameters({**arrays, "b_dec_deep_softmax": np.full(31, np.nan, np.float32)})
    path = tmp_path / "not.npz"
    path.write_text("nothing")
    with pytest.raises(ValueError, match=r"not\.npz: "):
        import_model(path, tmp_path / "model")
    with pytest.raises(FileNotFoundError, match=r"missing\.npz"):
        import_model(tmp_path / "missing.npz", tmp_path / "model")


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The folder of a model that the tool has imported."""
    folder = tmp_path_factory.mktemp("imported")
    arrays, _ = made_up("rnnsearch", SIZES[0], seed=3)
    arrays["b_dec_deep_softmax"][[UNKNOWN, -1]] += 4, 2  # knows few words, and ends its sentences
    np.savez(folder / "params.npz", **arrays)
    done = call("import-groundhog", "--params", folder / "params.npz", "--save-dir", folder / "model")
    assert done.returncode == 0, done.stderr
    return folder / "model"


def test_fairseq_interactive_translates_with_what_was_imported(imported):
    done = toy.run(
        *("fairseq-interactive", imported, "--user-dir", toy.PLUGIN, "--cpu", "--beam", "4"),
        *("--task", "published_translation", "--shrinking-beam", "--unkpen", "inf"),
        *("--path", imported / "checkpoint.pt", "--max-len-b", "20"),
        text="5 6 7\n3 9 unseen 12\n",
    )
    hypotheses = toy.lines(done.stdout, "H")
    assert hypotheses.keys() == {0, 1}
    words = {word for line in hypotheses.values() for word in line.split()}
    assert all(word.isdigit() for word in words)


def test_word_lists(tmp_path):
    arrays, _ = made_up("rnnenc", SIZES[2], seed=0)  # 5 source and 4 target words
    np.savez(tmp_path / "params.npz", **arrays)
    source, target = tmp_path / "source.txt", tmp_path / "target.txt"
    source.write_text("le\nUNK\nchat\ndort\n<eol>\n")
    target.write_text("the\nUNK\ncat\n<eol>\n")
    with pytest.raises(ValueError, match=r"params.npz is a rnnenc, no grConv: leave --grconv-activation out"):
        import_model(tmp_path / "params.npz", tmp_path / "model", grconv_activation="tanh")
    assert not (tmp_path / "model").exists()
    import_model(tmp_path / "params.npz", tmp_path / "model", source_words=source, target_words=target)
    words = [line.split()[0] for line in (tmp_path / "model/dict.src.txt").read_text().splitlines()]
    assert words == ["le", "chat", "dort"]
    for text, message in (
        ("the\nUNK\n<eol>\n", "target.txt has 3 lines, but the model has 4 words"),
        ("the\nUNK\nthe\n<eol>\n", "target.txt, line 3: 'the' is already on line 1"),
        ("the\nUNK\n<pad>\n<eol>\n", "word id 2 is '<pad>', which fairseq reserves"),
    ):
        target.write_text(text)
        with pytest.raises(ValueError, match=message):
            import_model(tmp_path / "params.npz", tmp_path / "bad", source_words=source, target_words=target)
    assert not (tmp_path / "bad" / "checkpoint.pt").exists()
