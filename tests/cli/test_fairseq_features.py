"""What users of fairseq's own models do, done with ours: the rows of docs/fairseq-features.md, in its order."""

import re
import shutil
import statistics

import pytest
import torch

from recurrent_mt.metrics import score
from tests.cli import toy
from tests.once import build_once

ARCHITECTURE = ("--arch", "gru_encoder", "--encoder-bidirectional")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """What `toy.learned` has, with the references of other sentences.

    The model has learned the task: only an option can make it give those.
    """
    learned = toy.learned(tmp_path_factory)

    def build(folder):
        toy.write_corpus(folder)
        references = (folder / "test.tgt").read_text().splitlines(keepends=True)
        (folder / "test.tgt").write_text("".join([*references[1:], references[0]]))
        toy.preprocess(folder, folder / "data")
        (folder / "save").symlink_to(learned / "save")
        return folder

    return build_once(tmp_path_factory, "features", build)


def generate(trained, *options, check=True):
    return toy.generate(trained / "data", trained / "save/checkpoint_last.pt", *options, check=check)


def hypotheses(process):
    found = toy.lines(process.stdout, "H")
    assert found.keys() == set(range(20))
    return found


def interactive(trained, text, *options):
    return toy.lines(run_interactive(trained, text, *options).stdout, "H")


def run_interactive(trained, text, *options, check=True):
    path = trained / "save/checkpoint_last.pt"
    return toy.run(
        *("fairseq-interactive", trained / "data", "--user-dir", toy.PLUGIN, "--path", path, "--cpu", "--beam", 3),
        *options,
        text=text,
        check=check,
    )


def test_a_literal_padding_symbol_is_translated_and_leaves_the_other_lines_alone(trained):
    clean, mixed = (interactive(trained, text) for text in ("w1 w2\nw3 w4\n", "w1 <pad> w2\nw3 w4\n"))
    assert mixed.keys() == {0, 1} and mixed[1] == clean[1] == "W4 W3"


def test_score(trained, tmp_path):
    done = generate(trained)
    texts = {letter: list(dict(sorted(toy.lines(done.stdout, letter).items())).values()) for letter in "HTS"}
    # Of the references, some are the test set's, which belong to other sentences.
    right = [" ".join(word.upper() for word in reversed(source.split())) for source in texts["S"]]
    references = right[:15] + texts["T"][15:]
    for name, lines in (("H", texts["H"]), ("T", references)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    done = toy.run("fairseq-score", "--sys", tmp_path / "H", "--ref", tmp_path / "T")
    expected = score("bleu", texts["H"], references, tokenize="none").value
    assert 20 < expected < 99 and f"BLEU4 = {expected:.2f}," in done.stdout


def test_constraints(trained):
    assert "W7" not in interactive(trained, "w1 w2 w3\n")[0].split()
    assert "W7" in interactive(trained, "w1 w2 w3\tW7\n", "--constraints")[0].split()


def test_a_constraint_that_no_translation_can_contain_is_refused(trained):
    done = run_interactive(trained, "w1 w2\nw1\tW7 nowhere\tW7\n", "--constraints", check=False)
    message = "the input, line 2: the constraint 'W7 nowhere' has a word that is not in the target dictionary"
    assert done.returncode and message in done.stderr


def test_constraints_without_the_option_are_translated_with_a_warning(trained):
    done = run_interactive(trained, "w1 w2\nw1\tw2\n")
    assert toy.lines(done.stdout, "H") == {0: "W2 W1", 1: "W2 W1"}
    assert "the input, line 2: what follows the tab is translated as a part of the sentence" in done.stdout
    assert "line 1" not in done.stdout


def test_constraints_of_binarized_text_are_refused(trained):
    done = generate(trained, "--constraints", check=False)
    assert done.returncode and "--constraints needs words that translations must contain" in done.stderr


def test_a_diverse_search_has_the_scores_of_the_model(trained):
    done = generate(trained, "--beam", 4, "--nbest", 4, "--diverse-beam-groups", 2)
    found = re.findall(r"^(H-\d+)\t\S+\t(.*)$", done.stdout, re.MULTILINE)
    assert len(set(found)) == len(found) > 20
    scores = [float(score) for score in re.findall(r"^H-\d+\t(\S+)\t", done.stdout, re.MULTILINE)]
    words = re.findall(r"^P-\d+\t(.*)$", done.stdout, re.MULTILINE)
    assert all(abs(score - statistics.mean(map(float, of))) < 1e-4 for score, of in zip(scores, map(str.split, words)))


def add_language_model(trained, folder, words):
    """Options that add a language model over these words, and the folder in which it finds them and the test set."""
    data = folder / "lm"
    splits = [f"--{split}pref={trained / split}.tgt" for split in ("train", "valid")]
    toy.run("fairseq-preprocess", "--only-source", *splits, "--srcdict", words, "--destdir", data)
    model = ("--arch", "lstm_lm", "--decoder-embed-dim", 8, "--decoder-hidden-size", 8, "--decoder-out-embed-dim", 8)
    toy.run(
        *("fairseq-train", data, "--task", "language_modeling", *model, "--save-dir", folder / "save"),
        *("--optimizer", "adam", "--max-update", 1, "--max-tokens", 600, "--cpu", "--no-epoch-checkpoints"),
        *("--sample-break-mode", "eos"),
    )
    both = shutil.copytree(trained / "data", folder / "both")
    shutil.copy(words, both / "dict.txt")
    return ("--lm-path", folder / "save/checkpoint_last.pt", "--lm-weight", 20), both


def test_language_model(trained, tmp_path):
    options, both = add_language_model(trained, tmp_path, trained / "data/dict.tgt.txt")
    strong = hypotheses(toy.generate(both, trained / "save/checkpoint_last.pt", *options))
    assert strong != hypotheses(generate(trained))
    with pytest.raises(AssertionError, match="fairseq-interactive adds no language model: leave --lm-path out"):
        interactive(trained, "w1 w2\n", *options)


def test_a_language_model_of_as_many_other_words_is_refused(trained, tmp_path):
    first, second, *others = (trained / "data/dict.tgt.txt").read_text().splitlines(keepends=True)
    words = tmp_path / "dict.txt"
    words.write_text("".join([second, first, *others]))
    options, both = add_language_model(trained, tmp_path, words)
    done = toy.generate(both, trained / "save/checkpoint_last.pt", *options, check=False)
    assert done.returncode and not toy.lines(done.stdout, "H")
    assert "the dict.txt in the data folder, which has other words than the target dictionary" in done.stderr


def test_sampling(trained):
    options = ("--sampling", "--sampling-topk", 4, "--temperature", 3, "--beam", 1)
    first, second = (hypotheses(generate(trained, *options, "--seed", seed)) for seed in (1, 2))
    assert first != second


def test_prefixes(trained):
    done = generate(trained, "--prefix-size", 1)
    references = toy.lines(done.stdout, "T")
    assert all(text.split()[:1] == references[number].split()[:1] for number, text in hypotheses(done).items())
    assert hypotheses(done) != references


def test_score_reference(trained):
    done = generate(trained, "--score-reference")
    assert hypotheses(done) == toy.lines(done.stdout, "T")


def test_a_multilingual_model_of_one_encoder_and_decoder(trained, tmp_path):
    toy.preprocess(trained, tmp_path / "data", "--joined-dictionary")
    task = ("--task", "translation_multi_simple_epoch", "--langs", "src,tgt", "--encoder-langtok", "tgt")
    pairs = ("--lang-pairs", "src-tgt")
    toy.train(tmp_path / "data", tmp_path / "save", *ARCHITECTURE, *task, *pairs, "--max-update", 2)
    options = (*task, *pairs, "-s", "src", "-t", "tgt")
    assert len(hypotheses(toy.generate(tmp_path / "data", tmp_path / "save/checkpoint_last.pt", *options))) == 20


def test_a_model_of_one_encoder_for_each_language_is_refused(trained, tmp_path):
    task = ("--task", "multilingual_translation", "--lang-pairs", "src-tgt")
    done = toy.train(trained / "data", tmp_path, *ARCHITECTURE, *task, "--max-update", 1, check=False)
    assert done.returncode and "Key 'left_pad_source' not in 'GRUEncoderConfig'" in done.stderr


def test_fine_tuning(trained, tmp_path):
    start = trained / "save/checkpoint_last.pt"
    resets = [f"--reset-{what}" for what in ("optimizer", "lr-scheduler", "meters", "dataloader")]
    for name, options in (
        ("tuned", ("--finetune-from-model", start)),
        ("restored", ("--restore-file", start, *resets)),
    ):
        log = toy.train(trained / "data", tmp_path / name, *ARCHITECTURE, *options, "--max-update", 2).stdout
        losses = [float(loss) for loss in re.findall(r'"loss": "([\d.]+)"', log)]
        assert '"train_num_updates": "2"' in log and losses[0] < 1.5  # a fresh model's is above 3
        again = toy.train(trained / "data", tmp_path / name, *ARCHITECTURE, *options, "--max-update", 3).stdout
        assert re.findall(r'"num_updates": "(\d+)"', again) == ["3"]


def test_a_training_without_a_last_checkpoint_is_not_begun_anew_over_its_best(trained, tmp_path):
    options = (*ARCHITECTURE, "--no-last-checkpoints", "--max-update", 2)
    toy.train(trained / "data", tmp_path, *options)
    again = toy.train(trained / "data", tmp_path, *options, check=False)
    assert again.returncode and f"{tmp_path / 'checkpoint_best.pt'} is of a training that cannot go on" in again.stderr


def test_a_training_that_keeps_no_state_of_its_optimizer_goes_on_after_its_last_update(trained, tmp_path):
    options = (*ARCHITECTURE, "--no-save-optimizer-state")
    toy.train(trained / "data", tmp_path, *options, "--max-update", 2)
    log = toy.train(trained / "data", tmp_path, *options, "--max-update", 3).stdout
    assert re.findall(r'"num_updates": "(\d+)"', log) == ["3"]


def test_a_training_with_amp_runs_on_a_cpu_and_leaves_a_checkpoint(trained, tmp_path):
    toy.train(trained / "data", tmp_path, *ARCHITECTURE, "--amp", "--max-update", 2)
    assert (tmp_path / "checkpoint_last.pt").is_file()


def test_averages_and_moving_averages(trained, tmp_path):
    paths = [*(trained / "save").glob("checkpoint_*_50.pt"), trained / "save/checkpoint_last.pt"]
    states = [torch.load(path, weights_only=False) for path in paths]
    for options, expected in (
        (paths, [state["model"] for state in states]),
        ((paths[1], "--ema"), [states[1]["extra_state"]["ema"]]),
    ):
        toy.run("recurrent-mt", "average", *options, "--out", tmp_path / "mean.pt")
        found = torch.load(tmp_path / "mean.pt", weights_only=False)["model"]
        for name, value in found.items():
            torch.testing.assert_close(value, sum(one[name] for one in expected) / len(expected))
        hypotheses(toy.generate(trained / "data", tmp_path / "mean.pt"))


@pytest.mark.slow
def test_back_translation(trained, tmp_path):
    """A reverse model translates target text by sampling; the pairs join the training data as a second part."""
    data = tmp_path / "data"
    words = ("--srcdict", trained / "data/dict.src.txt", "--tgtdict", trained / "data/dict.tgt.txt")
    toy.preprocess(trained, data, *words)
    toy.train(data, tmp_path / "reverse", *ARCHITECTURE, "-s", "tgt", "-t", "src", "--max-update", 20)
    options = ("-s", "tgt", "-t", "src", "--sampling", "--beam", 1)
    sampled = toy.generate(data, tmp_path / "reverse/checkpoint_last.pt", *options)
    sources = hypotheses(sampled)
    targets = toy.lines(sampled.stdout, "S")
    for suffix, lines in (("src", sources), ("tgt", targets)):
        (tmp_path / f"train.{suffix}").write_text("".join(f"{lines[number]}\n" for number in sorted(lines)))
    toy.run(
        *("fairseq-preprocess", "-s", "src", "-t", "tgt", f"--trainpref={tmp_path / 'train'}", *words),
        *("--destdir", tmp_path / "sampled"),
    )
    for path in (tmp_path / "sampled").glob("train.*"):
        path.rename(data / path.name.replace("train.", "train1.", 1))
    log = toy.train(data, tmp_path / "both", *ARCHITECTURE, "--upsample-primary", 2, "--max-update", 2).stdout
    assert "train1 src-tgt 20 examples" in log


def test_sampled_subwords(trained, tmp_path):
    codes = tmp_path / "codes"
    codes.write_text("#version: 0.2\n" + "".join(f"{w} {i}</w>\n" for w in "wW" for i in range(len(toy.WORDS))))
    options = ("--task", "sampled_translation", "--sample-subwords", codes, "--max-update", 1)
    log = toy.train(trained / "data", tmp_path / "save", *ARCHITECTURE, *options).stdout
    assert '"train_num_updates": "1"' in log
    hypotheses(toy.generate(trained / "data", tmp_path / "save/checkpoint_last.pt"))
