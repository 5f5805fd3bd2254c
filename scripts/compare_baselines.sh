#!/usr/bin/env bash
# Trains several systems on one corpus with one budget, translates the test set, and prints what they score and cost.
#
#   bash scripts/compare_baselines.sh corpus=DIR pair=fr-en [KEY=VALUE...] [--jobs N] [--retry] [--dry-run]
#
# The same call goes on where an earlier one stopped; systems, seeds, and extra_tests may grow from call to call, and a
# changed option trains anew and leaves in place what was there. A system that fails is named, and stops no other.
# docs/baselines.md says what is the same for all systems.
#
# This is the experiment configs/experiments/comparison.yaml; recurrent-mt experiment --help explains the options.
# VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail
# shellcheck source=environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

if [[ ${1:-} == --help ]]; then print_usage "$0" && list_options && exit; fi
if [[ " $*" != *" corpus="[![:space:]]* ]]; then
  echo "error: corpus=DIR is required; see --help" >&2
  exit 1
fi
run_experiment "$ROOT/configs/experiments/comparison.yaml" "$@"
