# shellcheck shell=bash
# A run folder: one set of options, one process at a time, steps that are done once. Sourced, never run.

# open_run_folder FOLDER OPTIONS: OPTIONS is a text with one `name value` per line for everything that determines the
# results. A folder made with other options is rejected, so that numbers from two settings never end up in one table.
open_run_folder() {
  local folder=$1 options=$2
  if [[ -e $folder/options && $(<"$folder/options") != "$options" ]]; then
    diff "$folder/options" <(printf '%s\n' "$options") >&2 || true
    fail "$folder was made with other options (< then, > now): choose another --out, or delete it"
  fi
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  if [[ -d $folder && ! -e $folder/options && -n $(ls "$folder") ]]; then
    fail "$folder is not empty and is not a run folder: choose another --out"
  fi
  mkdir -p "$folder"
  lock_run_folder "$folder"
  printf '%s\n' "$options" >"$folder/options.partial"
  mv "$folder/options.partial" "$folder/options"
}

# restore_options FOLDER: the options that say how a run's text is read and joined again. The folder may come from a
# stranger: only these five are set, each to a checked value.
restore_options() {
  local file=$1/options name value language='^[A-Za-z_]+$'
  if [[ ! -f $file ]]; then fail "$1 is not the --out folder of a recipe: it has no file named options"; fi
  SOURCE_LANG="" TARGET_LANG="" SEGMENTATION="" TOKENIZER=moses LOWERCASE=""
  # shellcheck disable=SC2094  # the file's name goes into messages; nothing is written to it
  while IFS=' ' read -r name value || [[ -n $name ]]; do
    case $name in
      SOURCE_LANG | TARGET_LANG) require_recorded "$file" "$name" "$value" "$language" ;;
      SEGMENTATION) require_recorded "$file" "$name" "$value" '^(word|bpe|sentencepiece):[1-9][0-9]*$' ;;
      TOKENIZER) require_recorded "$file" "$name" "$value" '^(moses|none)$' ;;
      LOWERCASE) require_recorded "$file" "$name" "$value" '^(yes)?$' ;;
      *) continue ;;
    esac
    printf -v "$name" '%s' "$value"
  done <"$file"
  for name in SOURCE_LANG TARGET_LANG SEGMENTATION; do
    if [[ -z ${!name} ]]; then fail "$file has no line $name: no recipe wrote it"; fi
  done
}

# require_recorded FILE NAME VALUE PATTERN
require_recorded() {
  if [[ ! $3 =~ $4 ]]; then fail "$1 has a line that no recipe wrote: $2 $3"; fi
}

# Every command started here inherits the lock: if only this shell is killed, the next call waits for the training that
# continues without it, instead of writing to the same checkpoints.
lock_run_folder() {
  if ! command -v flock >/dev/null; then
    say "flock is not installed: do not start two runs on $1 at once."
    return
  fi
  exec 9>"$1/.lock"
  if flock --nonblock 9; then return; fi
  say "Waiting: another process is working in $1 (listed by: fuser $1/.lock)."
  flock 9
}

# step TITLE OUTPUT FUNCTION [ARGUMENT...]: call FUNCTION ARGUMENT... OUTPUT.partial, then rename; nothing if OUTPUT
# exists.
step() {
  local title=$1 output=$2
  shift 2
  if [[ -e $output ]]; then
    say "Done before: $title ($output)"
    return
  fi
  heading "$title"
  if [[ -z ${DRY_RUN:-} ]]; then
    rm -rf "$output.partial"
    mkdir -p "$(dirname "$output")"
  fi
  "$@" "$output.partial"
  if [[ -z ${DRY_RUN:-} ]]; then mv "$output.partial" "$output"; fi
}
