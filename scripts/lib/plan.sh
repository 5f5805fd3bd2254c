# shellcheck shell=bash
# The cells of an ablation's plan, trained in a queue. Sourced, never run.
# Needs ROOT VENV OUT PLAN and the variables of the options (recipe.sh).

# read_plan WHAT [CELL]: one item a line.
read_plan() { "$VENV/bin/python" "$ROOT/scripts/read_plan.py" "$PLAN" "$@"; }

# set_cell_flags CELL: sets MODEL_FLAGS.
set_cell_flags() {
  local flags
  flags=$(read_plan flags "$1")
  mapfile -t MODEL_FLAGS <<<"$flags"
}

# keep_cell CELL: refuses a cell whose name stands for other flags in this folder: plans may share their cells.
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

# failure_reason FOLDER: one line, from the logs of a cell.
failure_reason() {
  local logs=("$1/train.log" "$1/cell.log")
  if grep -qs -e 'FloatingPointError' -e 'gradients are Nan/Inf' "${logs[@]}"; then
    echo "diverged: loss or gradient is not a number"
  elif grep -qsi -e 'out of memory' -e 'MemoryError' -e "can't allocate memory" "${logs[@]}"; then
    echo "out of memory"
  elif grep -qs 'failed with status 137' "$1/cell.log"; then
    echo "killed, most likely for want of memory"
  else
    grep -hs '^error: ' "$1/cell.log" | tail -n 1 || true
  fi
}

# run_cell CELL SEED PLACE: train, translate, detokenise, count operations, in a shell of its own; what went wrong goes
# into the cell's file failure, and other cells go on.
run_cell() {
  local folder=$OUT/systems/$1/seed-$2 began=$SECONDS
  mkdir -p "$folder"
  rm -f "$folder/failure"
  trap 'end_cell "$?" "'"$folder"'" "'"$3 $1, seed $2"'" "'"$began"'"' EXIT
  exec >>"$folder/cell.log" 2>&1
  run_system "$1" "$2"
  step "Counting operations of $1" "$folder/operations.json" count_operations "$folder"
}

# end_cell STATUS FOLDER TITLE BEGAN
end_cell() {
  if (($1 == 0)); then
    say "$3: done in $((SECONDS - $4)) s" >&3
    return
  fi
  # Stopped from outside, a cell has not failed: the next call goes on with it.
  if [[ -e $OUT/.stopping ]]; then return; fi
  local reason
  reason=$(failure_reason "$2")
  printf '%s\n' "${reason:-stopped with status $1}" >"$2/failure.partial"
  mv "$2/failure.partial" "$2/failure"
  say "$3: failed: $(<"$2/failure") (log: $2/cell.log)" >&3
}

# count_operations FOLDER OUTPUT
count_operations() {
  run "$VENV/bin/python" "$ROOT/scripts/count_operations.py" --checkpoint "$1/checkpoints/checkpoint_best.pt" \
    --data "$OUT/data" --out "$2"
}

# stop_cells: each job is a process group of its own, with its training in it.
stop_cells() {
  : >"$OUT/.stopping"
  local job
  for job in $(jobs -p); do kill -TERM -- "-$job" 2>/dev/null || true; done
  wait || true
  fail "stopped; the same call goes on from here"
}

# run_cells CELL...: all seeds of one folder's cells, JOBS at a time, every first seed before any second.
run_cells() {
  local cell seed folder place=0 total=$(($# * $(wc -w <<<"${SEEDS//,/ }")))
  for cell in "$@"; do keep_cell "$cell"; done
  if [[ -n ${DRY_RUN:-} ]]; then
    for cell in "$@"; do for seed in ${SEEDS//,/ }; do run_system "$cell" "$seed"; done; done
    return
  fi
  detect_device
  rm -f "$OUT/.stopping"
  exec 3>&1
  set -m
  trap stop_cells INT TERM
  for seed in ${SEEDS//,/ }; do
    for cell in "$@"; do
      place=$((place + 1)) folder=$OUT/systems/$cell/seed-$seed
      if [[ -e $folder/operations.json ]]; then
        say "Done before: $cell, seed $seed ($folder)"
      elif [[ -e $folder/failure && -z ${RETRY:-} ]]; then
        say "Failed before: $cell, seed $seed: $(<"$folder/failure") (--retry to try again)"
      else
        while (($(jobs -rp | wc -l) >= JOBS)); do wait -n || true; done
        say "[$place/$total] $cell, seed $seed: begins (log: $folder/cell.log)"
        (run_cell "$cell" "$seed" "[$place/$total]") &
      fi
    done
  done
  wait
  set +m
  trap - INT TERM
}
