"""What users of fairseq's own models do, done with ours: the rows of docs/guides/fairseq-features.md, in its order.

Those in which fairseq is repaired are tests of its repairs, in tests/compat/repairs.
"""

import io
import re
import shutil
import sys

import fairseq_cli.interactive
import fairseq_cli.score
import pytest
from fairseq import options as parsers

from recurrent_mt.metrics import score
from tests.cli import toy
from tests.compat.repairs import commands
from tests.once import build_once

ARCHITECTURE = ["--arch", "gru_encoder", "--encoder-bidirectional"]


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
        commands.preprocess(folder, folder / "data")
        (folder / "save").symlink_to(learned / "save")
        return folder

    return build_once(tmp_path_factory, "features", build)


def generate(trained, *options):
    return commands.generate(trained / "data", trained / "save/checkpoint_last.pt", *options)


def train(data, save, *options):
    return commands.train(data, save, *options, model=[*ARCHITECTURE, *toy.SMALL])


def hypotheses(printed):
    found = toy.lines(printed, "H")
    assert found.keys() == set(range(20))
    return found


@pytest.fixture
def interactive(trained, monkeypatch):
    """A function that translates what is typed with fairseq-interactive."""

    def translate(text, *options):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        line = [trained / "data", "--path", trained / "save/checkpoint_last.pt", "--cpu", "--beam", 3, *options]
        config = commands.parse(parsers.get_interactive_generation_parser(), line)
        return toy.lines(commands.printed(fairseq_cli.interactive.main, config), "H")

    return translate


def test_score(trained, tmp_path, monkeypatch, capsys):
    printed = generate(trained)
    texts = {letter: list(dict(sorted(toy.lines(printed, letter).items())).values()) for letter in "HTS"}
    # Of the references, some are the test set's, which belong to other sentences.
    right = [" ".join(word.upper() for word in reversed(source.split())) for source in texts["S"]]
    references = right[:15] + texts["T"][15:]
    for name, lines in (("H", texts["H"]), ("T", references)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    line = ["fairseq-score", "--sys", str(tmp_path / "H"), "--ref", str(tmp_path / "T")]
    monkeypatch.setattr(sys, "argv", line)
    fairseq_cli.score.cli_main()
    expected = score("bleu", texts["H"], references, tokenize="none").value
    assert 20 < expected < 99 and f"BLEU4 = {expected:.2f}," in capsys.readouterr().out


def test_constraints(interactive):
    plain, constrained = interactive("w1 w2 w3\nw1 w2 w3\tW7\n", "--constraints").values()
    assert "W7" not in plain.split() and "W7" in constrained.split()


def test_a_language_model_of_the_same_words_is_added(trained, tmp_path):
    words, model = trained / "data/dict.tgt.txt", trained / "save/checkpoint_last.pt"
    splits = [f"--{split}pref={trained / split}.tgt" for split in ("train", "valid")]
    toy.run("fairseq-preprocess", "--only-source", *splits, "--srcdict", words, "--destdir", tmp_path / "lm")
    small = ("--arch", "lstm_lm", "--decoder-embed-dim", 8, "--decoder-hidden-size", 8, "--decoder-out-embed-dim", 8)
    toy.run(
        *("fairseq-train", tmp_path / "lm", "--task", "language_modeling", *small, "--save-dir", tmp_path / "save"),
        *("--optimizer", "adam", "--max-update", 1, "--max-tokens", 600, "--cpu", "--no-epoch-checkpoints"),
        *("--sample-break-mode", "eos"),
    )
    both = shutil.copytree(trained / "data", tmp_path / "both")
    shutil.copy(words, both / "dict.txt")
    options = ("--lm-path", tmp_path / "save/checkpoint_last.pt", "--lm-weight", 20)
    assert hypotheses(commands.generate(both, model, *options)) != hypotheses(generate(trained))


def test_sampling(trained):
    options = ("--sampling", "--sampling-topk", 4, "--temperature", 3, "--beam", 1)
    first, second = (hypotheses(generate(trained, *options, "--seed", seed)) for seed in (1, 2))
    assert first != second


def test_prefixes(trained):
    printed = generate(trained, "--prefix-size", 1)
    references = toy.lines(printed, "T")
    assert all(text.split()[:1] == references[number].split()[:1] for number, text in hypotheses(printed).items())
    assert hypotheses(printed) != references


def test_score_reference(trained):
    printed = generate(trained, "--score-reference")
    assert hypotheses(printed) == toy.lines(printed, "T")


def test_a_multilingual_model_of_one_encoder_and_decoder(trained, tmp_path):
    commands.preprocess(trained, tmp_path / "data", "--joined-dictionary")
    task = ("--task", "translation_multi_simple_epoch", "--langs", "src,tgt", "--encoder-langtok", "tgt")
    pairs = ("--lang-pairs", "src-tgt")
    toy.train(tmp_path / "data", tmp_path / "save", *ARCHITECTURE, *task, *pairs, "--max-update", 2)
    options = (*task, *pairs, "-s", "src", "-t", "tgt")
    assert len(hypotheses(toy.generate(tmp_path / "data", tmp_path / "save/checkpoint_last.pt", *options).stdout)) == 20


def test_a_model_of_one_encoder_for_each_language_is_refused(trained, tmp_path):
    task = ("--task", "multilingual_translation", "--lang-pairs", "src-tgt")
    done = toy.train(trained / "data", tmp_path, *ARCHITECTURE, *task, "--max-update", 1, check=False)
    assert done.returncode and "Key 'left_pad_source' not in 'GRUEncoderConfig'" in done.stderr


def test_fine_tuning(trained, tmp_path, caplog):
    start = trained / "save/checkpoint_last.pt"
    resets = [f"--reset-{what}" for what in ("optimizer", "lr-scheduler", "meters", "dataloader")]
    for name, options in (
        ("tuned", ("--finetune-from-model", start)),
        ("restored", ("--restore-file", start, *resets)),
    ):
        caplog.clear()
        with caplog.at_level("INFO"):
            train(trained / "data", tmp_path / name, *options, "--max-update", 2)
        losses = [float(loss) for loss in re.findall(r'"loss": "([\d.]+)"', caplog.text)]
        assert '"train_num_updates": "2"' in caplog.text and losses[0] < 1.5  # a fresh model's is above 3


def test_a_training_with_amp_runs_on_a_cpu_and_leaves_a_checkpoint(trained, tmp_path):
    assert train(trained / "data", tmp_path, "--amp", "--max-update", 2)


@pytest.mark.slow
def test_back_translation(trained, tmp_path):
    """A reverse model translates target text by sampling; the pairs join the training data as a second part."""
    data = tmp_path / "data"
    words = ("--srcdict", trained / "data/dict.src.txt", "--tgtdict", trained / "data/dict.tgt.txt")
    toy.preprocess(trained, data, *words)
    toy.train(data, tmp_path / "reverse", *ARCHITECTURE, "-s", "tgt", "-t", "src", "--max-update", 20)
    options = ("-s", "tgt", "-t", "src", "--sampling", "--beam", 1)
    sampled = toy.generate(data, tmp_path / "reverse/checkpoint_last.pt", *options)
    sources = hypotheses(sampled.stdout)
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
