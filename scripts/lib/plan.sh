# shellcheck shell=bash
# The cells of an ablation plan. Sourced, never run. Needs ROOT VENV OUT PLAN and the variables of the options
# (recipe.sh).

# read_plan WHAT [CELL]: one item per line.
read_plan() { "$VENV/bin/python" -m recurrent_mt plan "$PLAN" "$@"; }

# set_cell_flags CELL: sets MODEL_FLAGS.
set_cell_flags() {
  local flags
  flags=$(read_plan flags "$1")
  mapfile -t MODEL_FLAGS <<<"$flags"
}

# keep_cell CELL: reject a cell whose name means other flags in this folder, because plans may share cells.
keep_cell() {
  local file=$OUT/systems/$1/flags
  set_cell_flags "$1"
  if [[ -e $file && $(<"$file") != "${MODEL_FLAGS[*]}" ]]; then
    diff "$file" <(echo "${MODEL_FLAGS[*]}") >&2 || true
    fail "cell $1 was trained with other flags in $OUT (< then, > now): give it another name, or choose another --out"
  fi
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  mkdir -p "$OUT/systems/$1"
  echo "${MODEL_FLAGS[*]}" >"$file.partial"
  mv "$file.partial" "$file"
}

# run_cell CELL SEED: train, translate, detokenize, count operations.
run_cell() {
  local folder=$OUT/systems/$1/seed-$2
  run_system "$1" "$2"
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  step "Counting operations of $1" "$folder/operations.json" count_operations "$folder"
}

# count_operations FOLDER OUTPUT
count_operations() {
  run "$VENV/bin/python" -m recurrent_mt count-operations --checkpoint "$1/checkpoints/checkpoint_best.pt" \
    --data "$OUT/data" --out "$2"
}

# run_cells CELL...: all seeds of one folder's cells, every first seed before any second.
run_cells() {
  local cell seed folder
  for cell in "$@"; do keep_cell "$cell"; done
  begin_queue $(($# * $(wc -w <<<"${SEEDS//,/ }")))
  for seed in ${SEEDS//,/ }; do
    for cell in "$@"; do
      folder=$OUT/systems/$cell/seed-$seed
      if [[ -e $folder/operations.json ]]; then
        pass_over "$cell, seed $seed" "$folder"
      else
        enqueue "$cell, seed $seed" "$folder" run_cell "$cell" "$seed"
      fi
    done
  done
  end_queue
}
