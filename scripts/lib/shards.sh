# shellcheck shell=bash
# Training data in parts, of which fairseq-train reads one per epoch. Sourced, never run. Needs ROOT VENV OUT SHARDS and
# the variables of the options.

# split_training FOLDER: FOLDER/K/train.LANG, sentence n in part n modulo SHARDS, so that each part holds some of every
# corpus.
split_training() {
  local lang number command
  for ((number = 0; number < SHARDS; number++)); do make_folder "$1/$number"; done
  for lang in "$SOURCE_LANG" "$TARGET_LANG"; do
    command=(awk -v "shards=$SHARDS" -v "folder=$1" -v "name=train.$lang"
      '{ print > (folder "/" (NR - 1) % shards "/" name) }' "$OUT/text/prepared/train.$lang")
    run "${command[@]}"
  done
}

# make_dictionaries FOLDER: for the whole training text.
make_dictionaries() {
  set_vocabulary_flags
  run_logged "$OUT/dictionaries.log" "$VENV/bin/fairseq-preprocess" --source-lang "$SOURCE_LANG" \
    --target-lang "$TARGET_LANG" --trainpref "$OUT/text/prepared/train" "${VOCABULARY_FLAGS[@]}" --dict-only \
    --destdir "$1" --workers "$JOBS"
}

# binarize_shard NUMBER FOLDER: the first one also has the development and test sets, where fairseq looks for them.
binarize_shard() {
  local dictionaries=$OUT/text/dictionaries prepared=$OUT/text/prepared held_out=()
  if [[ $1 == 0 ]]; then held_out=(--validpref "$prepared/valid" --testpref "$(join_tests "$prepared")"); fi
  run_logged "$OUT/preprocess-$1.log" "$VENV/bin/fairseq-preprocess" --source-lang "$SOURCE_LANG" \
    --target-lang "$TARGET_LANG" --trainpref "$OUT/text/shards/$1/train" "${held_out[@]}" \
    --srcdict "$dictionaries/dict.$SOURCE_LANG.txt" --tgtdict "$dictionaries/dict.$TARGET_LANG.txt" \
    --destdir "$2" --workers "$JOBS"
}

# binarize_shards: OUT/data/shardK.
binarize_shards() {
  local number
  step "Splitting the training text" "$OUT/text/shards" split_training
  step "Making the dictionaries" "$OUT/text/dictionaries" make_dictionaries
  for ((number = 0; number < SHARDS; number++)); do
    step "Binarizing shard $number" "$OUT/data/shard$number" binarize_shard "$number"
  done
}
