#!/usr/bin/env bash
# From a fresh clone to a table of scores and a report, in minutes on two cores after setup.
#
#   bash scripts/quickstart.sh [pair=zh-en] [KEY=VALUE...] [--jobs N] [--retry] [--dry-run]   (--jobs 2 unless told)
#   bash scripts/quickstart.sh corpus=DIR pair=SRC-TGT [KEY=VALUE...]
#
# Sets up .venv if it is missing, makes the synthetic corpus, trains gru_encoder with and without attention, grconv_encoder
# as published and dilated, and fairseq's own lstm with the same budget, translates the test set with each, and compares
# them in a table and in a report, one HTML file. With corpus=DIR the text is your own: DIR/{train,valid,test}.{SRC,TGT},
# split by SentencePiece.
# Rerun the same command to resume; changing an option starts a new training and keeps earlier results.
#
# This is the experiment configs/experiments/quickstart.yaml; recurrent-mt experiment --help explains the options.
# VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail
# shellcheck source=environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

# Such small models gain more from training two at a time than from a second thread.
run_experiment "$ROOT/configs/experiments/quickstart.yaml" --jobs 2 "$@"
