#!/usr/bin/env bash
# Sets up what is missing and runs the tests.
#
#   bash scripts/test.sh [PYTEST-ARGUMENT...]
#
# VENV=DIR chooses the environment (.venv); SETUP=no takes it as it is.
#
set -euo pipefail

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
# shellcheck source=lib/console.sh
. "$ROOT/scripts/lib/console.sh"
# shellcheck source=lib/environment.sh
. "$ROOT/scripts/lib/environment.sh"

prepare_environment
cd "$ROOT"
run "$VENV/bin/python" -m pytest "$@"
