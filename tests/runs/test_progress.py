"""What a person sees of Snakemake's events and of the logs of trainings."""

import io
import logging
from types import SimpleNamespace

import pytest

from recurrent_mt.runs.launcher import WORKFLOW

REPORT = '2026-01-02 03:04:05 | INFO | train_inner | {{"epoch": 1, "loss": "4.5", "wps": "1200", "wpb": "600", {}}}\n'


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """The plug-in, in the run folder; ``out`` has what it says."""
    pytest.importorskip("snakemake_interface_logger_plugins")
    monkeypatch.syspath_prepend(str(WORKFLOW))
    monkeypatch.chdir(tmp_path)
    import snakemake_logger_plugin_progress as module

    monkeypatch.setattr(module, "end_jobs", lambda: None)  # they would be those of pytest
    # A dry run takes no signal and follows no log.
    handler = module.LogHandler(SimpleNamespace(dryrun=True), module.LogHandlerSettings(limit=500))
    handler.common_settings.dryrun, handler.out = False, io.StringIO()
    return handler


def send(plugin, event, *, level=logging.INFO, text="", **fields):
    record = logging.LogRecord("snakemake", level, "", 0, text, None, None)
    vars(record).update({"event": event, **fields} if event else fields)
    plugin.emit(record)


def start(plugin, number, rule, title, *, log=("train.log",), output=("text",)):
    fields = {"jobid": number, "rule_name": rule, "rule_msg": title, "log": list(log), "output": list(output)}
    send(plugin, "job_info", **fields, shellcmd=f"fairseq-{rule} DATA")


def said(plugin):
    return plugin.out.getvalue()


def test_a_training_shows_its_command_its_progress_and_its_end(plugin, tmp_path):
    send(plugin, "run_info", stats={"total": 3})
    start(plugin, 1, "train", "Training lstm, seed 1")
    (tmp_path / "train.log").write_text(REPORT.format('"num_updates": "100"') + "cut of")
    plugin.show_progress()
    plugin.show_progress()
    send(plugin, "job_finished", job_id=1)
    assert f"Training lstm, seed 1: begins (log: {tmp_path}/train.log)\n  $ fairseq-train DATA\n" in said(plugin)
    assert said(plugin).count("update 100/500, loss 4.500, 1,200 words/s, 3 min left\n") == 1
    assert "[1/2] Training lstm, seed 1: 0 s\n" in said(plugin)


def test_an_outcome_says_what_became_of_a_job_that_has_ended(plugin, tmp_path):
    for number, (name, text) in enumerate({"a": "finished\n", "b": "failed\nno room\n", "c": "skipped\n"}.items()):
        (tmp_path / f"{name}.outcome").write_text(text)
        start(plugin, number, "translate", f"Translating {name}", output=[f"{name}.outcome"])
        send(plugin, "job_finished", job_id=number)
    assert said(plugin).splitlines() == [
        "[1/1] Translating a: 0 s",
        "Translating b: failed: no room",
        f"  The whole log: {tmp_path}/train.log",
    ]


def test_what_follows_a_fault_is_said(plugin, capsys):
    send(plugin, "run_info", stats={"total": "many"})
    assert "ValueError" in capsys.readouterr().err
    start(plugin, 2, "compare", "Comparing")
    send(plugin, "job_finished", job_id=2)
    assert "Comparing: 0 s" in said(plugin)


def test_a_failed_job_shows_the_end_of_its_own_log_and_where_the_rest_is(plugin, tmp_path):
    (tmp_path / "x.log").write_text("".join(f"line {number}\n" for number in range(100)) + "no room\n")
    start(plugin, 1, "translate", "Translating", log=["x.log"])
    send(plugin, "job_error", jobid=1)
    assert "Translating: failed\n" in said(plugin) and "  | no room\n" in said(plugin) and "line 84" not in said(plugin)
    assert f"The whole log: {tmp_path}/x.log" in said(plugin)


def test_a_failed_job_without_a_log_shows_what_the_engine_said_of_it(plugin):
    for number, reason in enumerate(("no such file", "no room")):
        start(plugin, number, "copy_text", "Reading", log=[])
        text = f"tr: {reason}\nit returned non-zero exit status 1."
        send(plugin, "error", level=logging.ERROR, text=text)
        send(plugin, "job_error", jobid=number)
    expected = "Reading: failed\n  | tr: {}\n  | it returned non-zero exit status 1.\n"
    assert said(plugin) == expected.format("no such file") + expected.format("no room")


def test_a_failed_job_shows_what_the_cluster_says_of_it(plugin, tmp_path):
    (tmp_path / "x.log").write_text("update 80\n")
    start(plugin, 1, "split_words", "Splitting", log=["x.log"])
    send(plugin, "job_error", jobid=1, rule_msg="SLURM-job '7' failed, SLURM status is: 'TIMEOUT'.")
    assert "Splitting: failed\n  | SLURM-job '7' failed, SLURM status is: 'TIMEOUT'.\n  | update 80\n" in said(plugin)


def test_what_ends_after_a_signal_has_not_failed(plugin):
    start(plugin, 1, "split_words", "Splitting")
    with pytest.raises(KeyboardInterrupt):
        plugin.stop(2, None)
    send(plugin, "job_error", jobid=1)
    assert said(plugin) == ""


def test_a_second_signal_does_not_interrupt_what_the_first_one_began(plugin):
    with pytest.raises(KeyboardInterrupt):
        plugin.stop(2, None)
    plugin.stop(2, None)


def test_a_plan_prints_every_command_and_nothing_else(plugin):
    plugin.common_settings.dryrun = True
    send(plugin, "run_info", stats={"total": 1})
    start(plugin, 1, "train", "Training lstm, seed 1")
    send(plugin, "job_finished", job_id=1)
    plugin.close()
    assert said(plugin) == "\n== Training lstm, seed 1\n  $ fairseq-train DATA\n"


def test_a_plan_without_a_job_says_so(plugin):
    plugin.common_settings.dryrun = True
    plugin.close()
    assert said(plugin) == "Everything is there: nothing is left to do.\n"


def test_what_stops_snakemake_is_said_at_its_end(plugin):
    send(plugin, None, level=logging.ERROR, text="no rule makes x")
    plugin.close()
    assert said(plugin) == "no rule makes x\n"


def test_what_was_dropped_from_a_text_is_said(plugin, tmp_path):
    (tmp_path / "lengths.log").write_text("Dropped 1 of 120 pairs (the first: train.fr line 8 has no token).\n")
    start(plugin, 1, "limit_lengths", "Limiting", log=["lengths.log"])
    send(plugin, "job_finished", job_id=1)
    assert "Dropped 1 of 120 pairs" in said(plugin)
