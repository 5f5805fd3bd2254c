#!/usr/bin/env bash
# Translates raw text with a trained model: one sentence a line in, one translation a line out.
#
#   bash scripts/translate.sh DATA CHECKPOINT [OPTION...] <INPUT >OUTPUT [-- FLAG...]
#
# DATA is the --out folder of prepare_fr_en.sh, prepare_zh_en.sh, quickstart.sh or compare_baselines.sh: its options say how
# text is tokenized, segmented and put together again. FLAGs go to fairseq as they are.
#
#   --input FILE           instead of standard input
#   --output FILE          instead of standard output; appears when it is whole
#   --split NAME           translate this part of the binarized data (test) with fairseq-generate, no input
#   --beam N               (5)
#   --buffer-size N        sentences that are sorted by length and translated together (1000)
#   --dry-run              print the commands only
#   --help
#
# The commands are printed on standard error. An empty line stays one. VENV=DIR chooses the environment (.venv);
# SETUP=no uses it unchanged.
#
set -euo pipefail

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
if [[ $ROOT == "$PWD" ]]; then ROOT=.; fi

# shellcheck source=lib/recipe.sh
. "$ROOT/scripts/lib/recipe.sh"

# mark_lines INPUT TEXT MAP: the lines that are not empty, and for each line whether it is.
mark_lines() {
  awk -v text="$2" -v map="$3" 'BEGIN { printf "" > text; printf "" > map }
    { print (NF > 0) > map } NF { print > text }' "$1"
}

# unmark_lines TEXT MAP: the lines of TEXT, with empty ones where MAP has them.
unmark_lines() {
  awk -v text="$1" '$1 == 0 { print ""; next }
    { if ((getline line < text) <= 0) { print "error: translations are missing" > "/dev/stderr"; exit 1 } print line }' "$2"
}

# translate_text FOLDER [FLAG...]: FOLDER/raw to FOLDER/translation.
translate_text() {
  local folder=$1
  set_tokenizer "$SOURCE_LANG"
  run_into "$folder/words" "$folder/raw" "${WORDS[@]}"
  set_segmenter "$OUT/text/segmentation.model"
  SEGMENTER=("${SEGMENTER[@]/#INPUT/$folder/words}")
  run_into "$folder/segmented" "$folder/words" "${SEGMENTER[@]}"
  if [[ -z ${DRY_RUN:-} ]]; then
    mark_lines "$folder/segmented" "$folder/sentences" "$folder/map"
    check_lengths "$folder/segmented"
  fi
  if [[ -n ${DRY_RUN:-} || -s $folder/sentences ]]; then
    run_search "$folder/log" fairseq-interactive "${SEARCH_FLAGS[@]}" --input "$folder/sentences" \
      --buffer-size "$BUFFER_SIZE" "${@:2}"
    detokenize "$folder/log" "$folder/translated"
  else
    : >"$folder/translated"
  fi
  if [[ -z ${DRY_RUN:-} ]]; then unmark_lines "$folder/translated" "$folder/map" >"$folder/translation"; fi
}

# check_lengths FILE: fairseq would stop in the middle.
check_lengths() {
  awk -v max="$POSITION_LIMIT" 'NF > max { print "error: line " NR " of the input has " NF " tokens, more than the " max \
    " that models take: split it" > "/dev/stderr"; exit 1 }' "$1"
}

OUT="" CHECKPOINT="" INPUT="" OUTPUT="" SPLIT="" BEAM_ASKED="" BUFFER_SIZE=1000 FLAGS=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --help | -h) print_usage "$0" && exit ;;
    --dry-run) DRY_RUN=yes && shift && continue ;;
    --) FLAGS=("${@:2}") && break ;;
    --*) require_value "$@" ;;
    *)
      if [[ -z $OUT ]]; then OUT=$1; elif [[ -z $CHECKPOINT ]]; then CHECKPOINT=$1; else fail "what is '$1'? see --help"; fi
      shift && continue
      ;;
  esac
  case $1 in
    --input) INPUT=$2 ;;
    --output) OUTPUT=$2 ;;
    --split) SPLIT=$2 ;;
    --beam) BEAM_ASKED=$2 ;;
    --buffer-size) BUFFER_SIZE=$2 ;;
    *) fail "option $1 is unknown; see --help" ;;
  esac
  shift 2
done
if [[ -z $CHECKPOINT ]]; then fail "which data and which checkpoint? see --help"; fi
require_match --beam "${BEAM_ASKED:=5}" '^[1-9][0-9]*$' "a whole number above zero"
require_match --buffer-size "$BUFFER_SIZE" '^[1-9][0-9]*$' "a whole number above zero"
restore_options "$OUT"
BEAM=$BEAM_ASKED
for file in ${CHECKPOINT//:/ } ${INPUT:+"$INPUT"}; do
  if [[ ! -f $file ]]; then fail "there is no file $file"; fi
done

# Standard output is for the translations alone.
exec 3>&1 1>&2
prepare_environment
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=$OUT/data
if [[ -d $data/shard0 ]]; then data=$data/shard0; fi
set_search_flags "$data" "$CHECKPOINT"
if [[ -n $SPLIT ]]; then
  run_search "$work/log" fairseq-generate "${SEARCH_FLAGS[@]}" --gen-subset "$SPLIT" "${FLAGS[@]}"
  detokenize "$work/log" "$work/translation"
else
  if [[ -z ${DRY_RUN:-} ]]; then cat ${INPUT:+"$INPUT"} >"$work/raw"; fi
  translate_text "$work" "${FLAGS[@]}"
fi
if [[ -n ${DRY_RUN:-} ]]; then exit; fi
if [[ -z $OUTPUT ]]; then
  cat "$work/translation" >&3
else
  cp "$work/translation" "$OUTPUT.partial"
  mv "$OUTPUT.partial" "$OUTPUT"
fi
