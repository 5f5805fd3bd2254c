#!/usr/bin/env bash
# French-English data, from download to what fairseq-train reads: gets, cleans, selects, segments, and binarizes.
#
#   bash scripts/prepare_fr_en.sh [pair=fr-en|en-fr] [size=small|medium|full] out=DIR [KEY=VALUE...] [--dry-run]
#   bash scripts/prepare_fr_en.sh corpus=DIR out=DIR [KEY=VALUE...]
#
# small is the news commentary; medium adds Europarl and Common Crawl; full adds the United Nations and the 10^9 corpus,
# from which Cho et al. and Bahdanau et al. took 348M words: select_words=348M. The development sets are newstest2012
# and 2013, the test set is newstest2014. With corpus=DIR the text is local, plain, .gz, .xz, or .bz2.
#
# DIR/raw        each corpus unchanged, one sentence per line; downloads are in DIR/downloads
# DIR/clean      the training text, cleaned or selected; development and test sets, joined
# DIR/text       words, segmented text, the segmentation model; text/raw/test.LANG is what scores are computed on
# DIR/data       binarized, for fairseq-train; data/REPORT.md says what happened to the text
# DIR/options    what all of this was made with
# The first four are links into DIR/corpora.
#
# This is the experiment configs/experiments/wmt-fr-en.yaml. Rerun the same command to resume.
# recurrent-mt experiment --help explains the options.
# VENV=DIR chooses the environment (.venv); SETUP=no uses it unchanged.
#
set -euo pipefail
# shellcheck source=environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

run_experiment "$ROOT/configs/experiments/wmt-fr-en.yaml" "$@"
