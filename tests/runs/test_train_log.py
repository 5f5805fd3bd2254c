import pytest

from recurrent_mt.runs.train_log import read_train_log
from recurrent_mt.text_files import FileError
from tests.evaluation.logs import DONE, MODEL, interval, train_log, valid, write


def test_a_whole_log(tmp_path):
    log = read_train_log(write(tmp_path / "log", train_log()))
    assert (log.parameters, log.updates, log.best_valid_loss) == (1234567, 50, 4.25)
    assert log.wall_seconds == 60


def test_words_a_second_counts_undisturbed_intervals_only(tmp_path):
    # 1,000 words in 1 s and 2,000 in 4 s; the first interval and those with a validation are left out.
    log = read_train_log(write(tmp_path / "log", train_log()))
    assert log.words_per_second == pytest.approx(3000 / 5)


def test_words_a_second_may_be_unknown(tmp_path):
    log = read_train_log(write(tmp_path / "log", [MODEL, interval(10, 100), *valid(15, 3), interval(20, 100), DONE]))
    assert log.words_per_second is None


def test_a_resumed_run(tmp_path):
    cut = interval(40, 700)[:70]
    again = [MODEL, interval(30, 1), interval(40, 2000), DONE]
    log = read_train_log(write(tmp_path / "log", [MODEL, interval(20, 1), interval(30, 1000), cut, *again]))
    assert log.words_per_second == pytest.approx(2000 / 1.5)
    assert (log.updates, log.wall_seconds) == (40, 20)


def test_without_a_clock_the_time_of_a_resumed_run_is_unknown(tmp_path):
    """fairseq by itself writes 0 after a resumption in the middle of an epoch."""
    again = [MODEL, interval(30, 1, wall=0), interval(40, 2000, wall=0), DONE]
    log = read_train_log(write(tmp_path / "log", [MODEL, interval(20, 1), *again]))
    assert (log.updates, log.wall_seconds) == (40, None)


def test_a_log_of_hydra(tmp_path):
    lines = [
        "[2026-01-02 03:04:05,678][fairseq_cli.train][INFO] - num. shared model params: 99 (num. trained: 9)",
        '[2026-01-02 03:04:05,6][valid][INFO] - {"epoch": 1, "valid_loss": "2.5", "valid_num_updates": "7"}',
    ]
    log = read_train_log(write(tmp_path / "log", lines))
    assert (log.parameters, log.best_valid_loss, log.updates) == (99, 2.5, 7)


SIMPLE = """\
2026-01-02 03:04:05 | INFO | train_inner | epoch 001:     10 / 40 loss=9.5, nll_loss=9, wps=100, ups=1, wpb=100, num_updates=10, wall=3
2026-01-02 03:04:06 | INFO | train_inner | epoch 001:     20 / 40 loss=8.5, nll_loss=8, wps=1000, ups=10, wpb=100, num_updates=20, wall=4
2026-01-02 03:04:06 | INFO | fairseq_cli.train | begin validation on "valid" subset
2026-01-02 03:04:07 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 8.194 | nll_loss 7.361 | wps 39.5 | num_updates 20
2026-01-02 03:04:08 | INFO | train | epoch 001 | loss 5.964 | nll_loss 4.765 | wps 923 | wpb 100 | num_updates 40 | lr 0.0015 | wall 9
2026-01-02 03:04:09 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 5 | nll_loss 4.5 | num_updates 40 | best_loss 4.5
"""  # noqa: E501


def test_a_log_of_the_default_format(tmp_path):
    (tmp_path / "log").write_text(f"{MODEL}\n{SIMPLE}{DONE}\n")
    log = read_train_log(tmp_path / "log")
    assert log.validations == {20: 7.361, 40: 4.5} and (log.updates, log.wall_seconds) == (40, 9)
    assert log.words_per_second == pytest.approx(1000)


def test_the_last_line_of_the_default_format_may_be_cut(tmp_path):
    (tmp_path / "log").write_text(f"{MODEL}\n{SIMPLE.partition('0 | best_loss')[0]}")
    log = read_train_log(tmp_path / "log")
    assert log.validations == {20: 7.361} and log.updates == 40


def test_the_validation_loss_is_the_cross_entropy_without_smoothing(tmp_path):
    report = '… | valid | {"epoch": 1, "valid_loss": "4.5", "valid_nll_loss": "2.5", "valid_num_updates": "7"}'
    assert read_train_log(write(tmp_path / "log", [MODEL, report])).best_valid_loss == 2.5


def test_losses_that_are_no_numbers_do_not_count(tmp_path):
    lines = [MODEL, *valid(10, "nan"), *valid(20, 3.5), *valid(30, "inf")]
    assert read_train_log(write(tmp_path / "log", lines)).best_valid_loss == 3.5
    assert read_train_log(write(tmp_path / "log", lines[:4])).best_valid_loss is None


def test_copies_for_a_fast_path_are_no_parameters(tmp_path):
    """Two layers, 4 wide, with inner layers of 8: 4 · (16 + 4) + 2 · 32 + 8 + 4 = 156 each; a decoder has none."""
    printed = [
        "      (0-1): 2 x TransformerEncoderLayerBase(",
        "          (k_proj): Linear(in_features=4, out_features=4, bias=True)",
        "        (fc1): Linear(in_features=4, out_features=8, bias=True)",
        "        (fc2): Linear(in_features=8, out_features=4, bias=True)",
        "      (0-1): 2 x TransformerDecoderLayerBase(",
        "        (fc1): Linear(in_features=4, out_features=8, bias=True)",
    ]
    model = [*printed, MODEL]
    assert read_train_log(write(tmp_path / "log", [*model, *model])).parameters == 1234567 - 312


def test_what_came_before_a_training_that_began_anew_is_left_out(tmp_path):
    def report(updates: int, loss: float) -> str:
        return f'… | valid | {{"epoch": 1, "valid_loss": {loss}, "valid_num_updates": {updates}}}'

    beginning = "… | INFO | fairseq.trainer | No existing checkpoint found save/checkpoint_last.pt"
    first = [MODEL, beginning, report(10, 3.0), report(20, 2.0)]
    resumed = read_train_log(write(tmp_path / "log", [*first, MODEL, report(30, 2.5)]))
    assert resumed.validations == {10: 3.0, 20: 2.0, 30: 2.5}
    anew = read_train_log(write(tmp_path / "log", [*first, MODEL, beginning, report(10, 4.0)]))
    assert anew.validations == {10: 4.0} and anew.updates == 10 and anew.best_valid_loss == 4.0


BAD_LOGS = {
    "no model": (["hello"], "no line 'num. shared model params'"),
    "two models": ([MODEL, MODEL.replace("567", "568")], "line 2: a second model, of another size"),
    "broken report": (
        [MODEL, '… | valid | {"epoch": 1, "valid_loss": }'],
        "line 2: a valid report that is not JSON",
    ),
    "short report": (
        [MODEL, '… | train_inner | {"epoch": 1}'],
        "line 2: a train_inner report without num_updates",
    ),
}


@pytest.mark.parametrize(("lines", "message"), BAD_LOGS.values(), ids=BAD_LOGS)
def test_bad_logs_are_named(tmp_path, lines, message):
    with pytest.raises(FileError, match=f"bad.log.*{message}"):
        read_train_log(write(tmp_path / "bad.log", lines))
