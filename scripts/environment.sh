# shellcheck shell=bash
# The environment that a recipe needs, and its help text. Sourced, never run; ROOT is the folder of the project.

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
VENV=${VENV:-$ROOT/.venv}
# Scripts may leave the folder of the call.
[[ $VENV == /* ]] || VENV=$PWD/$VENV
# `python -m` would look for modules in the working directory first, which may be a folder from a stranger.
export PYTHONSAFEPATH=1

# The comment at the top of the script that reads this file.
if [[ ${1:-} == --help ]]; then
  awk '/^#!/ { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$0" && exit
fi

# check_environment: its code must be this clone's, not that of another whose environment it is.
check_environment() {
  local code
  code=$("$VENV/bin/python" -c 'import recurrent_mt; print(recurrent_mt.__path__[0])') ||
    fail "VENV=$VENV has no installation of this project (see above): bash $ROOT/scripts/setup.sh makes one"
  [[ $code -ef $ROOT/recurrent_mt ]] ||
    fail "VENV=$VENV would run $code, not $ROOT/recurrent_mt: choose this clone's own environment"
}

fail() { echo "error: $*" >&2 && exit 1; }

# prepare_environment: set up what is missing. SETUP=no uses VENV unchanged.
prepare_environment() {
  if [[ ${SETUP:-yes} != no ]]; then bash "$ROOT/scripts/setup.sh"; else check_environment; fi
}

# run_experiment FILE.yaml [ARGUMENT...]: set up, then become the experiment.
run_experiment() {
  prepare_environment
  exec "$VENV/bin/python" -m recurrent_mt experiment "$@"
}
