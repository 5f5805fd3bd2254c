# Options of both recipes:
#   --direction SRC-TGT    translation direction of the data
#   --size NAME            small, medium, or full: which of the corpora above
#   --corpus DIR           local files instead of the network: DIR/PREFIX.LANG, plain, .gz, .xz, or .bz2
#   --train PREFIX         (train) --valid PREFIX (valid) --test PREFIX (test); several test sets: a,b
#   --add PREFIX           more local text to train on, PREFIX.LANG; may be repeated
#   --segmentation KIND:N  word:N (the N most frequent), bpe:N (N joint merges) or sentencepiece:N (N joint pieces)
#   --lowercase            lowercase what models see
#   --no-cleaning          train on the original text, except for empty lines
#   --select-words N       keep the N words, such as 348M, of the cleaned text that are most like the development set and the
#                          news commentary (Moore and Lewis; Axelrod et al.)
#   --max-length N         drop training pairs with more tokens than that on a side
#   --shards K             split the training data into K parts, of which fairseq-train reads one per epoch
#   --mirror URL           download from URL/HOST/PATH instead
#   --checksums FILE       of downloads, in the format of sha256sum: HASH  HOST/PATH; others are rejected
#   --jobs N               processes (all processors)
#   --out DIR              receives everything
#   --dry-run              print the plan only
#   --help
# Words are separated as in Moses, or by jieba for Chinese; sentencepiece learns from raw text. The same call does
# nothing if everything is there, and picks up where an earlier one stopped. VENV=DIR chooses the environment (.venv);
# SETUP=no uses it unchanged.
#
# OUT/raw        each corpus unchanged, one sentence per line; downloads are in OUT/downloads
# OUT/clean      the training text, cleaned or selected; development and test sets, joined
# OUT/text       words, segmented text, the segmentation model; text/raw/test.LANG is what scores are computed on
# OUT/data       binarized, for fairseq-train; data/REPORT.md says what happened to the text
# OUT/options    what all of this was made with

# shellcheck shell=bash
# From published or local corpora to binarized data. Sourced by prepare_fr_en.sh and prepare_zh_en.sh, which give the
# defaults and the corpora: needs ROOT, PAIR, and CORPORA, a text of lines `ROLE SIZES ID PAIRS MEGABYTES`.

for part in console run_folder environment corpora corpus segmentation shards options; do
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/$part.sh"
done

TRAIN_PREFIX=train VALID_PREFIX=valid TEST_PREFIX=test
CORPUS="" SIZE=small ADD="" SELECT_WORDS="" SHARDS=1 CLEANING=yes MIRROR="" CHECKSUMS="" TOKENIZER=moses LOWERCASE=""

# parse_prepare_options [OPTION...]
parse_prepare_options() {
  local value
  while [[ $# -gt 0 ]]; do
    case $1 in
      --help | -h)
        print_usage "$0"
        print_usage "$ROOT/scripts/lib/prepare.sh"
        exit
        ;;
      --dry-run) DRY_RUN=yes && shift && continue ;;
      --lowercase) LOWERCASE=yes && shift && continue ;;
      --no-cleaning) CLEANING=no && shift && continue ;;
    esac
    require_value "$@"
    value=$2
    case $1 in
      --direction) DIRECTION=$value ;;
      --size) SIZE=$value ;;
      --corpus) CORPUS=$value ;;
      --train) TRAIN_PREFIX=$value ;;
      --valid) VALID_PREFIX=$value ;;
      --test) TEST_PREFIX=$value ;;
      --add) ADD+=${ADD:+,}$value ;;
      --segmentation) SEGMENTATION=$value ;;
      --select-words) SELECT_WORDS=$value ;;
      --max-length) MAX_LENGTH=$value ;;
      --shards) SHARDS=$value ;;
      --mirror) MIRROR=$value ;;
      --checksums) CHECKSUMS=$value ;;
      --jobs) JOBS=$value ;;
      --out) OUT=$value ;;
      *) fail "option $1 is unknown; see --help" ;;
    esac
    shift 2
  done
}

# check_prepare_options: every value, before anything is done.
check_prepare_options() {
  local option
  SOURCE_LANG=${DIRECTION%%-*} TARGET_LANG=${DIRECTION#*-}
  if [[ $DIRECTION != "$PAIR" && $DIRECTION != "${PAIR#*-}-${PAIR%-*}" ]]; then
    fail "--direction must be $PAIR or ${PAIR#*-}-${PAIR%-*}, not '$DIRECTION'"
  fi
  for option in MAX_LENGTH SHARDS JOBS; do
    require_match "--${option,,}" "${!option}" '^[1-9][0-9]*$' "a whole number above zero"
  done
  require_match --size "$SIZE" '^(small|medium|full)$' "small, medium or full"
  if [[ -n $SELECT_WORDS ]]; then
    require_match --select-words "$SELECT_WORDS" '^[1-9][0-9]*[kMG]?$' "a number of words such as 348M"
  fi
  for option in CORPUS OUT ADD; do
    require_match "--${option,,}" "${!option}" '^[^[:space:]]*$' "a path without spaces"
  done
  check_segmentation
}

# describe_preparation: everything that determines the result, for open_run_folder.
describe_preparation() {
  local name prefix file
  for name in SOURCE_LANG TARGET_LANG SEGMENTATION TOKENIZER LOWERCASE MAX_LENGTH CLEANING SELECT_WORDS SHARDS; do
    printf '%s %s\n' "$name" "${!name}"
  done
  printf 'SETS %s\nTESTS %s\n' "$(all_sets | paste -sd ' ')" "${SPLITS[*]:2}"
  for name in $(all_sets); do
    prefix=$(prefix_of "$name")
    if [[ -z $prefix ]]; then continue; fi
    for file in $(local_files "$prefix"); do printf 'checksum %s %s\n' "$file" "$(cksum <"$file")"; done
  done
}

# files_of LANG NAME...: the files of these sets in one language, one per line.
files_of() {
  local name
  for name in "${@:2}"; do printf '%s\n' "$OUT/raw/$name/text.$1"; done
}

# join_sets FOLDER SPLIT NAME...: FOLDER/SPLIT.LANG.
join_sets() {
  local lang files
  for lang in "$SOURCE_LANG" "$TARGET_LANG"; do
    mapfile -t files < <(files_of "$lang" "${@:3}")
    run_into "$1/$2.$lang" /dev/null cat "${files[@]}"
  done
}

# join_held_out FOLDER: development and test sets, unchanged.
join_held_out() {
  local number
  make_folder "$1"
  join_sets "$1" valid "${VALID_SETS[@]}"
  for number in "${!TEST_SETS[@]}"; do join_sets "$1" "test${number/#0/}" "${TEST_SETS[$number]}"; done
}

# join_training FOLDER: the training text, unchanged.
join_training() {
  make_folder "$1"
  join_sets "$1" train "${TRAIN_SETS[@]}"
}

# make_folder FOLDER: unless it is a dry run.
make_folder() { if [[ -z ${DRY_RUN:-} ]]; then mkdir -p "$1"; fi; }

# clean_training FOLDER: what is fit to train on and not in the development and test sets.
clean_training() {
  local sources targets split held_out=()
  make_folder "$1"
  mapfile -t sources < <(files_of "$SOURCE_LANG" "${TRAIN_SETS[@]}")
  mapfile -t targets < <(files_of "$TARGET_LANG" "${TRAIN_SETS[@]}")
  for split in "${SPLITS[@]:1}"; do held_out+=("$OUT/clean/held-out/$split"); done
  run "$VENV/bin/python" -m recurrent_mt clean --source "${sources[@]}" --target "${targets[@]}" \
    --source-lang "$SOURCE_LANG" --target-lang "$TARGET_LANG" --exclude "${held_out[@]}" --jobs "$JOBS" \
    --out "$1/train" --report "$1/REPORT.md"
}

# select_training FROM FOLDER: the SELECT_WORDS words of FROM/train that are most like the news.
select_training() {
  local name in_domain=("$OUT/clean/held-out/valid")
  make_folder "$2"
  for name in "${TRAIN_SETS[@]}"; do
    if [[ $name == *news_commentary* ]]; then in_domain+=("$OUT/raw/$name/text"); fi
  done
  run "$VENV/bin/python" -m recurrent_mt select --source "$1/train.$SOURCE_LANG" \
    --target "$1/train.$TARGET_LANG" --source-lang "$SOURCE_LANG" --target-lang "$TARGET_LANG" \
    --in-domain "${in_domain[@]}" --words "$SELECT_WORDS" --jobs "$JOBS" --out "$2/train" --report "$2/REPORT.md"
}

# make_training_text: sets TRAINING_TEXT, the folder of the text to train on.
make_training_text() {
  if [[ $CLEANING == yes ]]; then
    TRAINING_TEXT=$OUT/clean/cleaned
    step "Cleaning" "$TRAINING_TEXT" clean_training
  else
    TRAINING_TEXT=$OUT/clean/joined
    step "Joining the training text" "$TRAINING_TEXT" join_training
  fi
  if [[ -z $SELECT_WORDS ]]; then return; fi
  step "Selecting $SELECT_WORDS words" "$OUT/clean/selected" select_training "$TRAINING_TEXT"
  TRAINING_TEXT=$OUT/clean/selected
}

# link_text: OUT/text/input/SPLIT.LANG, and the test sets again as references, OUT/text/raw/TEST.LANG.
link_text() {
  local split lang
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  mkdir -p "$OUT/text/input" "$OUT/text/raw"
  for lang in "$SOURCE_LANG" "$TARGET_LANG"; do
    ln -sfn "../../clean/$(basename "$TRAINING_TEXT")/train.$lang" "$OUT/text/input/train.$lang"
    for split in "${SPLITS[@]:1}"; do ln -sfn "../../clean/held-out/$split.$lang" "$OUT/text/input/$split.$lang"; done
    for split in "${SPLITS[@]:2}"; do ln -sfn "../../clean/held-out/$split.$lang" "$OUT/text/raw/$split.$lang"; done
  done
}

# segment_linked FOLDER
segment_linked() {
  link_text
  segment_text "$OUT/text/input" "$1"
}

# report_data FILE: tokens, vocabulary, and unknown words, after the reports of cleaning and selection.
report_data() {
  local dictionaries=$OUT/data reports=()
  if [[ $SHARDS -gt 1 ]]; then dictionaries=$OUT/data/shard0; fi
  if [[ $CLEANING == yes ]]; then reports+=("$OUT/clean/cleaned/REPORT.md"); fi
  if [[ -n $SELECT_WORDS ]]; then reports+=("$OUT/clean/selected/REPORT.md"); fi
  run "$VENV/bin/python" -m recurrent_mt data-report --prepared "$OUT/text/prepared" --dictionaries "$dictionaries" \
    --source-lang "$SOURCE_LANG" --target-lang "$TARGET_LANG" --splits "${SPLITS[@]}" \
    ${reports:+--before "${reports[@]}"} --out "$1"
}

# print_next: how to train on it.
print_next() {
  local data=$OUT/data number
  if [[ $SHARDS -gt 1 ]]; then
    data=$OUT/data/shard0
    for ((number = 1; number < SHARDS; number++)); do data+=:$OUT/data/shard$number; done
  fi
  heading "Next"
  say "The data is in $OUT/data; $OUT/data/REPORT.md says what happened to the text. Train with"
  say "  fairseq-train $data --source-lang $SOURCE_LANG --target-lang $TARGET_LANG --user-dir $ROOT/user_dir ..."
  say "or"
  say "  bash $ROOT/scripts/train.sh $ROOT/configs/rnnsearch-50.yaml task.data=$data pair=$SOURCE_LANG-$TARGET_LANG"
}

# prepare_pair [OPTION...]: the whole recipe.
prepare_pair() {
  DIRECTION=$PAIR OUT=""
  parse_prepare_options "$@"
  check_prepare_options
  if [[ -z $OUT && -n $CORPUS ]]; then OUT=$ROOT/runs/data-$DIRECTION-$(basename "$(realpath "$CORPUS")"); fi
  OUT=${OUT:-$ROOT/runs/data-$DIRECTION-$SIZE}
  list_sets
  print_plan
  prepare_environment
  open_run_folder "$OUT" "$(describe_preparation)"
  if [[ -e $OUT/data/REPORT.md ]]; then
    say "Done before, all of it: nothing to do."
    print_next
    return
  fi
  # fairseq accepts no longer sentences; nothing else is left out of the development set.
  VALID_LENGTH=$POSITION_LIMIT
  get_sets
  step "Joining the development and test sets" "$OUT/clean/held-out" join_held_out
  make_training_text
  step "Preparing the text" "$OUT/text/prepared" segment_linked
  if [[ $SHARDS -gt 1 ]]; then binarize_shards; else step "Binarizing" "$OUT/data" binarize; fi
  step "Reporting" "$OUT/data/REPORT.md" report_data
  print_next
}
