#!/usr/bin/env bash
# Trains every system of an ablation with every seed, and writes one table.
#
#   bash scripts/ablation.sh configs/experiments/ablations/NAME.yaml [KEY=VALUE...] [--jobs N] [--retry] [--dry-run]
#
# Without corpus=DIR, it uses the synthetic corpus. Any other experiment may be given, too: a file of your own is all that
# a new experiment needs. Rerun the same command to resume. A failing system does not stop the others and is listed at
# the end; systems that two ablations have in common are trained once. recurrent-mt experiment --help explains the options.
# VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail
# shellcheck source=environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

run_experiment "$@"
