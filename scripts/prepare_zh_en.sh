#!/usr/bin/env bash
# Chinese-English data, from download to what fairseq-train reads: gets, cleans, selects, segments, and binarizes.
#
#   bash scripts/prepare_zh_en.sh [pair=zh-en|en-zh] [size=small|medium|full] out=DIR [KEY=VALUE...] [--dry-run]
#   bash scripts/prepare_zh_en.sh corpus=DIR out=DIR [KEY=VALUE...]
#
# small is the news commentary of WMT 2018; medium adds MultiUN; full uses the United Nations Parallel Corpus of WMT
# 2017 and 2018 instead. The other corpora of those years, CWMT's, require registration: add=PREFIX includes them. The
# development set is newsdev2017, the test sets are newstest2017 (test) and newstest2018 (test1). With corpus=DIR the text
# is local, plain, .gz, .xz, or .bz2. What DIR has in the end: prepare_fr_en.sh --help.
#
# This is the experiment configs/experiments/wmt-zh-en.yaml. Rerun the same command to resume.
# recurrent-mt experiment --help explains the options.
# VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail
# shellcheck source=environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

run_experiment "$ROOT/configs/experiments/wmt-zh-en.yaml" "$@"
