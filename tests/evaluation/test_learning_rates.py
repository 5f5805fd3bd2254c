import pytest

from recurrent_mt.evaluation.learning_rates import RateChoice, choose_rate, read_choice
from recurrent_mt.text_files import FileError
from tests.evaluation.logs import MODEL, train_log, valid, write
from tests.evaluation.test_analysis import write_lines


@pytest.fixture
def folder(tmp_path):
    """A search with losses 4.25, 4.0, a divergence, and 4.0 again."""
    for rate, lines in {
        "5e-4": train_log(),
        "1e-3": [MODEL, *valid(10, 4.5), *valid(20, 4.0), *valid(30, "nan")],
        "1": [MODEL, *valid(10, 9.0)],
        "2e-3": [MODEL, *valid(10, 4.0)],
    }.items():
        (tmp_path / "seed-3" / rate).mkdir(parents=True)
        write(tmp_path / "seed-3" / rate / "train.log", lines)
    write_lines(tmp_path / "seed-3" / "1" / "outcome", ["diverged", "diverged: loss or gradient is not a number"])
    return tmp_path


def test_the_lowest_validation_loss_wins_and_the_first_of_equals(folder):
    choice = choose_rate(folder, seed=3, rates=["5e-4", "1e-3", "1", "2e-3"])
    assert choice == RateChoice(3, "1e-3", {"5e-4": 4.25, "1e-3": 4.0, "1": None, "2e-3": 4.0})
    assert choose_rate(folder, seed=3, rates=["2e-3"]) == read_choice(folder) == choice, "made once"


def test_a_choice_stays_when_its_training_has_moved(folder):
    choice = choose_rate(folder, seed=3, rates=["1e-3", "5e-4"])
    (folder / "seed-3" / "1e-3").rename(folder / "moved")
    assert choose_rate(folder, seed=3, rates=["1e-3", "5e-4"]) == choice


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda at: write_lines(at / "5e-4" / "outcome", ["failed", "out of memory"]), r"rate 5e-4 failed: out"),
        (lambda at: (at / "5e-4" / "train.log").unlink(), r"5e-4/train.log: there is no such file"),
        (lambda at: write(at / "5e-4" / "train.log", [MODEL]), r"no learning rate of 5e-4, 1 gave a validation loss"),
    ],
)
def test_an_incomplete_search_makes_no_choice(folder, change, message):
    change(folder / "seed-3")
    with pytest.raises(ValueError, match=message):
        choose_rate(folder, seed=3, rates=["5e-4", "1"])
    assert read_choice(folder) is None


def test_a_damaged_choice_is_named(folder):
    for text in ("{", '{"rate": 1}'):
        (folder / "choice.json").write_text(text)
        with pytest.raises(FileError, match=r"choice.json: not a choice of a learning rate"):
            read_choice(folder)
