#!/usr/bin/env bash
# Chinese-English data, from download to what fairseq-train reads: gets, cleans, selects, segments and binarizes.
#
#   bash scripts/prepare_zh_en.sh [--direction zh-en|en-zh] [--size small|medium|full] --out DIR [OPTION...]
#   bash scripts/prepare_zh_en.sh --corpus DIR --out DIR [OPTION...]
#
# small is the news commentary of WMT 2018; medium adds MultiUN; full takes the United Nations Parallel Corpus of WMT 2017 and
# 2018 in its place. The other corpora of those years, CWMT's, are given on registration only: --add PREFIX takes them in.
# The development set is newsdev2017, the test sets are newstest2017 (test) and newstest2018 (test1). Defaults: zh-en, small,
# 16,000 pieces, 100 tokens a sentence.
#
set -euo pipefail

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
if [[ $ROOT == "$PWD" ]]; then ROOT=.; fi

PAIR=zh-en SEGMENTATION=sentencepiece:16000 MAX_LENGTH=100
# Role, sizes, mtdata's id, pairs and megabytes to download (? where they are not published).
CORPORA='
train small,medium,full Statmt-news_commentary_wmt18-13-zho-eng    252,777      ?
train medium            OPUS-multiun-v1-eng-zho                  9,564,315    900
train full              OPUS-unpc-v1.0-eng-zho                  17,451,549   1536
valid small,medium,full Statmt-newsdev_zhen-2017-zho-eng             2,002      ?
test  small,medium,full Statmt-newstest_zhen-2017-zho-eng            2,001      ?
test  small,medium,full Statmt-newstest_zhen-2018-zho-eng            3,981      ?
'

# shellcheck source=lib/prepare.sh
. "$ROOT/scripts/lib/prepare.sh"
prepare_pair "$@"
