#!/usr/bin/env bash
# Trains the system of a configuration file with fairseq-train, and prints the command that it runs.
#
#   bash scripts/train.sh [OPTION...] configs/NAME.yaml task.data=DIR [KEY=VALUE...] [-- FLAG...]
#
# KEY=VALUE overrides the file, as for fairseq-hydra-train; FLAGs go to fairseq-train as they are. DIR may be several shards,
# joined by colons.
#
#   --processes N          train on N processors or GPUs of this machine at once, started by torchrun
#   --dry-run              print the command only
#   --help
#
# VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
for part in console options environment; do
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/$part.sh"
done

PROCESSES=1
while [[ ${1:-} == -* ]]; do
  case $1 in
    --help | -h) print_usage "$0" && exit ;;
    --dry-run) DRY_RUN=yes && shift && continue ;;
    --processes)
      require_value "$@"
      PROCESSES=$2
      ;;
    *) fail "option $1 is unknown; see --help" ;;
  esac
  shift 2
done
require_match --processes "$PROCESSES" '^[1-9][0-9]*$' "a whole number above zero"
if [[ $# -eq 0 ]]; then fail "which configuration? see --help"; fi

overrides=()
while [[ $# -gt 0 && $1 != -- ]]; do
  overrides+=("$1")
  shift
done
if [[ $# -gt 0 ]]; then shift; fi

prepare_environment
arguments=$("$VENV/bin/python" -m recurrent_mt train-command "${overrides[0]}" "common.user_dir=$ROOT/user_dir" "${overrides[@]:1}")
mapfile -t arguments <<<"$arguments"
detect_device
command=("$VENV/bin/fairseq-train" "${arguments[@]}" "${DEVICE_FLAGS[@]}")
if [[ $PROCESSES -gt 1 ]]; then
  # fairseq takes its place among the processes from the environment that torchrun makes. Without a GPU they talk by gloo.
  command=("$VENV/bin/torchrun" --standalone --nproc_per_node "$PROCESSES" "${command[@]}" --ddp-backend legacy_ddp)
  if [[ ${#DEVICE_FLAGS[@]} -gt 0 ]]; then command+=(--distributed-backend gloo); fi
fi
command+=("$@")
print_command "${command[@]}"
if [[ -z ${DRY_RUN:-} ]]; then exec "${command[@]}"; fi
