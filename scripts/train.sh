#!/usr/bin/env bash
# Trains the system of a configuration file with fairseq-train, and prints the command that it runs.
#
#   bash scripts/train.sh [--processes N] [--nodes N --node-rank R --rendezvous HOST:PORT] [--timeout SECONDS]
#       [--dry-run] configs/NAME.yaml task.data=DIR [KEY=VALUE...] [-- FLAG...]
#
# recurrent-mt train --help explains the options. VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail
# shellcheck source=environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

prepare_environment
exec "$VENV/bin/python" -m recurrent_mt train "$@"
