#!/usr/bin/env bash
# Trains every system of an ablation with every seed, and writes one table and plots.
#
#   bash scripts/ablation.sh configs/experiments/ablations/NAME.yaml [KEY=VALUE...] [--jobs N] [--retry] [--dry-run]
#
# Without corpus=DIR, it uses the synthetic corpus. Any other experiment may be given, too: a file of one's own is all that
# a new experiment needs. The same call goes on where an earlier one stopped. A system that fails is named, and stops no
# other; systems that two ablations have in common are trained once. recurrent-mt experiment --help explains the options.
# VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail
# shellcheck source=environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

if [[ ${1:-} == --help ]]; then print_usage "$0" && list_options && exit; fi
run_experiment "$@"
