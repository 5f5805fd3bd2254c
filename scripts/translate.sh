#!/usr/bin/env bash
# Translates raw text with a trained model: one sentence a line in, one translation a line out.
#
#   bash scripts/translate.sh [--beam N] [--dry-run] RUN MODEL.pt <INPUT >OUTPUT [-- FLAG...]
#   bash scripts/translate.sh RUN MODEL.pt --input FILE --out FILE [--jobs N]      # resumes where it was stopped
#
# RUN is the folder that a recipe has made. recurrent-mt translate --help explains the options.
# VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail
# shellcheck source=environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

if [[ ${1:-} == --help ]]; then print_usage "$0" && exit; fi
# Standard output is for the translations alone.
prepare_environment >&2
exec "$VENV/bin/python" -m recurrent_mt translate "$@"
