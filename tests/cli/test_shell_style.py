import shutil
import subprocess

import pytest

from tests.cli.recipes import BIN, ROOT

SHELLCHECK = shutil.which("shellcheck", path=str(BIN)) or shutil.which("shellcheck")
SCRIPTS = [*ROOT.glob("scripts/*.sh"), *ROOT.glob("scripts/lib/*.sh"), ROOT / ".ci" / "run"]


@pytest.mark.skipif(SHELLCHECK is None, reason="shellcheck is not installed")
def test_shellcheck_finds_nothing():
    assert len(SCRIPTS) > 8
    result = subprocess.run([SHELLCHECK, *map(str, SCRIPTS)], capture_output=True, text=True)
    assert result.stdout == ""
