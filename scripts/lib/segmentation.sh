# shellcheck shell=bash
# From raw text to binarised data. Sourced, never run.
# Needs ROOT VENV OUT and the variables of the options (recipe.sh).

# fairseq's translation task refuses longer sentences (--max-source-positions); the end of sentence counts as one.
readonly POSITION_LIMIT=1023

# check_segmentation: METHOD:SIZE with a known method, and a tokeniser that goes with it.
check_segmentation() {
  if [[ ! $SEGMENTATION =~ ^(word|bpe|sentencepiece):[1-9][0-9]*$ ]]; then
    fail "--segmentation must be word:N, bpe:N or sentencepiece:N, not '$SEGMENTATION'"
  fi
  if [[ $TOKENIZER != moses && $TOKENIZER != none ]]; then
    fail "--tokenizer must be moses or none, not '$TOKENIZER'"
  fi
  if [[ $TOKENIZER == moses && $SEGMENTATION != sentencepiece:* && $SOURCE_LANG-$TARGET_LANG =~ zh|ja|th ]]; then
    fail "$SOURCE_LANG-$TARGET_LANG: text without spaces needs --segmentation sentencepiece:N," \
      "or words separated beforehand and --tokenizer none"
  fi
}

# check_corpus: everything that can be said about the input before any work is done.
check_corpus() {
  local prefix
  for prefix in "$TRAIN_PREFIX" "$VALID_PREFIX" "$TEST_PREFIX"; do check_pair "$CORPUS/$prefix"; done
  check_empty_lines "$CORPUS/$TRAIN_PREFIX" drop
  check_empty_lines "$CORPUS/$VALID_PREFIX" drop
  check_empty_lines "$CORPUS/$TEST_PREFIX" refuse
}

# filter_corpus FROM TO COMMAND...: COMMAND over the six files FROM/SPLIT.LANG; LANG in COMMAND stands for the language.
filter_corpus() {
  local from=$1 to=$2 split lang input output
  shift 2
  printf '%s < %s > %s\n' "$(print_command "$@")" "$from/SPLIT.LANG" "$to/SPLIT.LANG"
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  mkdir -p "$to"
  for split in train valid test; do
    for lang in "$SOURCE_LANG" "$TARGET_LANG"; do
      input=$from/$split.$lang output=$to/$split.$lang
      if [[ -e $output ]]; then continue; fi
      "${@/#LANG/$lang}" <"$input" >"$output.partial"
      require_same_count "$input" "$output.partial"
      mv "$output.partial" "$output"
    done
  done
}

# require_same_count FILE FILE: a tool that takes some other character for the end of a line would shift what follows.
require_same_count() {
  local before after
  before=$(count_lines "$1")
  after=$(count_lines "$2")
  if [[ $before == "$after" ]]; then return; fi
  fail "$1 has $before lines, but $after came out: does a line contain another line separator?"
}

# copy_corpus FOLDER: the six input files under the names train, valid and test. SOURCE_ENDING and TARGET_ENDING are
# set where the text to train on is not in the files named after the languages. fairseq and others take a carriage
# return for the end of a line: it becomes a space.
copy_corpus() {
  local split prefix
  mkdir -p "$1"
  for split in train valid test; do
    prefix=${split^^}_PREFIX
    tr '\r' ' ' <"$CORPUS/${!prefix}.${SOURCE_ENDING:-$SOURCE_LANG}" >"$1/$split.$SOURCE_LANG"
    tr '\r' ' ' <"$CORPUS/${!prefix}.${TARGET_ENDING:-$TARGET_LANG}" >"$1/$split.$TARGET_LANG"
  done
}

# copy_test FOLDER: the test set as it came, which scores are counted on.
copy_test() {
  local lang
  mkdir -p "$1"
  for lang in "$SOURCE_LANG" "$TARGET_LANG"; do tr '\r' ' ' <"$CORPUS/$TEST_PREFIX.$lang" >"$1/test.$lang"; done
}

# segment_corpus FROM TO: split words by a model learnt on both sides of the training text.
segment_corpus() {
  local size=${SEGMENTATION#*:} model=$OUT/text/segmentation.model
  local train=("$1/train.$SOURCE_LANG" "$1/train.$TARGET_LANG")
  case $SEGMENTATION in
    bpe:*)
      if [[ ! -e $model ]]; then
        run_into "$OUT/text/both-sides" /dev/null cat "${train[@]}"
        run_logged "$OUT/text/learn-bpe.log" "$VENV/bin/subword-nmt" learn-bpe --symbols "$size" \
          --input "$OUT/text/both-sides" --output "$model.partial"
        if [[ -z ${DRY_RUN:-} ]]; then mv "$model.partial" "$model"; fi
      fi
      filter_corpus "$1" "$2" "$VENV/bin/subword-nmt" apply-bpe --codes "$model"
      ;;
    sentencepiece:*)
      if [[ ! -e $model ]]; then
        run "$VENV/bin/python" "$ROOT/scripts/sentencepiece_model.py" train --size "$size" --model "$model" \
          "${train[@]}"
      fi
      filter_corpus "$1" "$2" "$VENV/bin/python" "$ROOT/scripts/sentencepiece_model.py" encode --model "$model"
      ;;
  esac
}

# prepare_text FOLDER: FOLDER/{train,valid,test}.LANG, tokenised and segmented.
prepare_text() {
  local words=$OUT/text/words segmented=$OUT/text/words
  if [[ -z ${DRY_RUN:-} ]]; then
    copy_test "$OUT/text/raw"
    copy_corpus "$OUT/text/input"
  fi
  tokenize_corpus "$OUT/text/input" "$words"
  if [[ $SEGMENTATION != word:* ]]; then
    segmented=$OUT/text/segmented
    segment_corpus "$words" "$segmented"
  fi
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  mkdir -p "$1"
  select_pairs "$segmented/train" "$1/train" drop "$MAX_LENGTH"
  select_pairs "$segmented/valid" "$1/valid" drop "$MAX_LENGTH"
  select_pairs "$segmented/test" "$1/test" refuse "$POSITION_LIMIT"
}

# tokenize_corpus FROM TO: words as Moses separates them, unless the tokeniser is none or SentencePiece will see raw
# text.
tokenize_corpus() {
  local tokenized=$1 lowercase='import sys; sys.stdout.writelines(line.lower() for line in sys.stdin)'
  if [[ $TOKENIZER == moses && $SEGMENTATION != sentencepiece:* ]]; then
    tokenized=$2
    if [[ -n $LOWERCASE ]]; then tokenized=$OUT/text/tokenized; fi
    filter_corpus "$1" "$tokenized" "$VENV/bin/sacremoses" --quiet --language LANG tokenize
  fi
  if [[ -n $LOWERCASE ]]; then
    filter_corpus "$tokenized" "$2" "$VENV/bin/python" -c "$lowercase"
  elif [[ $tokenized == "$1" ]]; then
    filter_corpus "$1" "$2" cat
  fi
}

# binarize FOLDER: fairseq's binary form of the prepared text; each side keeps a dictionary of its own.
binarize() {
  local words=() prepared=$OUT/text/prepared
  if [[ $SEGMENTATION == word:* ]]; then
    words=(--nwordssrc "${SEGMENTATION#*:}" --nwordstgt "${SEGMENTATION#*:}")
  fi
  run_logged "$OUT/preprocess.log" "$VENV/bin/fairseq-preprocess" \
    --source-lang "$SOURCE_LANG" --target-lang "$TARGET_LANG" \
    --trainpref "$prepared/train" --validpref "$prepared/valid" --testpref "$prepared/test" \
    "${words[@]}" --destdir "$1" --workers "$(getconf _NPROCESSORS_ONLN)"
}

# prepare_data: from the raw corpus to OUT/data.
prepare_data() {
  step "Preparing the text" "$OUT/text/prepared" prepare_text
  step "Binarising" "$OUT/data" binarize
}
