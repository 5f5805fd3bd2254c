#!/usr/bin/env bash
# Scores translations of a test set of a run: BLEU, chrF, and TER with their signatures.
#
#   bash scripts/score.sh [--split NAME] [--test-set NAME] [--out PREFIX] [--paired bootstrap] RUN NAME=FILE...
#
# RUN is the folder that a recipe has made, FILE a translation such as translate.sh makes. recurrent-mt compare --help
# explains the options, of which there are more. VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail
# shellcheck source=environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

if [[ ${1:-} == --help ]]; then print_usage "$0" && exit; fi
prepare_environment
exec "$VENV/bin/python" -m recurrent_mt compare "$@"
