"""What a person sees of Snakemake's events and of the logs of trainings."""

import io

from recurrent_mt.experiments.console import Console
from recurrent_mt.experiments.engine import read_event

REPORT = '2026-01-02 03:04:05 | INFO | train_inner | {{"epoch": 1, "loss": "4.5", "wps": "1200", "ups": "2", {}}}\n'


def job(number, rule, title, log="train.log", **wildcards):
    event = {"event": "job_info", "jobid": number, "rule_name": rule, "rule_msg": title, "log": [log]}
    return {**event, "wildcards": wildcards, "shellcmd": f"fairseq-{rule} DATA"}


def console(folder, **options):
    return Console(folder, out=io.StringIO(), **options)


def test_a_training_shows_its_command_its_progress_and_its_end(tmp_path):
    shown = console(tmp_path, limit=500)
    shown.handle({"event": "run_info", "stats": {"total": 3}})
    shown.handle(job(1, "train", "Training lstm, seed 1"))
    (tmp_path / "train.log").write_text(REPORT.format('"num_updates": "100"') + "cut of")
    shown.show_progress()
    shown.show_progress()
    shown.handle({"event": "job_finished", "job_id": 1})
    said = shown.out.getvalue()
    assert f"Training lstm, seed 1: begins (log: {tmp_path}/train.log)\n  $ fairseq-train DATA\n" in said
    assert said.count("update 100/500, loss 4.500, 1,200 words/s, 3 min left\n") == 1
    assert "[1/2] Training lstm, seed 1: 0 s\n" in said


def test_a_failed_job_shows_the_end_of_its_own_log_and_where_the_rest_is(tmp_path):
    (tmp_path / "x.log").write_text("".join(f"line {number}\n" for number in range(100)) + "no room\n")
    shown = console(tmp_path)
    shown.handle(job(1, "translate", "Translating", "x.log", folder="lstm-1", seed="2"))
    shown.handle({"event": "job_error", "jobid": 1})
    said = shown.out.getvalue()
    assert "Translating: failed\n" in said and "  | no room\n" in said and "line 84" not in said
    assert f"The whole log: {tmp_path}/x.log" in said
    assert [failed.wildcards for failed in shown.failed] == [{"folder": "lstm-1", "seed": "2"}]


def test_a_failed_job_without_a_log_shows_what_the_engine_said_of_it(tmp_path):
    shown = console(tmp_path)
    for number, reason in enumerate(("no such file", "no room")):
        shown.handle({**job(number, "copy_text", "Reading"), "log": []})
        shown.errors.append(f"tr: {reason}")
        shown.handle({"event": "error", "text": "RuleException:\nit returned non-zero exit status 1."})
        shown.handle({"event": "job_error", "jobid": number})
    said = "Reading: failed\n  | tr: {}\n  | RuleException:\n  | it returned non-zero exit status 1.\n"
    assert shown.out.getvalue() == said.format("no such file") + said.format("no room")


def test_a_failed_job_shows_what_the_cluster_says_of_it(tmp_path):
    (tmp_path / "x.log").write_text("update 80\n")
    shown = console(tmp_path)
    shown.handle(job(1, "train", "Training", "x.log"))
    shown.handle({"event": "job_error", "jobid": 1, "rule_msg": "SLURM-job '7' failed, SLURM status is: 'TIMEOUT'."})
    said = "Training: failed\n  | SLURM-job '7' failed, SLURM status is: 'TIMEOUT'.\n  | update 80\n"
    assert said in shown.out.getvalue()


def test_a_plan_prints_every_command_and_nothing_else(tmp_path):
    shown = console(tmp_path, plan_only=True)
    shown.handle(job(1, "train", "Training lstm, seed 1"))
    shown.handle({"event": "job_finished", "job_id": 1})
    assert shown.out.getvalue() == "\n== Training lstm, seed 1\n  $ fairseq-train DATA\n"


def test_what_was_dropped_from_a_text_is_said(tmp_path):
    (tmp_path / "lengths.log").write_text("Dropped 1 of 120 pairs (the first: train.fr line 8 has no token).\n")
    shown = console(tmp_path)
    shown.handle(job(1, "limit_lengths", "Limiting", "lengths.log"))
    shown.handle({"event": "job_finished", "job_id": 1})
    assert "Dropped 1 of 120 pairs" in shown.out.getvalue()


def test_lines_that_are_no_events_are_told_apart():
    assert read_event('{"event": "job_started"}\n') == {"event": "job_started"}
    assert read_event("Traceback (most recent call last):\n") is None
    assert read_event('{"event": \n') is None
