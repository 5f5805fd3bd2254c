# Options of every recipe:
#   --pair SRC-TGT         languages, for example fr-en (or --source-lang SRC --target-lang TGT)
#   --corpus DIR           folder of PREFIX.SRC and PREFIX.TGT, raw text, one sentence per line
#   --train PREFIX         (train) --valid PREFIX (valid) --test PREFIX (test)
#   --segmentation KIND:N  word:N (the N most frequent), bpe:N (N joint merges) or sentencepiece:N (N joint pieces);
#                          --bpe-merges N is short for bpe:N
#   --tokenizer NAME       moses (Chinese: jieba), or none for text that already has spaces between its tokens;
#                          sentencepiece needs none
#   --lowercase            lowercase the text before training; scores then ignore case
#   --max-length N         drop training pairs with more tokens than that on a side
#   --models LIST          of lstm, fconv and transformer (fairseq's own), gru_encoder-A and grconv_encoder-A, where A is
#                          none, additive, dot or general, and of names of configs/: NAME stands for configs/NAME.yaml
#                          with all its own settings except the budget and the beam
#   --baseline NAME        the system the others are tested against (the first fairseq model in the list)
#   --seeds LIST           train each model once with each seed
#   --updates N            budget; or --epochs N, or --minutes N of wall time: validations and checkpoints count,
#                          what a kill undid does not
#   --max-tokens N         the most tokens in a batch
#   --embedding-size N     --encoder-size N (per direction) --decoder-size N; half the decoder's size is the width of
#                          fconv (4 + 3 layers) and transformer (3 + 3 layers, 4 heads, inner layers four times as
#                          wide): within a few percent of lstm's parameters, if embeddings and encoder have that
#                          size too
#   --dropout P            --learning-rate R (Adam) --beam N
#   --learning-rates LIST  train each model with each rate and the first seed; the rate with the lowest validation loss is
#                          used for all seeds. Models from configs/ keep their own
#   --warmup N             updates over which the transformer's rate rises before it falls with their square root (a tenth
#                          of --updates, at most 4,000; 400 with --epochs and --minutes); all others keep a constant rate
#   --extra-test LIST      of NAME=PREFIX: also translate and score PREFIX.SRC and PREFIX.TGT, in their own table
#   --jobs N               train N systems at a time, each with its share of the processors: speeds, and what --minutes
#                          achieves, are then those of a busy machine
#   --retry                retry what has failed
#   --without-unknown      translate a second time with <unk> forbidden; recurrent-mt analyze shows both
#   --out DIR              the run folder
#   --dry-run              print the commands only
#   --help

# shellcheck shell=bash
# The whole recipe library. Sourced, never run; needs ROOT and the defaults of the options.

for part in console options run_folder environment corpus synthetic_corpus segmentation models queue rates \
  extra_tests systems plan report; do
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/$part.sh"
done

# Options that are unset unless given.
BASELINE="" LEARNING_RATES="" WARMUP="" EXTRA_TESTS="" AT_ONCE=1 RETRY=""

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
      --retry) RETRY=yes && shift && continue ;;
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
      --baseline) BASELINE=$value ;;
      --seeds) SEEDS=$value ;;
      --updates) BUDGET="updates $value" ;;
      --epochs) BUDGET="epochs $value" ;;
      --minutes) BUDGET="minutes $value" ;;
      --max-tokens) MAX_TOKENS=$value ;;
      --embedding-size) EMBEDDING_SIZE=$value ;;
      --encoder-size) ENCODER_SIZE=$value ;;
      --decoder-size) DECODER_SIZE=$value ;;
      --dropout) DROPOUT=$value ;;
      --learning-rate) LEARNING_RATE=$value ;;
      --learning-rates) LEARNING_RATES=$value ;;
      --warmup) WARMUP=$value ;;
      --extra-test) EXTRA_TESTS=$value ;;
      --jobs) AT_ONCE=$value ;;
      --beam) BEAM=$value ;;
      --out) OUT=$value ;;
      *) fail "option $1 is unknown; see --help" ;;
    esac
    shift 2
  done
}

# check_options: every value, before anything is done.
check_options() {
  local option rate='[0-9.]+(e-?[0-9]+)?'
  for option in MAX_LENGTH MAX_TOKENS EMBEDDING_SIZE ENCODER_SIZE DECODER_SIZE BEAM; do
    require_match "--${option,,}" "${!option}" '^[1-9][0-9]*$' "a whole number above zero"
  done
  require_match --jobs "$AT_ONCE" '^[1-9][0-9]*$' "a whole number above zero"
  require_match --warmup "${WARMUP:-1}" '^[1-9][0-9]*$' "a whole number above zero"
  check_budget
  require_match --seeds "$SEEDS" '^[0-9]+(,[0-9]+)*$' "whole numbers separated by commas"
  require_match --dropout "$DROPOUT" '^(0|0?\.[0-9]+)$' "a number from 0 to below 1"
  require_match --learning-rate "$LEARNING_RATE" "^$rate\$" "a number"
  require_match --learning-rates "${LEARNING_RATES:-1}" "^$rate(,$rate)*\$" "numbers separated by commas"
  require_match --pair "$SOURCE_LANG-$TARGET_LANG" '^[A-Za-z_]+-[A-Za-z_]+$' "two languages like fr-en"
  if [[ $SOURCE_LANG == "$TARGET_LANG" ]]; then fail "source and target language are both $SOURCE_LANG"; fi
  for option in ${MODELS//,/ }; do set_model_flags "$option"; done
  if [[ -n $BASELINE && ,$MODELS, != *,$BASELINE,* ]]; then fail "--baseline $BASELINE is not among --models $MODELS"; fi
  check_segmentation
  check_extra_tests
}

# check_budget: minutes may have a fraction.
check_budget() {
  if [[ $BUDGET == minutes* ]]; then
    require_match --minutes "${BUDGET#* }" '^([1-9][0-9]*(\.[0-9]+)?|0?\.[0-9]*[1-9][0-9]*)$' "a number above zero"
  else
    require_match "--${BUDGET% *}" "${BUDGET#* }" '^[1-9][0-9]*$' "a whole number above zero"
  fi
}

# describe_run: everything that determines the results, for open_run_folder. Models, seeds and test sets can be added to
# a run later.
describe_run() {
  local name split lang
  for name in SOURCE_LANG TARGET_LANG TRAIN_PREFIX VALID_PREFIX TEST_PREFIX SEGMENTATION TOKENIZER LOWERCASE \
    MAX_LENGTH BUDGET MAX_TOKENS EMBEDDING_SIZE ENCODER_SIZE DECODER_SIZE DROPOUT LEARNING_RATE BEAM; do
    printf '%s %s\n' "$name" "${!name}"
  done
  # Runs from before these options existed have none of them.
  for name in LEARNING_RATES WARMUP; do
    if [[ -n ${!name} ]]; then printf '%s %s\n' "$name" "${!name}"; fi
  done
  if [[ ! -d $CORPUS ]]; then return; fi
  for split in "$TRAIN_PREFIX" "$VALID_PREFIX" "$TEST_PREFIX"; do
    for lang in "$SOURCE_LANG" "$TARGET_LANG"; do
      printf 'checksum %s.%s %s\n' "$split" "$lang" "$(cksum <"$CORPUS/$split.$lang")"
    done
  done
}

# run_recipe: from the corpus to the tables and the report.
run_recipe() {
  local failed
  prepare_data
  prepare_extra_tests
  run_systems "$MODELS" "$SEEDS"
  compare_systems "$MODELS" "$SEEDS"
  make_report "$MODELS" "$SEEDS"
  failed=$(failed_systems "$MODELS" "$SEEDS")
  if [[ -n $failed ]]; then fail "failed: ${failed//$'\n'/; } (--retry to try again)"; fi
}
