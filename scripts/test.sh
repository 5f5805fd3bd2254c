#!/usr/bin/env bash
# Sets up what is missing and runs the tests.
#
#   bash scripts/test.sh [PYTEST-ARGUMENT...]
#
# One worker more than cores, each with one thread, since some tests wait for a browser or a process; -n 0 runs all in one
# process. pytest's own help: .venv/bin/pytest --help
# VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail
# shellcheck source=environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

if [[ ${SETUP:-yes} != no ]]; then bash "$ROOT/scripts/setup.sh" --tests; else check_environment; fi
cd "$ROOT"
# The tests start Python in folders of their own.
unset PYTHONSAFEPATH
# What is compiled is kept: they start Python a hundred times.
unset PYTHONDONTWRITEBYTECODE
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
"$VENV/bin/python" -m pytest -n $(($(getconf _NPROCESSORS_ONLN) + 1)) --dist worksteal "$@"
