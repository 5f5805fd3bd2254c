#!/usr/bin/env bash
# Scores translations of a test set: BLEU, chrF, and TER with their signatures.
#
#   bash scripts/score.sh DATA --system NAME=FILE [--system NAME=FILE...] [OPTION...] [-- FLAG...]
#
# DATA is the --out folder of a recipe, FILE is a detokenized translation of its test set, one sentence per line, such
# as translate.sh makes. FLAGs go to recurrent-mt score, for example --confidence, --paired bootstrap, or --metrics
# bleu,meteor.
#
#   --split NAME           which test set of DATA is the reference (test)
#   -t, --test-set NAME    instead, a test set that sacrebleu knows and downloads, for example wmt14/full or wmt17; if
#                          it is not available, DATA's reference is used, with a message
#   --out PREFIX           also write PREFIX.txt, PREFIX.md, and PREFIX.json
#   --dry-run              print the commands only
#   --help
#
# VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
if [[ $ROOT == "$PWD" ]]; then ROOT=.; fi

# shellcheck source=lib/recipe.sh
. "$ROOT/scripts/lib/recipe.sh"

# get_reference NAME FILE: the reference of one of sacrebleu's test sets; false if it is not available.
get_reference() {
  local known command=("$VENV/bin/sacrebleu" --test-set "$1" --language-pair "$SOURCE_LANG-$TARGET_LANG" --echo ref)
  printf '%s > %q\n' "$(print_command "${command[@]}")" "$2"
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  if "${command[@]}" >"$2" 2>"$2.log" && [[ -s $2 ]]; then return; fi
  known=$("$VENV/bin/sacrebleu" --list)
  if [[ $'\n'$known != *$'\n'"$1 "* ]]; then
    fail "sacrebleu has no test set $1: sacrebleu --list prints those it has"
  fi
  tail -n 1 "$2.log" >&2
  return 1
}

DATA="" SPLIT=test TEST_SET="" PREFIX="" SYSTEMS=() FLAGS=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --help | -h) print_usage "$0" && exit ;;
    --dry-run) DRY_RUN=yes && shift && continue ;;
    --) FLAGS=("${@:2}") && break ;;
    -*) require_value "$@" ;;
    *)
      if [[ -n $DATA ]]; then fail "what is '$1'? see --help"; fi
      DATA=$1 && shift && continue
      ;;
  esac
  case $1 in
    --system) SYSTEMS+=(--system "$2") ;;
    --split) SPLIT=$2 ;;
    -t | --test-set) TEST_SET=$2 ;;
    --out) PREFIX=$2 ;;
    *) fail "option $1 is unknown; see --help" ;;
  esac
  shift 2
done
if [[ -z $DATA ]]; then fail "which data? see --help"; fi
if [[ ${#SYSTEMS[@]} -eq 0 ]]; then fail "which translations? --system NAME=FILE; see --help"; fi
restore_options "$DATA"
prepare_environment

reference=$DATA/text/raw/$SPLIT.$TARGET_LANG
if [[ -n $TEST_SET ]]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  if get_reference "$TEST_SET" "$work/reference"; then
    reference=$work/reference
  elif [[ -f $reference ]]; then
    say "sacrebleu has no $TEST_SET for $SOURCE_LANG-$TARGET_LANG available (see above): using the reference $reference."
  else
    fail "neither sacrebleu's $TEST_SET nor $reference is available"
  fi
elif [[ ! -f $reference ]]; then
  fail "there is no reference $reference: is $SPLIT a test set of $DATA?"
fi
run "$VENV/bin/python" -m recurrent_mt score --reference "$reference" --target-lang "$TARGET_LANG" "${SYSTEMS[@]}" \
  ${LOWERCASE:+--lowercase} ${PREFIX:+--out "$PREFIX"} "${FLAGS[@]}"
