# shellcheck shell=bash
# Training, translating, and comparing the systems of one run folder. Sourced, never run. Needs ROOT VENV OUT and the
# variables of the options (recipe.sh).

# show_progress: fairseq's log on standard input; one changing line on a terminal, otherwise one line every 100 updates.
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

# set_budget_flags: sets BUDGET_FLAGS. Zero means no limit: a configuration from configs/ has its own limit, which comes
# first. fairseq counts the time of validations and checkpoints, and keeps the count in its checkpoints: what a kill
# undid is not counted.
set_budget_flags() {
  local amount=${BUDGET#* }
  case $BUDGET in
    updates*) BUDGET_FLAGS=(--max-update "$amount") ;;
    epochs*) BUDGET_FLAGS=(--max-update 0 --max-epoch "$amount") ;;
    minutes*)
      BUDGET_FLAGS=(--max-update 0 --max-epoch 0
        --stop-time-hours "$(LC_ALL=C awk -v minutes="$amount" 'BEGIN { printf "%.6f", minutes / 60 }')")
      ;;
  esac
}

# train NAME SEED FOLDER STAMP: continues from FOLDER/checkpoints/checkpoint_last.pt if there is one.
train() {
  local folder=$3 log=$3/train.log
  set_training_flags "$1" "$2"
  set_budget_flags
  detect_device
  local command=("$VENV/bin/fairseq-train" "${TRAINING_FLAGS[@]}" "${BUDGET_FLAGS[@]}" --num-workers 0
    --no-epoch-checkpoints --save-interval-updates 2000 --keep-interval-updates 1 --log-format json --log-interval 20
    "${DEVICE_FLAGS[@]}" --save-dir "$folder/checkpoints")
  print_command "${command[@]}"
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  mkdir -p "$folder/checkpoints"
  # A log that was cut off in mid-line must not swallow this call's first line.
  if [[ -s $log && -n $(tail -c 1 "$log") ]]; then echo >>"$log"; fi
  local status=0
  "$VENV/bin/python" -m recurrent_mt peak-memory "$folder/peak-memory" "${command[@]}" 2>&1 | tee -a "$log" |
    show_progress || status=${PIPESTATUS[0]}
  if ((status)); then
    tail -n 15 "$log" >&2
    fail "training $1 with seed $2 failed with status $status; the whole log is $log"
  fi
  : >"$4"
}

# listed_hypotheses BEAM: how long the n-best lists are in a log with this beam.
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
translate() { search "$OUT/data" "$1" --nbest "$(listed_hypotheses "$BEAM")" "${@:2}"; }

# search DATA FOLDER [FLAG...] OUTPUT: like translate, for the test set in DATA.
search() {
  set_search_flags "$1" "$2/checkpoints/checkpoint_best.pt"
  run_search "${!#}" fairseq-generate "${SEARCH_FLAGS[@]}" --gen-subset test "${@:3:$#-3}"
}

# run_search LOG TOOL ARGUMENT...: Translations go to standard output and the timing to standard error: without
# buffering, their lines stay whole in one file.
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
  run_logged "$1.errors" "$VENV/bin/python" -m recurrent_mt hypotheses "${@:1:$#-1}" --out "$tokens"
  run_into "$output" "$tokens" "${DETOKENIZER[@]}"
  if [[ -z ${DRY_RUN:-} ]]; then require_same_count "$tokens" "$output"; fi
}

# run_system NAME SEED: train, translate, detokenize.
run_system() {
  local folder=$OUT/systems/$1/seed-$2 LEARNING_RATE=${CHOSEN_RATES[$1]:-$LEARNING_RATE}
  require_rate "$1"
  if ! is_search_planned "$1" "$2"; then step "Training $1, seed $2" "$folder/trained" train "$1" "$2" "$folder"; fi
  step "Translating the test set with $1, seed $2" "$folder/test.log" translate "$folder"
  detokenize_both "the translation of $1, seed $2" "$folder/test"
  translate_extra_tests "$1" "$2"
  if [[ -z ${WITHOUT_UNKNOWN:-} ]]; then return; fi
  local again=$folder/test-without-unknown
  step "Translating once more with $1, seed $2, <unk> forbidden" "$again.log" translate "$folder" --unkpen inf
  detokenize_both "the second translation of $1, seed $2" "$again"
}

# is_whole FOLDER: nothing is left to do for this system.
is_whole() {
  local file files=(trained test.detokenized test.nbest)
  mapfile -t -O 3 files < <(extra_names | awk 'NF { print "extra-" $0 ".detokenized" }')
  if [[ -n ${WITHOUT_UNKNOWN:-} ]]; then files+=(test-without-unknown.detokenized test-without-unknown.nbest); fi
  for file in "${files[@]}"; do
    if [[ ! -e $1/$file ]]; then return 1; fi
  done
}

# detokenize_both WHAT PREFIX: PREFIX.detokenized, and PREFIX.nbest, the n-best lists one after the other.
detokenize_both() {
  step "Detokenizing $1" "$2.detokenized" detokenize "$2.log"
  step "Detokenizing the n-best lists of $1" "$2.nbest" detokenize "$2.log" --all
}

# run_systems MODELS SEEDS: all of them, every first seed before any second. Comma-separated lists.
run_systems() {
  local name seed folder
  if [[ -n $LEARNING_RATES ]]; then search_rates "$1" "${2%%,*}"; fi
  begin_queue $(($(wc -w <<<"${1//,/ }") * $(wc -w <<<"${2//,/ }")))
  for seed in ${2//,/ }; do
    for name in ${1//,/ }; do
      folder=$OUT/systems/$name/seed-$seed
      if is_whole "$folder"; then
        pass_over "$name, seed $seed" "$folder"
      else
        enqueue "$name, seed $seed" "$folder" run_system "$name" "$seed"
      fi
    done
  done
  end_queue
}

# compare_systems MODELS SEEDS: the tables of all systems that have not failed. Comma-separated lists.
compare_systems() {
  heading "Comparing"
  run_logged "$OUT/table.errors" "$VENV/bin/python" -m recurrent_mt compare "$OUT" \
    --models "$1" --seeds "$2" ${BASELINE:+--baseline "$BASELINE"} \
    ${EXTRA_TESTS:+--extra-tests "$(extra_names | paste -sd,)"} --out "$OUT/table"
  say "Tables: $OUT/table.txt, .md, and .json. Logs, checkpoints, and translations: $OUT/systems."
}

# failed_systems MODELS SEEDS: one per line.
failed_systems() {
  local name seed
  for name in ${1//,/ }; do
    for seed in ${2//,/ }; do
      if [[ -e $OUT/systems/$name/seed-$seed/failure ]]; then printf '%s\n' "$name, seed $seed"; fi
    done
  done
}
