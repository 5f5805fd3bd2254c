# shellcheck shell=bash
# The environment that a recipe needs, and its help text. Sourced, never run; ROOT is the folder of the project.

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
VENV=${VENV:-$ROOT/.venv}
# `python -m` would look for modules in the working directory first, which may be a folder from a stranger.
export PYTHONSAFEPATH=1

# print_usage FILE: the comment at its top.
print_usage() { awk '/^#!/ { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$1"; }

# list_options: every KEY of an experiment, from the one file that defines them.
list_options() {
  printf 'KEYs of an experiment:\n'
  awk '/^properties:/ { listing = 1 } !listing { next }
    /^  [a-z_]+:/ { key = $1; sub(":", "", key) }
    match($0, /description: /) {
      text = substr($0, RSTART + RLENGTH); folded = (text ~ /^>/)
      if (folded) { text = ""; while ((getline line) > 0 && line !~ /^    [a-z$]/) { sub(/^ +/, "", line); text = text " " line } }
      else if (text ~ /^"/) { sub(/^"/, "", text); sub(/".*/, "", text) } else { sub(/, (\$ref|enum|type):? .*/, "", text); sub(/, (\$ref|enum|type):.*/, "", text) }
      sub(/^ +/, "", text); printf "  %-16s %s\n", key, text }' "$ROOT/workflow/experiment.schema.yaml"
}

# prepare_environment: set up what is missing. SETUP=no uses VENV unchanged.
prepare_environment() {
  if [[ ${SETUP:-yes} != no ]]; then bash "$ROOT/scripts/setup.sh"; fi
}

# run_experiment FILE.yaml [ARGUMENT...]: set up, then become the experiment.
run_experiment() {
  prepare_environment
  exec "$VENV/bin/python" -m recurrent_mt experiment "$@"
}
