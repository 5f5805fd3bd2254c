# shellcheck shell=bash
# Test sets besides the recipe's own, for example from another domain. Sourced, never run. Needs ROOT VENV OUT
# EXTRA_TESTS (NAME=PREFIX, comma-separated) and the variables of the options (recipe.sh).
#
# OUT/extra/NAME is prepared like the test set, with the segmentation and the dictionaries of the training text.

# extra_names: one per line.
extra_names() {
  local item
  for item in ${EXTRA_TESTS//,/ }; do printf '%s\n' "${item%%=*}"; done
}

# check_extra_tests: before any work is done.
check_extra_tests() {
  local item
  if [[ -z $EXTRA_TESTS ]]; then return; fi
  require_match --extra-test "$EXTRA_TESTS" '^[A-Za-z0-9._-]+=[^,=]+(,[A-Za-z0-9._-]+=[^,=]+)*$' \
    "NAME=PREFIX, several separated by commas"
  if [[ -n $(extra_names | sort | uniq -d) ]]; then fail "--extra-test has a name twice: $(extra_names | xargs)"; fi
  if [[ -z $CORPUS ]]; then fail "--extra-test needs --corpus: the synthetic corpus has a language of its own"; fi
  for item in ${EXTRA_TESTS//,/ }; do
    check_pair "${item#*=}"
    check_empty_lines "${item#*=}" refuse
  done
}

# describe_extra_test PREFIX: what determines its scores.
describe_extra_test() {
  local lang
  for lang in "$SOURCE_LANG" "$TARGET_LANG"; do printf '%s %s\n' "$lang" "$(cksum <"$1.$lang")"; done
}

# prepare_extra_tests: OUT/extra/NAME for each.
prepare_extra_tests() {
  local item name prefix
  for item in ${EXTRA_TESTS//,/ }; do
    name=${item%%=*} prefix=${item#*=}
    if [[ -e $OUT/extra/$name && $(<"$OUT/extra/$name/checksums") != "$(describe_extra_test "$prefix")" ]]; then
      fail "test set $name was a different text in $OUT/extra/$name: give $prefix another name"
    fi
    step "Preparing the test set $name" "$OUT/extra/$name" prepare_extra_test "$prefix"
  done
}

# prepare_extra_test PREFIX FOLDER
prepare_extra_test() {
  local folder=$2 words=$2/words segmented=$2/words SPLITS=(test)
  if [[ -z ${DRY_RUN:-} ]]; then
    copy_test "$folder/raw" "$1"
    describe_extra_test "$1" >"$folder/checksums"
  fi
  tokenize_corpus "$folder/raw" "$words"
  if [[ $SEGMENTATION != word:* ]]; then
    segmented=$folder/segmented
    segment_corpus "$words" "$segmented"
  fi
  if [[ -z ${DRY_RUN:-} ]]; then
    mkdir -p "$folder/prepared"
    select_pairs "$segmented/test" "$folder/prepared/test" refuse "$POSITION_LIMIT"
  fi
  run_logged "$OUT/preprocess-extra.log" "$VENV/bin/fairseq-preprocess" \
    --source-lang "$SOURCE_LANG" --target-lang "$TARGET_LANG" --testpref "$folder/prepared/test" \
    --srcdict "$OUT/data/dict.$SOURCE_LANG.txt" --tgtdict "$OUT/data/dict.$TARGET_LANG.txt" \
    --destdir "$folder/data" --workers "$JOBS"
}

# translate_extra_tests NAME SEED: systems/NAME/seed-SEED/extra-TEST.detokenized.
translate_extra_tests() {
  local test folder=$OUT/systems/$1/seed-$2
  for test in $(extra_names); do
    step "Translating $test with $1, seed $2" "$folder/extra-$test.log" \
      search "$OUT/extra/$test/data" "$folder" --nbest 1
    step "Detokenizing the translation of $test by $1, seed $2" "$folder/extra-$test.detokenized" \
      detokenize "$folder/extra-$test.log"
  done
}
