#!/usr/bin/env bash
# Trains every cell of a plan with every seed, and writes one table and plots.
#
#   bash scripts/ablation.sh configs/ablations/NAME.yaml [--corpus DIR --pair fr-en] [--jobs N] [OPTION...]
# Without --corpus, it uses the synthetic corpus. OPTIONs come after those that the plan gives. The same call picks up
# where an earlier one stopped. A cell that fails is reported and does not stop the others. Plans with the same recipe
# may share a folder (--out): cells that they have in common are trained once. VENV=DIR chooses the environment (.venv);
# SETUP=no uses it unchanged.
#
set -euo pipefail

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
if [[ $ROOT == "$PWD" ]]; then ROOT=.; fi

CORPUS="" SOURCE_LANG=fr TARGET_LANG=en TRAIN_PREFIX=train VALID_PREFIX=valid TEST_PREFIX=test
SEGMENTATION=bpe:4000 TOKENIZER=moses LOWERCASE="" MAX_LENGTH=250 MODELS="" SEEDS=1,2
BUDGET="updates 1000" MAX_TOKENS=1000 EMBEDDING_SIZE=128 ENCODER_SIZE=128 DECODER_SIZE=256
DROPOUT=0.1 LEARNING_RATE=2e-3 BEAM=5 OUT="" JOB_LOGS=yes

# shellcheck source=lib/recipe.sh
. "$ROOT/scripts/lib/recipe.sh"

# This script's own options are taken out; the others belong to the recipe.
arguments=() PLAN=""
while [[ $# -gt 0 ]]; do
  case $1 in
    --dry-run) DRY_RUN=yes && arguments+=("$1") && shift ;;
    --help | -h) parse_options --help ;;
    *.yaml) PLAN=$1 && shift ;;
    *) arguments+=("$1") && shift ;;
  esac
done
if [[ -z $PLAN ]]; then fail "which plan? see --help"; fi
DRY_RUN="" prepare_environment
options=$(read_plan recipe)
mapfile -t options <<<"$options"
parse_options "${options[@]}" "${arguments[@]}"
if [[ -n $LEARNING_RATES$EXTRA_TESTS ]]; then fail "ablations do not take --learning-rates and --extra-test"; fi
cells=$(read_plan cells)
mapfile -t cells <<<"$cells"

FOLDER=${OUT:-$ROOT/runs/ablations-$SOURCE_LANG-$TARGET_LANG}
COMMON_SEGMENTATION=$SEGMENTATION GIVEN_CORPUS=$CORPUS

# Cells with the same segmentation share their data: one run folder per segmentation.
declare -A members=()
for cell in "${cells[@]}"; do
  own=$(read_plan segmentation "$cell")
  members[${own:-$COMMON_SEGMENTATION}]+=" $cell"
done
folders=()
for SEGMENTATION in "${!members[@]}"; do
  OUT=$FOLDER/${SEGMENTATION//:/-} CORPUS=$GIVEN_CORPUS
  folders+=("$OUT")
  if [[ -z $CORPUS ]]; then choose_synthetic_corpus; fi
  check_options
  if [[ -n $CORPUS ]]; then check_corpus; fi
  open_run_folder "$OUT" "$(describe_run)"
  if [[ -z $CORPUS ]]; then make_synthetic_corpus; fi
  prepare_data
  read -ra names <<<"${members[$SEGMENTATION]}"
  run_cells "${names[@]}"
done

heading "Comparing"
run "$VENV/bin/python" -m recurrent_mt ablation-table "$PLAN" "${folders[@]}" --out "$FOLDER"
