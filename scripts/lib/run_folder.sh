# shellcheck shell=bash
# A run folder: one set of options, one process at a time, steps that are done once. Sourced, never run.

# open_run_folder FOLDER OPTIONS: OPTIONS is a text, one `name value` a line, of all that decides the results.
# A folder made with other options is refused, so that numbers of two settings never meet in one table.
open_run_folder() {
  local folder=$1 options=$2
  if [[ -e $folder/options && $(<"$folder/options") != "$options" ]]; then
    diff "$folder/options" <(printf '%s\n' "$options") >&2 || true
    fail "$folder was made with other options (< then, > now): choose another --out, or delete it"
  fi
  if [[ -n ${DRY_RUN:-} ]]; then return; fi
  if [[ -d $folder && ! -e $folder/options && -n $(ls "$folder") ]]; then
    fail "$folder is not empty and holds no run: choose another --out"
  fi
  mkdir -p "$folder"
  lock_run_folder "$folder"
  printf '%s\n' "$options" >"$folder/options.partial"
  mv "$folder/options.partial" "$folder/options"
}

# restore_options FOLDER: the variables of the options that a run was made with.
restore_options() {
  local name value
  if [[ ! -f $1/options ]]; then fail "$1 is not the --out folder of a recipe: there is no file options in it"; fi
  while read -r name value; do
    if [[ $name == checksum ]]; then continue; fi
    if [[ ! $name =~ ^[A-Z_]+$ ]]; then fail "$1/options has a line that no recipe wrote: $name $value"; fi
    printf -v "$name" '%s' "$value"
  done <"$1/options"
}

# The lock is inherited by every command started here: when only this shell is killed, the next call
# waits for the training that goes on without it, instead of writing to the same checkpoints.
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
