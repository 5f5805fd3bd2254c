# shellcheck shell=bash
# Which models a recipe knows, and their fairseq-train flags. Sourced, never run. Needs ROOT VENV OUT and the variables
# of the options (recipe.sh).

# Updates over which the transformer's learning rate rises: the 4,000 of Vaswani et al. (2017) if the budget has ten
# times as many, and this many if it is not counted in updates.
readonly LONGEST_WARMUP=4000 UNCOUNTED_WARMUP=400

# set_model_flags NAME: sets MODEL_FLAGS. NAME is one of fairseq's own models, ARCHITECTURE-ATTENTION for those of
# user_dir, or a configuration of configs/, which needs none. grconv_encoder has no directions: it is as wide as a
# bidirectional encoder's annotations.
set_model_flags() {
  local attention=${1#*-}
  local embeddings=(--encoder-embed-dim "$EMBEDDING_SIZE" --decoder-embed-dim "$EMBEDDING_SIZE")
  local recurrent=("${embeddings[@]}" --decoder-hidden-size "$DECODER_SIZE" --decoder-out-embed-dim "$DECODER_SIZE")
  case $1 in
    lstm)
      MODEL_FLAGS=("${recurrent[@]}" --arch lstm --encoder-bidirectional --encoder-hidden-size "$ENCODER_SIZE"
        --decoder-attention 1)
      ;;
    fconv) set_convolution_flags "${embeddings[@]}" ;;
    transformer) set_transformer_flags ;;
    gru_encoder-none | gru_encoder-additive | gru_encoder-dot | gru_encoder-general)
      MODEL_FLAGS=("${recurrent[@]}" --arch gru_encoder --encoder-bidirectional --encoder-hidden-size "$ENCODER_SIZE"
        --decoder-attention "$attention")
      ;;
    grconv_encoder-none | grconv_encoder-additive | grconv_encoder-dot | grconv_encoder-general)
      MODEL_FLAGS=("${recurrent[@]}" --arch grconv_encoder --encoder-hidden-size "$((2 * ENCODER_SIZE))"
        --decoder-attention "$attention")
      ;;
    *)
      MODEL_FLAGS=()
      if is_configuration "$1"; then return; fi
      fail "unknown model '$1': choose lstm, fconv, transformer, gru_encoder or grconv_encoder followed by -none," \
        "-additive, -dot or -general, or the name of a file of configs/"
      ;;
  esac
}

# set_convolution_flags EMBEDDINGS...: layers and kernels of fairseq's fconv_iwslt_de_en, half as wide as the recurrent
# decoder, with the output of the recurrent models: 5% fewer parameters than the lstm at the default sizes and 6,000
# words per side. Two positions of fconv's tables are never used: with fairseq's default of 1,024, it would reject
# sentences that the other models accept.
set_convolution_flags() {
  local width=$(((DECODER_SIZE + 1) / 2)) positions=$((POSITION_LIMIT + 3))
  MODEL_FLAGS=(--arch fconv "$@" --encoder-layers "[($width, 3)] * 4" --decoder-layers "[($width, 3)] * 3"
    --decoder-out-embed-dim "$DECODER_SIZE" --max-source-positions "$positions" --max-target-positions "$positions")
}

# set_transformer_flags: half as wide as the recurrent decoder, in whole multiples of eight, three layers a side,
# nothing tied, as in the other models: 5% fewer parameters than the lstm where fconv has 5% fewer. Four heads as in
# fairseq's transformer_iwslt_de_en; Adam and schedule of Vaswani et al. (2017), with the recipe's learning rate as the
# peak.
set_transformer_flags() {
  local width=$((8 * ((DECODER_SIZE + 15) / 16))) side
  MODEL_FLAGS=(--arch transformer)
  for side in encoder decoder; do
    MODEL_FLAGS+=("--$side-embed-dim" "$width" "--$side-ffn-embed-dim" "$((4 * width))" "--$side-attention-heads" 4
      "--$side-layers" 3)
  done
  MODEL_FLAGS+=(--adam-betas "(0.9, 0.98)" --lr-scheduler inverse_sqrt --warmup-updates "$(warmup_updates)")
}

# warmup_updates: a tenth of the budget, within bounds, unless --warmup says otherwise.
warmup_updates() {
  local tenth=$UNCOUNTED_WARMUP
  if [[ $BUDGET == updates* ]]; then tenth=$((${BUDGET#* } / 10)); fi
  tenth=$((tenth > LONGEST_WARMUP ? LONGEST_WARMUP : tenth))
  echo "${WARMUP:-$((tenth > 0 ? tenth : 1))}"
}

# criterion NAME: a model's cross-entropy; user_dir's gives the same number in less memory.
criterion() { case $1 in lstm | fconv | transformer) echo cross_entropy ;; *) echo chunked_cross_entropy ;; esac }

# is_configuration NAME: configs/NAME.yaml exists.
is_configuration() { [[ $1 != */* && -f $ROOT/configs/$1.yaml ]]; }

# set_training_flags NAME SEED: sets TRAINING_FLAGS: model, objective, optimizer, and batches. A configuration brings
# its own; all other systems share the recipe's.
set_training_flags() {
  local arguments
  if is_configuration "$1"; then
    arguments=$("$VENV/bin/python" -m recurrent_mt train-command "$ROOT/configs/$1.yaml" \
      "common.user_dir=$ROOT/user_dir" "task.data=$OUT/data" "task.source_lang=$SOURCE_LANG" \
      "task.target_lang=$TARGET_LANG" "common.seed=$2")
    mapfile -t TRAINING_FLAGS <<<"$arguments"
    return
  fi
  if [[ -n ${PLAN:-} ]]; then set_cell_flags "$1"; else set_model_flags "$1"; fi
  TRAINING_FLAGS=("$OUT/data" --user-dir "$ROOT/user_dir" --task translation
    --source-lang "$SOURCE_LANG" --target-lang "$TARGET_LANG" --dropout "$DROPOUT"
    --optimizer adam --lr "$LEARNING_RATE" --clip-norm 1.0 --criterion "$(criterion "$1")" --max-tokens "$MAX_TOKENS"
    "${MODEL_FLAGS[@]}" --seed "$2")
}
