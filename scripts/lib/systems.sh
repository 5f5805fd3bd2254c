# shellcheck shell=bash
# Training, translating and comparing the systems of one run folder. Sourced, never run.
# Needs ROOT VENV OUT and the variables of the options (recipe.sh).

# set_model_flags NAME: sets MODEL_FLAGS. NAME is lstm, ARCHITECTURE-ATTENTION for the models of user_dir, or a
# configuration of configs/, which needs none. grconv_encoder has no directions: its width is that of a bidirectional
# encoder's annotations.
set_model_flags() {
  local attention=${1#*-}
  MODEL_FLAGS=(--encoder-embed-dim "$EMBEDDING_SIZE" --decoder-embed-dim "$EMBEDDING_SIZE"
    --decoder-hidden-size "$DECODER_SIZE" --decoder-out-embed-dim "$DECODER_SIZE")
  case $1 in
    lstm)
      MODEL_FLAGS+=(--arch lstm --encoder-bidirectional --encoder-hidden-size "$ENCODER_SIZE" --decoder-attention 1)
      ;;
    gru_encoder-none | gru_encoder-additive | gru_encoder-dot | gru_encoder-general)
      MODEL_FLAGS+=(--arch gru_encoder --encoder-bidirectional --encoder-hidden-size "$ENCODER_SIZE"
        --decoder-attention "$attention")
      ;;
    grconv_encoder-none | grconv_encoder-additive | grconv_encoder-dot | grconv_encoder-general)
      MODEL_FLAGS+=(--arch grconv_encoder --encoder-hidden-size "$((2 * ENCODER_SIZE))"
        --decoder-attention "$attention")
      ;;
    *)
      if is_configuration "$1"; then return; fi
      fail "unknown model '$1': choose lstm, gru_encoder or grconv_encoder followed by -none, -additive, -dot" \
        "or -general, or the name of a file of configs/"
      ;;
  esac
}

# is_configuration NAME: configs/NAME.yaml exists.
is_configuration() { [[ $1 != */* && -f $ROOT/configs/$1.yaml ]]; }

# set_training_flags NAME SEED: sets TRAINING_FLAGS: model, objective, optimiser and batches. A configuration brings its
# own; all other systems share the recipe's.
set_training_flags() {
  local arguments
  if is_configuration "$1"; then
    arguments=$("$VENV/bin/python" "$ROOT/scripts/print_train_command.py" "$ROOT/configs/$1.yaml" \
      "common.user_dir=$ROOT/user_dir" "task.data=$OUT/data" "task.source_lang=$SOURCE_LANG" \
      "task.target_lang=$TARGET_LANG" "common.seed=$2")
    mapfile -t TRAINING_FLAGS <<<"$arguments"
    return
  fi
  if [[ -n ${PLAN:-} ]]; then set_cell_flags "$1"; else set_model_flags "$1"; fi
  TRAINING_FLAGS=("$OUT/data" --user-dir "$ROOT/user_dir" --task translation
    --source-lang "$SOURCE_LANG" --target-lang "$TARGET_LANG" --dropout "$DROPOUT"
    --optimizer adam --lr "$LEARNING_RATE" --clip-norm 1.0 --criterion cross_entropy --max-tokens "$MAX_TOKENS"
    "${MODEL_FLAGS[@]}" --seed "$2")
}

# show_progress: fairseq's log on standard input; one line that changes on a terminal, else one line every 100 updates.
show_progress() {
  local line text interval='\| train_inner \| \{"epoch": ([0-9]+),.*"loss": "([0-9.]+)"'
  interval+='.*"wps": "([0-9.]+)".*"num_updates": "([0-9]+)"'
  while IFS= read -r line; do
    if [[ $line =~ $interval ]]; then
      text="update ${BASH_REMATCH[4]} (epoch ${BASH_REMATCH[1]}): loss ${BASH_REMATCH[2]}, ${BASH_REMATCH[3]} words/s"
      if [[ -t 1 ]]; then
        printf '\r    %-70s' "$text"
      elif ((BASH_REMATCH[4] % 100 == 0)); then
        say "    $text"
      fi
    elif [[ $line =~ \|\ valid\ \|.*\"valid_loss\":\ \"([0-9.]+)\" ]]; then
      if [[ -t 1 ]]; then echo; fi
      say "    validation loss ${BASH_REMATCH[1]}"
    fi
  done
}

# train NAME SEED FOLDER STAMP: goes on from FOLDER/checkpoints/checkpoint_last.pt if there is one.
train() {
  local folder=$3 log=$3/train.log budget
  set_training_flags "$1" "$2"
  if [[ $BUDGET == updates* ]]; then budget=(--max-update "${BUDGET#* }"); else budget=(--max-epoch "${BUDGET#* }"); fi
  detect_device
  local command=("$VENV/bin/fairseq-train" "${TRAINING_FLAGS[@]}" "${budget[@]}" --num-workers 0
    --no-epoch-checkpoints --save-interval-updates 2000 --keep-interval-updates 1 --log-format json --log-interval 20
    "${DEVICE_FLAGS[@]}" --save-dir "$folder/checkpoints")
  print_command "${command[@]}"
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  mkdir -p "$folder/checkpoints"
  # A log that was cut off in mid-line must not swallow the first line of this call.
  if [[ -s $log && -n $(tail -c 1 "$log") ]]; then echo >>"$log"; fi
  local status=0
  "${command[@]}" 2>&1 | tee -a "$log" | show_progress || status=${PIPESTATUS[0]}
  if ((status)); then
    tail -n 15 "$log" >&2
    fail "training $1 with seed $2 failed with status $status; the whole log is $log"
  fi
  : >"$4"
}

# listed_hypotheses BEAM: how long the n-best lists are that a log of this beam keeps.
listed_hypotheses() { printf '%s' "$(($1 < 10 ? $1 : 10))"; }

# set_search_flags DATA CHECKPOINT: sets SEARCH_FLAGS, what fairseq-generate and fairseq-interactive need.
set_search_flags() {
  detect_device
  SEARCH_FLAGS=("$1" --user-dir "$ROOT/user_dir" --source-lang "$SOURCE_LANG" --target-lang "$TARGET_LANG" --path "$2"
    --beam "$BEAM" --max-len-a 2 --max-len-b 10 --max-tokens 4000 --num-workers 0 --no-progress-bar)
  case $SEGMENTATION in
    bpe:*) SEARCH_FLAGS+=(--remove-bpe) ;;
    sentencepiece:*) SEARCH_FLAGS+=(--remove-bpe sentencepiece) ;;
  esac
  SEARCH_FLAGS+=("${DEVICE_FLAGS[@]}")
}

# translate FOLDER [FLAG...] OUTPUT: the test set by beam search; OUTPUT is fairseq-generate's log, with n-best lists.
# FLAGs come last on its command line.
translate() {
  set_search_flags "$OUT/data" "$1/checkpoints/checkpoint_best.pt"
  run_search "${!#}" fairseq-generate "${SEARCH_FLAGS[@]}" --nbest "$(listed_hypotheses "$BEAM")" --gen-subset test \
    "${@:2:$#-2}"
}

# run_search LOG TOOL ARGUMENT...: Translations go to standard output and the timing to standard error: unbuffered, their
# lines stay whole in one file.
run_search() {
  local output=$1 command=(env PYTHONUNBUFFERED=1 "$VENV/bin/$2" "${@:3}")
  printf '%s > %q 2>&1\n' "$(print_command "${command[@]}")" "${output%.partial}"
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  if ! "${command[@]}" >"$output" 2>&1; then
    tail -n 15 "$output" >&2
    fail "translating failed; the messages are in $output"
  fi
}

# detokenize LOG [--all] OUTPUT: the best hypothesis of each sentence, or all of them, in corpus order, as people write
# it.
detokenize() {
  local output=${!#} tokens
  tokens=${output%.partial}.tokens
  set_detokenizer
  run_logged "$1.errors" "$VENV/bin/python" "$ROOT/scripts/extract_hypotheses.py" "${@:1:$#-1}" --out "$tokens"
  run_into "$output" "$tokens" "${DETOKENIZER[@]}"
  if [[ -z ${DRY_RUN:-} ]]; then require_same_count "$tokens" "$output"; fi
}

# run_system NAME SEED: train, translate, detokenise.
run_system() {
  local folder=$OUT/systems/$1/seed-$2
  step "Training $1, seed $2" "$folder/trained" train "$1" "$2" "$folder"
  step "Translating the test set with $1, seed $2" "$folder/test.log" translate "$folder"
  detokenize_both "the translation of $1, seed $2" "$folder/test"
  if [[ -z ${WITHOUT_UNKNOWN:-} ]]; then return; fi
  local again=$folder/test-without-unknown
  step "Translating once more with $1, seed $2, <unk> forbidden" "$again.log" translate "$folder" --unkpen inf
  detokenize_both "the second translation of $1, seed $2" "$again"
}

# detokenize_both WHAT PREFIX: PREFIX.detokenized, and PREFIX.nbest, the n-best lists one after the other.
detokenize_both() {
  step "Detokenising $1" "$2.detokenized" detokenize "$2.log"
  step "Detokenising the n-best lists of $1" "$2.nbest" detokenize "$2.log" --all
}

# compare_systems MODELS SEEDS: one table of all of them. Comma-separated lists.
compare_systems() {
  local name seed label systems=() flags=()
  for name in ${1//,/ }; do
    for seed in ${2//,/ }; do
      run_system "$name" "$seed"
      label=$name
      if [[ $2 == *,* ]]; then label="$name, seed $seed"; fi
      systems+=(--system "$label=$OUT/systems/$name/seed-$seed")
    done
  done
  if [[ -n $LOWERCASE ]]; then flags+=(--lowercase); fi
  if [[ $SEGMENTATION != sentencepiece:* ]]; then flags+=(--tokenized-reference "$OUT/text/words/test.$TARGET_LANG"); fi
  heading "Comparing"
  run_logged "$OUT/table.errors" "$VENV/bin/python" "$ROOT/scripts/compare_systems.py" \
    --reference "$OUT/text/raw/test.$TARGET_LANG" --target-lang "$TARGET_LANG" "${flags[@]}" \
    --out "$OUT/table" "${systems[@]}"
  say "The table: $OUT/table.txt, .md and .json. Logs, checkpoints and translations: $OUT/systems."
}
