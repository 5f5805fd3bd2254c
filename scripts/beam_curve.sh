#!/usr/bin/env bash
# Translates the test set of a run with one beam after another, once with scores divided by length and once without, and
# draws what that does to the systems.
#
#   bash scripts/beam_curve.sh RUN [--beams 1,2,5,10,20] [--lenpens 1,0] [--models LIST] [--seeds LIST]
# RUN is a folder made by quickstart.sh or compare_baselines.sh; its trained systems are used, with seed 1 unless
# --seeds says otherwise. --lenpens are exponents of the length by which a hypothesis's log-probability is divided: 1 is
# fairseq's default, 0 means no division. Tables, figures, and logs with n-best lists go to RUN/beams; the recipe's next
# call shows tables and figures in its report. The same call picks up where an earlier one stopped. VENV=DIR chooses the
# environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
if [[ $ROOT == "$PWD" ]]; then ROOT=.; fi

# shellcheck source=lib/recipe.sh
. "$ROOT/scripts/lib/recipe.sh"

OUT="" BEAMS=1,2,5,10,20 LENPENS=1,0 MODELS="" SEEDS=1
while [[ $# -gt 0 ]]; do
  case $1 in
    --help | -h) print_usage "$0" && exit ;;
    --dry-run) DRY_RUN=yes && shift && continue ;;
    --*) if [[ $# -lt 2 ]]; then fail "option $1 needs a value; see --help"; fi ;;
    *) OUT=$1 && shift && continue ;;
  esac
  case $1 in
    --beams) BEAMS=$2 ;;
    --lenpens) LENPENS=$2 ;;
    --models) MODELS=$2 ;;
    --seeds) SEEDS=$2 ;;
    *) fail "option $1 is unknown; see --help" ;;
  esac
  shift 2
done
if [[ -z $OUT ]]; then fail "which run? see --help"; fi
require_match --beams "$BEAMS" '^[1-9][0-9]*(,[1-9][0-9]*)*$' "whole numbers above zero, separated by commas"
require_match --lenpens "$LENPENS" '^[0-9]+(\.[0-9]+)?(,[0-9]+(\.[0-9]+)?)*$' \
  "numbers not below zero, separated by commas"
require_match --seeds "$SEEDS" '^[0-9]+(,[0-9]+)*$' "whole numbers separated by commas"
restore_options "$OUT"

# translate_with_beam SYSTEM BEAM NAME [FLAG...]: NAME.log with n-best lists, and NAME.detokenized.
translate_with_beam() {
  local folder=$OUT/systems/$1 output=$OUT/beams/$1/$3 BEAM=$2
  if [[ ! -e $folder/trained ]]; then fail "$1 has not been trained: there is no $folder/trained"; fi
  step "Beam $2, $1${4:+, ${*:4}}" "$output.log" translate "$folder" "${@:4}"
  step "Detokenizing beam $2, $1${4:+, ${*:4}}" "$output.detokenized" detokenize "$output.log"
}

# translate_with_length_penalty SYSTEM BEAM PENALTY
translate_with_length_penalty() {
  case $3 in
    1) translate_with_beam "$1" "$2" "beam-$2" ;;
    0) translate_with_beam "$1" "$2" "beam-$2-unnormalized" --unnormalized ;;
    *) translate_with_beam "$1" "$2" "beam-$2-lenpen-$3" --lenpen "$3" ;;
  esac
}

prepare_environment
if [[ -z ${DRY_RUN:-} ]]; then lock_run_folder "$OUT"; fi
if [[ -z $MODELS ]]; then
  for folder in "$OUT"/systems/*/; do MODELS+=${MODELS:+,}$(basename "$folder"); done
fi
flags=()
for model in ${MODELS//,/ }; do
  for seed in ${SEEDS//,/ }; do
    for beam in ${BEAMS//,/ }; do
      for lenpen in ${LENPENS//,/ }; do translate_with_length_penalty "$model/seed-$seed" "$beam" "$lenpen"; done
    done
    name=$model
    if [[ $SEEDS == *,* ]]; then name="$model, seed $seed"; fi
    flags+=(--system "$name=$OUT/beams/$model/seed-$seed")
  done
done
if [[ -n ${LOWERCASE:-} ]]; then flags+=(--lowercase); fi
heading "Comparing beams"
run_logged "$OUT/beams/errors.log" "$VENV/bin/python" -m recurrent_mt beams "${flags[@]}" \
  --reference "$OUT/text/raw/test.$TARGET_LANG" --target-lang "$TARGET_LANG" \
  --out "$OUT/beams"
