#!/usr/bin/env bash
# Trains the system of a configuration file with fairseq-train, and prints the command that it runs.
#
#   bash scripts/train.sh configs/NAME.yaml task.data=DIR [KEY=VALUE...] [-- FLAG...]
#
# KEY=VALUE overrides the file, as for fairseq-hydra-train; FLAGs go to fairseq-train as they are. --dry-run before the file
# prints the command only. VENV=DIR chooses the environment (.venv); SETUP=no takes it as it is.
#
set -euo pipefail

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
# shellcheck source=lib/console.sh
. "$ROOT/scripts/lib/console.sh"
# shellcheck source=lib/environment.sh
. "$ROOT/scripts/lib/environment.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  print_usage "$0"
  exit
fi
if [[ ${1:-} == --dry-run ]]; then DRY_RUN=yes && shift; fi
if [[ $# -eq 0 ]]; then fail "which configuration? see --help"; fi

overrides=()
while [[ $# -gt 0 && $1 != -- ]]; do
  overrides+=("$1")
  shift
done
if [[ $# -gt 0 ]]; then shift; fi

prepare_environment
arguments=$("$VENV/bin/python" "$ROOT/scripts/print_train_command.py" "${overrides[0]}" "common.user_dir=$ROOT/user_dir" "${overrides[@]:1}")
mapfile -t arguments <<<"$arguments"
detect_device
command=("$VENV/bin/fairseq-train" "${arguments[@]}" "${DEVICE_FLAGS[@]}" "$@")
print_command "${command[@]}"
if [[ -z ${DRY_RUN:-} ]]; then exec "${command[@]}"; fi
