# shellcheck shell=bash
# A queue of training runs: one that fails is reported and does not stop the others; one that is stopped continues in
# the next call. Sourced, never run. Needs OUT; AT_ONCE (--jobs), RETRY and JOB_LOGS, which is set where jobs are not to
# be watched.

# share_processors: each job gets its share if several run at once.
share_processors() {
  local share=$(($(getconf _NPROCESSORS_ONLN) / AT_ONCE))
  if ((AT_ONCE == 1)); then return; fi
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((share > 0 ? share : 1))}
}

# begin_queue TOTAL
begin_queue() {
  QUEUE_TOTAL=$1 QUEUE_PLACE=0
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  share_processors
  rm -f "$OUT/.stopping"
  exec 3>&1
  if ! watched; then
    # Each job is its own process group, including its training.
    set -m
    trap stop_jobs INT TERM HUP
  fi
}

# watched: whether jobs report to the terminal. They then run one after another, and an interrupt from the keyboard
# reaches them without our help.
watched() { [[ $AT_ONCE == 1 && -z ${JOB_LOGS:-} ]]; }

# enqueue TITLE FOLDER COMMAND...: COMMAND in a shell of its own. What went wrong goes into FOLDER/failure.
enqueue() {
  local title=$1 folder=$2
  shift 2
  QUEUE_PLACE=$((QUEUE_PLACE + 1))
  if [[ -n ${DRY_RUN:-} ]]; then
    "$@"
    return
  fi
  mkdir -p "$folder"
  if [[ -e $folder/failure && -z ${RETRY:-} ]]; then
    say "Failed before: $title: $(<"$folder/failure") (--retry to try again)"
    return
  fi
  detect_device
  if watched; then
    watch_job "[$QUEUE_PLACE/$QUEUE_TOTAL] $title" "$folder" "$@"
  else
    while (($(jobs -rp | wc -l) >= AT_ONCE)); do wait -n || true; done
    say "[$QUEUE_PLACE/$QUEUE_TOTAL] $title: begins (log: $folder/job.log)"
    (run_job "[$QUEUE_PLACE/$QUEUE_TOTAL] $title" "$folder" "$@" >>"$folder/job.log" 2>&1) &
  fi
}

# pass_over TITLE FOLDER: instead of enqueue, for what is done.
pass_over() {
  QUEUE_PLACE=$((QUEUE_PLACE + 1))
  say "Done before: $1 ($2)"
}

# watch_job TITLE FOLDER COMMAND...: in the foreground. In a condition, bash would not stop the job at its first error.
watch_job() {
  local status
  set +e
  (
    set -e
    run_job "$@"
  )
  status=$?
  set -e
  if stopped_by_signal "$status"; then fail "stopped; the same call continues from here"; fi
}

# stopped_by_signal STATUS: hangup, interrupt, or termination.
stopped_by_signal() { [[ $1 == 129 || $1 == 130 || $1 == 143 ]]; }

# run_job TITLE FOLDER COMMAND...
run_job() {
  rm -f "$2/failure" "$2/errors"
  ERROR_FILE=$2/errors
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  trap 'end_job "$?" "'"$1"'" "'"$2"'" "'"$SECONDS"'"' EXIT
  "${@:3}"
}

# end_job STATUS TITLE FOLDER BEGAN
end_job() {
  if (($1 == 0)); then
    say "$2: done in $((SECONDS - $4)) s" >&3
    return
  fi
  # A job stopped from outside has not failed: the next call continues it.
  if [[ -e $OUT/.stopping ]] || stopped_by_signal "$1"; then return; fi
  local reason
  reason=$(failure_reason "$3")
  printf '%s\n' "${reason:-stopped with status $1}" >"$3/failure.partial"
  mv "$3/failure.partial" "$3/failure"
  say "$2: failed: $(<"$3/failure") (logs: $3/*.log)" >&3
}

# failure_reason FOLDER: one line, from the logs of a job.
failure_reason() {
  local logs=("$1/train.log" "$1/job.log")
  if grep -qs -e 'FloatingPointError' -e 'gradients are Nan/Inf' "${logs[@]}"; then
    echo "diverged: loss or gradient is not a number"
  elif grep -qsi -e 'out of memory' -e 'MemoryError' -e "can't allocate memory" "${logs[@]}"; then
    echo "out of memory"
  elif grep -qs 'failed with status 137' "$1/errors"; then
    echo "killed, most likely because memory ran out"
  else
    tail -qn 1 "$1/errors" 2>/dev/null || true
  fi
}

# stop_jobs: all running jobs, including their training.
stop_jobs() {
  : >"$OUT/.stopping"
  local job
  for job in $(jobs -p); do kill -TERM -- "-$job" 2>/dev/null || true; done
  wait || true
  fail "stopped; the same call continues from here"
}

# end_queue: waits for all jobs.
end_queue() {
  if [[ -n ${DRY_RUN:-} ]] || watched; then return; fi
  wait
  set +m
  trap - INT TERM HUP
}
