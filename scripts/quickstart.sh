#!/usr/bin/env bash
# From a fresh clone to a table of scores and a report, in seven minutes on two cores after setup.
#
#   bash scripts/quickstart.sh [--pair fr-en|zh-en] [OPTION...]
#   bash scripts/quickstart.sh --corpus DIR --pair SRC-TGT [OPTION...]
#
# Sets up .venv if it is missing, makes the synthetic corpus, trains gru_encoder with and without attention,
# grconv_encoder and fairseq's own lstm with the same budget, translates the test set with each, and compares them in
# a table and in a report, one HTML file.
# With --corpus the text is your own: DIR/{train,valid,test}.{SRC,TGT}, split by SentencePiece.
# The same call goes on where an earlier one stopped. VENV=DIR chooses the environment; SETUP=no takes it as it is.
#
set -euo pipefail

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
if [[ $ROOT == "$PWD" ]]; then ROOT=.; fi

CORPUS="" SOURCE_LANG=fr TARGET_LANG=en TRAIN_PREFIX=train VALID_PREFIX=valid TEST_PREFIX=test
SEGMENTATION="" TOKENIZER=moses LOWERCASE="" MAX_LENGTH=100
MODELS=gru_encoder-additive,gru_encoder-none,grconv_encoder-none,lstm SEEDS=1
BUDGET="updates 500" MAX_TOKENS=1000 EMBEDDING_SIZE=128 ENCODER_SIZE=128 DECODER_SIZE=256
DROPOUT=0.1 LEARNING_RATE=2e-3 BEAM=5 OUT=""

# shellcheck source=lib/recipe.sh
. "$ROOT/scripts/lib/recipe.sh"

parse_options "$@"
OUT=${OUT:-$ROOT/runs/quickstart-$SOURCE_LANG-$TARGET_LANG}
if [[ -n $CORPUS ]]; then
  # Any language can be split and joined again by SentencePiece.
  SEGMENTATION=${SEGMENTATION:-sentencepiece:8000}
  check_options
  check_corpus
else
  SEGMENTATION=${SEGMENTATION:-word:4000}
  choose_synthetic_corpus
  check_options
fi
prepare_environment
open_run_folder "$OUT" "$(describe_run)"
if [[ -z $CORPUS ]]; then make_synthetic_corpus; fi
run_recipe
