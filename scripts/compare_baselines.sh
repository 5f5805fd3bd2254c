#!/usr/bin/env bash
# Trains several systems on one corpus with one budget, translates the test set, and prints what they score and cost.
#
#   bash scripts/compare_baselines.sh corpus=DIR pair=fr-en [KEY=VALUE...] [--jobs N] [--retry] [--dry-run]
#
# Rerun the same command to resume, or with more systems, seeds, or extra_tests to add them. Changing another option
# starts a new training and keeps earlier results. A failing system does not stop the others and is listed
# at the end.
# docs/guides/compare.md says what is the same for all systems.
#
# This is the experiment configs/experiments/comparison.yaml; recurrent-mt experiment --help explains the options.
# VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail
# shellcheck source=environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

if [[ " $*" != *" corpus="[![:space:]]* ]]; then
  echo "error: corpus=DIR is required; see --help" >&2
  exit 1
fi
run_experiment "$ROOT/configs/experiments/comparison.yaml" "$@"
