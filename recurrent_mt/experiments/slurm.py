"""What Snakemake's executor for Slurm does not find out or finish by itself."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import yaml

#: Seconds in which a command of Slurm answers, if it does.
ANSWER = 60
#: The executor asks at most so many seconds apart what has become of its jobs.
LONGEST_PAUSE = 180
#: It gives a job up that it could not ask for in so many attempts, this many a second: after a day.
PATIENT = {"slurm-status-attempts": "8640", "max-status-checks-per-second": "0.1"}


def status_options(profile: Path) -> list[str]:
    """Options by which the executor learns what becomes of its jobs; without, it waits for ever.

    Where accounting, which `sacct` asks, is not set up, it asks `squeue`. What does not answer is asked again.

    Args:
        profile: of Snakemake. What it says is left as it is, and nothing is added to one for another executor.

    Raises:
        RuntimeError: if no command can say what becomes of a job.
    """
    file = profile / "config.yaml"
    settings = (yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else None) or {}
    if settings.get("executor") != "slurm":
        return []
    options = dict(PATIENT)
    if "slurm-status-command" not in settings and not answers("sacct"):
        if not answers("squeue"):
            raise RuntimeError("neither sacct nor squeue answers: call this on a machine from which Slurm takes jobs")
        found = re.search(r"^MinJobAge\s*=\s*(\d+)", ask("scontrol", "show", "config") or "", re.MULTILINE)
        age = int(found[1]) if found else 0
        if age <= LONGEST_PAUSE:
            raise RuntimeError(
                "sacct does not answer: this Slurm has no accounting. squeue can take its place only if it shows jobs "
                f"longer than {LONGEST_PAUSE} s after their end; MinJobAge in slurm.conf is {age or 'not known'}"
            )
        # The executor takes squeue only where jobs are shown for three of its first pauses.
        first = "slurm-init-seconds-before-status-checks"
        options |= {"slurm-status-command": "squeue", first: str(min(settings.pop(first, 40), age // 3))}
    return [word for key, value in options.items() if key not in settings for word in (f"--{key}", value)]


def answers(command: str) -> bool:
    """Tells whether `sacct` or `squeue` answers."""
    return ask(command, "--noheader") is not None


def cancel_jobs(run: str | None) -> None:
    """Cancels what is left of a run, also what the executor has submitted since it was told to stop.

    Args:
        run: the name that all its jobs have; None if there are none.
    """
    if run is not None:
        ask("scancel", "--name", run)


def ask(*command: str) -> str | None:
    """What a command of Slurm says; None if it fails, or does not answer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=ANSWER)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout
