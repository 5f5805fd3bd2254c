#!/usr/bin/env bash
# Chinese-English data, from download to what fairseq-train reads: gets, cleans, selects, segments, and binarizes.
#
#   bash scripts/prepare_zh_en.sh [--direction zh-en|en-zh] [--size small|medium|full] --out DIR [OPTION...]
#   bash scripts/prepare_zh_en.sh --corpus DIR --out DIR [OPTION...]
#
# small is the news commentary of WMT 2018; medium adds MultiUN; full uses the United Nations Parallel Corpus of WMT
# 2017 and 2018 instead. The other corpora of those years, CWMT's, require registration: --add PREFIX includes them. The
# development set is newsdev2017, the test sets are newstest2017 (test) and newstest2018 (test1). Defaults: zh-en,
# small, 16,000 pieces, 100 tokens per sentence.
#
set -euo pipefail

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
if [[ $ROOT == "$PWD" ]]; then ROOT=.; fi

PAIR=zh-en SEGMENTATION=sentencepiece:16000 MAX_LENGTH=100
# Role, sizes, mtdata's id, pairs, and megabytes to download (? if not published).
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
