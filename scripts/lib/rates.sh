# shellcheck shell=bash
# The search for each model's learning rate. Sourced, never run.
# Needs ROOT VENV OUT and the variables of the options (recipe.sh).
# OUT/rates/NAME/seed-S/RATE is a training run like any other, and OUT/rates/NAME/choice.json has the outcome of all of
# them. The folder of the chosen one then becomes OUT/systems/NAME/seed-S: it is not trained again.

# Model to its chosen rate.
declare -A CHOSEN_RATES=()

# is_searched NAME: whether a model's rate is searched. A configuration of configs/ keeps its own optimizer.
is_searched() { [[ -n $LEARNING_RATES ]] && ! is_configuration "$1"; }

# search_rates MODELS SEED: trains each model with each rate and sets CHOSEN_RATES. Comma-separated list.
search_rates() {
  local name rate searched=() missing=()
  for name in ${1//,/ }; do
    if ! is_searched "$name"; then continue; fi
    searched+=("$name")
    if [[ ! -e $OUT/rates/$name/choice.json ]]; then missing+=("$name"); fi
  done
  begin_queue $((${#missing[@]} * $(wc -w <<<"${LEARNING_RATES//,/ }")))
  for name in "${missing[@]}"; do
    for rate in ${LEARNING_RATES//,/ }; do try_rate "$name" "$2" "$rate"; done
  done
  end_queue
  for name in "${searched[@]}"; do choose_rate "$name" "$2"; done
}

# try_rate NAME SEED RATE
try_rate() {
  local folder=$OUT/rates/$1/seed-$2/$3 title="$1, seed $2, learning rate $3"
  if [[ -e $folder/trained ]]; then
    pass_over "$title" "$folder"
  else
    enqueue "$title" "$folder" train_with_rate "$1" "$2" "$3" "$folder"
  fi
}

# train_with_rate NAME SEED RATE FOLDER
train_with_rate() {
  local LEARNING_RATE=$3
  step "Training $1, seed $2, with learning rate $3" "$4/trained" train "$1" "$2" "$4"
}

# choose_rate NAME SEED: by validation loss, once. If none can be chosen, require_rate says why.
choose_rate() {
  local folder=$OUT/rates/$1 seed chosen from to
  local command=("$VENV/bin/python" -m recurrent_mt choose-rate "$folder" --seed "$2"
    --rates "$LEARNING_RATES")
  if [[ -n ${DRY_RUN:-} ]]; then
    print_command "${command[@]}"
    CHOSEN_RATES[$1]=CHOSEN
    return
  fi
  if ! chosen=$("${command[@]}" 2>"$folder/choice.errors"); then return; fi
  read -r seed "CHOSEN_RATES[$1]" <<<"$chosen"
  say "$1: learning rate ${CHOSEN_RATES[$1]} ($folder/choice.json)"
  from=$folder/seed-$seed/${CHOSEN_RATES[$1]} to=$OUT/systems/$1/seed-$seed
  if [[ ! -e $from ]]; then return; fi
  # Nothing is there except what a search without a choice left.
  rm -f "$to"/{failure,errors,job.log}
  mkdir -p "$to"
  rmdir "$to"
  mv "$from" "$to"
}

# is_search_planned NAME SEED: in a dry run, that the search will train this system.
is_search_planned() { [[ -n ${DRY_RUN:-} && $2 == "${SEEDS%%,*}" ]] && is_searched "$1"; }

# require_rate NAME: a searched model has a rate.
require_rate() {
  local errors=$OUT/rates/$1/choice.errors reason
  if ! is_searched "$1" || [[ -n ${CHOSEN_RATES[$1]:-} ]]; then return; fi
  reason=$(tail -n 1 "$errors")
  fail "no learning rate was chosen: ${reason#error: }"
}
