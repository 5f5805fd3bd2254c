# shellcheck shell=bash
# The Python environment and the device. Sourced, never run. Needs ROOT; sets VENV and DEVICE_FLAGS.

# If the caller has set it, setup.sh also reads it.
VENV=${VENV:-$ROOT/.venv}
# Corpora are UTF-8, whatever the locale says.
export PYTHONUTF8=1
# `python -m` would look for modules in the working directory first, which may be a folder from a stranger.
export PYTHONSAFEPATH=1

# prepare_environment: set up what is missing. SETUP=no uses VENV unchanged.
prepare_environment() {
  if [[ ${SETUP:-yes} == no ]]; then return; fi
  run bash "$ROOT/scripts/setup.sh"
}

# detect_device: fairseq needs --cpu if torch sees no GPU. Checked once, and only if something has to be computed.
detect_device() {
  if [[ -n ${DEVICE_FLAGS+set} ]]; then return; fi
  DEVICE_FLAGS=()
  local question='import sys, torch; sys.exit(not torch.cuda.is_available())'
  if [[ -x $VENV/bin/python ]] && "$VENV/bin/python" -c "$question"; then
    say "Device: GPU."
  else
    DEVICE_FLAGS=(--cpu)
    say "Device: CPU, ${OMP_NUM_THREADS:-$(getconf _NPROCESSORS_ONLN)} threads."
  fi
}
