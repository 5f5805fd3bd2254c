"""sacrebleu's own command, in a process of its own."""

import json
import subprocess
import sys

#: Single precision is what sacrebleu 2.6.0 resamples in, and with numpy 2 what it then fails to print as JSON.
PROGRAM = """
import functools, json
json.dumps = functools.partial(json.dumps, default=float)
from sacrebleu.sacrebleu import main
main()
"""


def sacrebleu_command(folder, systems, references, *options):
    """What ``sacrebleu`` prints as JSON for lists of hypotheses; single scores to the twelfth digit."""
    files = [folder / "references", *(folder / f"system-{number}" for number in range(len(systems)))]
    for file, lines in zip(files, [references, *systems], strict=True):
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    command = [sys.executable, "-c", PROGRAM, str(files[0]), "-i", *map(str, files[1:])]
    output = subprocess.run(
        [*command, "--width", "12", "--format", "json", *map(str, options)], check=True, capture_output=True, text=True
    )
    return json.loads(output.stdout)
