# shellcheck shell=bash
# What the recipes print: progress, commands, and errors. Sourced, never run.

say() { printf '%s\n' "$*"; }

heading() { printf '\n== %s\n' "$*"; }

# fail MESSAGE...: print one sentence on standard error and exit. A job of a queue keeps it in ERROR_FILE.
fail() {
  printf 'error: %s\n' "$*" >&2
  if [[ -n ${ERROR_FILE:-} ]]; then printf 'error: %s\n' "$*" >>"$ERROR_FILE"; fi
  exit 1
}

# print_command COMMAND...: ready to paste. Steps write aside to NAME.partial and rename: the name shown is the final
# one.
print_command() {
  local text
  text=$(printf '%q ' "$@")
  printf '  $ %s\n' "${text//.partial/}"
}

# run COMMAND...: print the command, then run it.
run() {
  print_command "$@"
  if [[ -z ${DRY_RUN:-} ]]; then "$@"; fi
}

# run_logged LOG COMMAND...: like run, with standard error in LOG, whose end is shown if the command fails.
run_logged() {
  local log=$1
  shift
  print_command "$@"
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  if "$@" 2>"$log"; then return; fi
  tail -n 15 "$log" >&2
  fail "$(basename "$1") failed; its messages are in $log"
}

# run_into OUTPUT INPUT COMMAND...: the command as a filter; OUTPUT appears only once it is complete. Within a step, it
# is already NAME.partial, and the step renames it.
run_into() {
  local output=$1 input=$2
  shift 2
  printf '%s < %q > %q\n' "$(print_command "$@")" "$input" "${output//.partial/}"
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  "$@" <"$input" >"${output%.partial}.partial"
  if [[ $output != *.partial ]]; then mv "$output.partial" "$output"; fi
}

# print_usage FILE: the comment at its top.
print_usage() { awk '/^#!/ { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$1"; }
