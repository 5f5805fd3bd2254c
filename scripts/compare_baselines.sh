#!/usr/bin/env bash
# Trains several systems on one corpus with one budget, translates the test set, and prints what they score and cost.
#
#   bash scripts/compare_baselines.sh --corpus DIR --pair fr-en [OPTION...]
# The same call picks up where an earlier one stopped. --models, --seeds, and --extra-test may grow from call to call. A
# system that fails is reported and does not stop the others. docs/baselines.md says what is the same for all models.
# VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
# Defaults: 6,000 joint BPE merges with one dictionary per side, one layer, embeddings 256, encoder 256 per direction,
# decoder 512, dropout 0.2, Adam 1e-3, 2,000 tokens per batch, 6 epochs, beam 5.
#
set -euo pipefail

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
if [[ $ROOT == "$PWD" ]]; then ROOT=.; fi

CORPUS="" SOURCE_LANG="" TARGET_LANG="" TRAIN_PREFIX=train VALID_PREFIX=valid TEST_PREFIX=test
SEGMENTATION=bpe:6000 TOKENIZER=moses LOWERCASE="" MAX_LENGTH=250
MODELS=lstm,gru_encoder-additive,gru_encoder-none,grconv_encoder-none SEEDS=1
BUDGET="epochs 6" MAX_TOKENS=2000 EMBEDDING_SIZE=256 ENCODER_SIZE=256 DECODER_SIZE=512
DROPOUT=0.2 LEARNING_RATE=1e-3 BEAM=5 OUT=""

# shellcheck source=lib/recipe.sh
. "$ROOT/scripts/lib/recipe.sh"

parse_options "$@"
if [[ -z $CORPUS ]]; then fail "--corpus is required; see --help"; fi
if [[ -z $SOURCE_LANG || -z $TARGET_LANG ]]; then fail "--pair is required, for example --pair fr-en"; fi
OUT=${OUT:-$ROOT/runs/$(basename "$(realpath "$CORPUS")")-$SOURCE_LANG-$TARGET_LANG}
check_options
check_corpus
prepare_environment
open_run_folder "$OUT" "$(describe_run)"
run_recipe
