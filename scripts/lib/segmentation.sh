# shellcheck shell=bash
# From raw text to binarized data. Sourced, never run.
# Needs ROOT VENV OUT and the variables of the options (recipe.sh).

# fairseq's translation task rejects longer sentences (--max-source-positions); the end of sentence counts as one token.
readonly POSITION_LIMIT=1023

# Parts of a corpus; additional test sets are test1, test2, and so on, as fairseq calls them.
SPLITS=(train valid test)
# Processes that tokenize, segment, and binarize.
JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN)}

# check_segmentation: METHOD:SIZE with a known method, and a tokenizer that goes with it.
check_segmentation() {
  if [[ ! $SEGMENTATION =~ ^(word|bpe|sentencepiece):[1-9][0-9]*$ ]]; then
    fail "--segmentation must be word:N, bpe:N, or sentencepiece:N, not '$SEGMENTATION'"
  fi
  if [[ $TOKENIZER != moses && $TOKENIZER != none ]]; then
    fail "--tokenizer must be moses or none, not '$TOKENIZER'"
  fi
  if [[ $TOKENIZER == moses && $SEGMENTATION != sentencepiece:* && $SOURCE_LANG-$TARGET_LANG =~ ja|th ]]; then
    fail "$SOURCE_LANG-$TARGET_LANG: text without spaces needs --segmentation sentencepiece:N," \
      "or words separated beforehand and --tokenizer none"
  fi
}

# check_corpus: everything that can be checked in the input before any work is done.
check_corpus() {
  local prefix
  for prefix in "$TRAIN_PREFIX" "$VALID_PREFIX" "$TEST_PREFIX"; do check_pair "$CORPUS/$prefix"; done
  check_empty_lines "$CORPUS/$TRAIN_PREFIX" drop
  check_empty_lines "$CORPUS/$VALID_PREFIX" drop
  check_empty_lines "$CORPUS/$TEST_PREFIX" refuse
}

# filter_corpus FROM TO COMMAND...: COMMAND over the files FROM/SPLIT.LANG. In COMMAND, LANG stands for the language and
# INPUT for the file, which is also its standard input.
filter_corpus() {
  local from=$1 to=$2 split lang input output command
  shift 2
  printf '%s < %s > %s\n' "$(print_command "$@")" "$from/SPLIT.LANG" "$to/SPLIT.LANG"
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  mkdir -p "$to"
  for split in "${SPLITS[@]}"; do
    for lang in "$SOURCE_LANG" "$TARGET_LANG"; do
      input=$from/$split.$lang output=$to/$split.$lang command=("${@/#LANG/$lang}")
      if [[ -e $output ]]; then continue; fi
      "${command[@]/#INPUT/$input}" <"$input" >"$output.partial"
      require_same_count "$input" "$output.partial"
      mv "$output.partial" "$output"
    done
  done
}

# require_same_count FILE FILE: a tool that treats another character as the end of a line would shift what follows.
require_same_count() {
  local before after
  before=$(count_lines "$1")
  after=$(count_lines "$2")
  if [[ $before == "$after" ]]; then return; fi
  fail "$1 has $before lines, but $after came out: does a line contain another line separator?"
}

# copy_corpus FOLDER: the six input files under the names train, valid and test. SOURCE_ENDING and TARGET_ENDING are set
# if the text to train on is not in the files named after the languages. fairseq and others treat a carriage return as
# the end of a line, so it becomes a space.
copy_corpus() {
  local split prefix
  mkdir -p "$1"
  for split in train valid test; do
    prefix=${split^^}_PREFIX
    tr '\r' ' ' <"$CORPUS/${!prefix}.${SOURCE_ENDING:-$SOURCE_LANG}" >"$1/$split.$SOURCE_LANG"
    tr '\r' ' ' <"$CORPUS/${!prefix}.${TARGET_ENDING:-$TARGET_LANG}" >"$1/$split.$TARGET_LANG"
  done
}

# copy_test FOLDER [PREFIX]: the unchanged test set, on which scores are computed.
copy_test() {
  local lang prefix=${2:-$CORPUS/$TEST_PREFIX}
  mkdir -p "$1"
  for lang in "$SOURCE_LANG" "$TARGET_LANG"; do tr '\r' ' ' <"$prefix.$lang" >"$1/test.$lang"; done
}

# segment_corpus FROM TO: split words by a model learned on both sides of the training text.
segment_corpus() {
  local size=${SEGMENTATION#*:} model=$OUT/text/segmentation.model
  local train=("$1/train.$SOURCE_LANG" "$1/train.$TARGET_LANG")
  case $SEGMENTATION in
    bpe:*)
      if [[ ! -e $model ]]; then
        run_into "$OUT/text/both-sides" /dev/null cat "${train[@]}"
        run_logged "$OUT/text/learn-bpe.log" "$VENV/bin/subword-nmt" learn-bpe --symbols "$size" \
          --input "$OUT/text/both-sides" --output "$model.partial" --num-workers "$JOBS"
        if [[ -z ${DRY_RUN:-} ]]; then mv "$model.partial" "$model" && rm "$OUT/text/both-sides"; fi
      fi
      ;;
    sentencepiece:*)
      if [[ ! -e $model ]]; then
        run "$VENV/bin/python" -m recurrent_mt sentencepiece train --size "$size" --model "$model" \
          "${train[@]}"
      fi
      ;;
  esac
  set_segmenter "$model"
  filter_corpus "$1" "$2" "${SEGMENTER[@]}"
}

# set_segmenter MODEL: sets SEGMENTER, a filter that splits words by MODEL; see filter_corpus.
set_segmenter() {
  case $SEGMENTATION in
    bpe:*)
      SEGMENTER=("$VENV/bin/subword-nmt" apply-bpe --codes "$1")
      if [[ $JOBS -gt 1 ]]; then SEGMENTER+=(--input INPUT --num-workers "$JOBS"); fi
      ;;
    sentencepiece:*)
      SEGMENTER=("$VENV/bin/python" -m recurrent_mt sentencepiece encode --model "$1" --jobs "$JOBS")
      ;;
    word:*) SEGMENTER=(cat) ;;
  esac
}

# prepare_text FOLDER: FOLDER/{train,valid,test}.LANG, tokenized and segmented.
prepare_text() {
  if [[ -z ${DRY_RUN:-} ]]; then
    copy_test "$OUT/text/raw"
    copy_corpus "$OUT/text/input"
  fi
  segment_text "$OUT/text/input" "$1"
}

# segment_text FROM FOLDER: FROM/SPLIT.LANG, tokenized, segmented, and without pairs that are too long. Development sets
# are cut at VALID_LENGTH, or like the training text if it is not set.
segment_text() {
  local words=$OUT/text/words segmented=$OUT/text/words split
  tokenize_corpus "$1" "$words"
  if [[ $SEGMENTATION != word:* ]]; then
    segmented=$OUT/text/segmented
    segment_corpus "$words" "$segmented"
  fi
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  mkdir -p "$2"
  for split in "${SPLITS[@]}"; do
    case $split in
      train) select_pairs "$segmented/$split" "$2/$split" drop "$MAX_LENGTH" ;;
      valid) select_pairs "$segmented/$split" "$2/$split" drop "${VALID_LENGTH:-$MAX_LENGTH}" ;;
      *) select_pairs "$segmented/$split" "$2/$split" refuse "$POSITION_LIMIT" ;;
    esac
  done
}

# set_tokenizer LANG: sets WORDS, a filter from raw text to words with spaces between them: Moses for languages with
# spaces, jieba for Chinese. SentencePiece, or no tokenizer, gets the text with only its characters and spaces
# normalized.
set_tokenizer() {
  local action=normalize
  if [[ $TOKENIZER == moses && $SEGMENTATION != sentencepiece:* ]]; then action="split"; fi
  WORDS=("$VENV/bin/python" -m recurrent_mt words "$action" --language "$1" ${LOWERCASE:+--lowercase} --jobs "$JOBS")
}

# set_detokenizer: sets DETOKENIZER, a filter from words to normal text. TRUECASED is set if sentences begin with a
# lowercase letter.
set_detokenizer() {
  if [[ $SEGMENTATION == sentencepiece:* ]]; then
    DETOKENIZER=(cat)
  elif [[ $TARGET_LANG == zh* ]]; then
    DETOKENIZER=("$VENV/bin/python" -m recurrent_mt words join --language "$TARGET_LANG")
  else
    DETOKENIZER=("$VENV/bin/sacremoses" --quiet --language "$TARGET_LANG" ${TRUECASED:+detruecase} detokenize)
  fi
}

# tokenize_corpus FROM TO
tokenize_corpus() {
  set_tokenizer LANG
  filter_corpus "$1" "$2" "${WORDS[@]}"
}

# set_vocabulary_flags: sets VOCABULARY_FLAGS, which limit the dictionaries if words are not split.
set_vocabulary_flags() {
  VOCABULARY_FLAGS=()
  if [[ $SEGMENTATION == word:* ]]; then
    VOCABULARY_FLAGS=(--nwordssrc "${SEGMENTATION#*:}" --nwordstgt "${SEGMENTATION#*:}")
  fi
}

# join_tests PREFIX: PREFIX/test,PREFIX/test1, and so on, for --testpref.
join_tests() {
  local split tests=()
  for split in "${SPLITS[@]:2}"; do tests+=("$1/$split"); done
  (IFS=, && printf '%s' "${tests[*]}")
}

# binarize FOLDER: fairseq's binary form of the prepared text; each side has its own dictionary, made from the training
# text.
binarize() {
  local prepared=$OUT/text/prepared
  set_vocabulary_flags
  run_logged "$OUT/preprocess.log" "$VENV/bin/fairseq-preprocess" \
    --source-lang "$SOURCE_LANG" --target-lang "$TARGET_LANG" \
    --trainpref "$prepared/train" --validpref "$prepared/valid" --testpref "$(join_tests "$prepared")" \
    "${VOCABULARY_FLAGS[@]}" --destdir "$1" --workers "$JOBS"
}

# prepare_data: from the raw corpus to OUT/data.
prepare_data() {
  step "Preparing the text" "$OUT/text/prepared" prepare_text
  step "Binarizing" "$OUT/data" binarize
}
