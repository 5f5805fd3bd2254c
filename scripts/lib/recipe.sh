# Options of every recipe:
#   --pair SRC-TGT         languages, for example fr-en (or --source-lang SRC --target-lang TGT)
#   --corpus DIR           folder of PREFIX.SRC and PREFIX.TGT, raw text, one sentence a line
#   --train PREFIX         (train) --valid PREFIX (valid) --test PREFIX (test)
#   --segmentation KIND:N  word:N (the N most frequent), bpe:N (N joint merges) or sentencepiece:N (N joint pieces);
#                          --bpe-merges N is short for bpe:N
#   --tokenizer NAME       moses (Chinese: jieba), or none for text that has spaces between its tokens already;
#                          sentencepiece needs none
#   --lowercase            lower-case the text before training; scores then ignore case
#   --max-length N         drop training pairs with more tokens than that on a side
#   --models LIST          of lstm (fairseq's own), gru_encoder-A and grconv_encoder-A, where A is none, additive, dot
#                          or general, and of names of configs/: NAME stands for configs/NAME.yaml with all its own
#                          settings except the budget and the beam
#   --seeds LIST           train each model once with each
#   --updates N            of training, or --epochs N
#   --max-tokens N         in a batch
#   --embedding-size N     --encoder-size N (of each direction) --decoder-size N
#   --dropout P            --learning-rate R (Adam) --beam N
#   --without-unknown      translate a second time with <unk> forbidden; scripts/analyze.py shows both
#   --out DIR              the run folder
#   --dry-run              print the commands only
#   --help

# shellcheck shell=bash
# All of the recipe library. Sourced, never run; needs ROOT and the defaults of the options.

for part in console options run_folder environment corpus embedded_corpus segmentation systems plan report; do
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/$part.sh"
done

# parse_options [OPTION...]: sets the variables of the options above.
parse_options() {
  local value
  while [[ $# -gt 0 ]]; do
    case $1 in
      --help | -h)
        print_usage "$0"
        print_usage "$ROOT/scripts/lib/recipe.sh"
        exit
        ;;
      --dry-run) DRY_RUN=yes && shift && continue ;;
      --lowercase) LOWERCASE=yes && shift && continue ;;
      --without-unknown) WITHOUT_UNKNOWN=yes && shift && continue ;;
    esac
    require_value "$@"
    value=$2
    case $1 in
      --pair) SOURCE_LANG=${value%%-*} TARGET_LANG=${value#*-} ;;
      --source-lang) SOURCE_LANG=$value ;;
      --target-lang) TARGET_LANG=$value ;;
      --corpus) CORPUS=$value ;;
      --train) TRAIN_PREFIX=$value ;;
      --valid) VALID_PREFIX=$value ;;
      --test) TEST_PREFIX=$value ;;
      --segmentation) SEGMENTATION=$value ;;
      --bpe-merges) SEGMENTATION=bpe:$value ;;
      --tokenizer) TOKENIZER=$value ;;
      --max-length) MAX_LENGTH=$value ;;
      --models) MODELS=$value ;;
      --seeds) SEEDS=$value ;;
      --updates) BUDGET="updates $value" ;;
      --epochs) BUDGET="epochs $value" ;;
      --max-tokens) MAX_TOKENS=$value ;;
      --embedding-size) EMBEDDING_SIZE=$value ;;
      --encoder-size) ENCODER_SIZE=$value ;;
      --decoder-size) DECODER_SIZE=$value ;;
      --dropout) DROPOUT=$value ;;
      --learning-rate) LEARNING_RATE=$value ;;
      --beam) BEAM=$value ;;
      --out) OUT=$value ;;
      *) fail "option $1 is unknown; see --help" ;;
    esac
    shift 2
  done
}

# check_options: every value, before anything is done.
check_options() {
  local option
  for option in MAX_LENGTH MAX_TOKENS EMBEDDING_SIZE ENCODER_SIZE DECODER_SIZE BEAM; do
    require_match "--${option,,}" "${!option}" '^[1-9][0-9]*$' "a whole number above zero"
  done
  require_match "--${BUDGET% *}" "${BUDGET#* }" '^[1-9][0-9]*$' "a whole number above zero"
  require_match --seeds "$SEEDS" '^[0-9]+(,[0-9]+)*$' "whole numbers separated by commas"
  require_match --dropout "$DROPOUT" '^(0|0?\.[0-9]+)$' "a number from 0 to below 1"
  require_match --learning-rate "$LEARNING_RATE" '^[0-9.]+(e-?[0-9]+)?$' "a number"
  require_match --pair "$SOURCE_LANG-$TARGET_LANG" '^[A-Za-z_]+-[A-Za-z_]+$' "two languages like fr-en"
  if [[ $SOURCE_LANG == "$TARGET_LANG" ]]; then fail "source and target language are both $SOURCE_LANG"; fi
  for option in ${MODELS//,/ }; do set_model_flags "$option"; done
  check_segmentation
}

# describe_run: all that decides the results, for open_run_folder. Models and seeds can be added to a run later.
describe_run() {
  local name split lang
  for name in SOURCE_LANG TARGET_LANG TRAIN_PREFIX VALID_PREFIX TEST_PREFIX SEGMENTATION TOKENIZER LOWERCASE \
    MAX_LENGTH BUDGET MAX_TOKENS EMBEDDING_SIZE ENCODER_SIZE DECODER_SIZE DROPOUT LEARNING_RATE BEAM; do
    printf '%s %s\n' "$name" "${!name}"
  done
  if [[ ! -d $CORPUS ]]; then return; fi
  for split in "$TRAIN_PREFIX" "$VALID_PREFIX" "$TEST_PREFIX"; do
    for lang in "$SOURCE_LANG" "$TARGET_LANG"; do
      printf 'checksum %s.%s %s\n' "$split" "$lang" "$(cksum <"$CORPUS/$split.$lang")"
    done
  done
}

# run_recipe: from the corpus to the table and the report.
run_recipe() {
  prepare_data
  compare_systems "$MODELS" "$SEEDS"
  make_report "$MODELS" "$SEEDS"
}
