#!/usr/bin/env bash
# French-English data, from download to what fairseq-train reads: gets, cleans, selects, segments, and binarizes.
#
#   bash scripts/prepare_fr_en.sh [--direction fr-en|en-fr] [--size small|medium|full] --out DIR [OPTION...]
#   bash scripts/prepare_fr_en.sh --corpus DIR --out DIR [OPTION...]
#
# small is the news commentary; medium adds Europarl and Common Crawl; full adds the United Nations and the 10^9 corpus,
# from which Cho et al. and Bahdanau et al. took 348M words: --select-words 348M. The development sets are newstest2012
# and 2013, the test set is newstest2014. Defaults: fr-en, small, 30,000 words per side, 50 tokens per sentence.
#
set -euo pipefail

ROOT=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
if [[ $ROOT == "$PWD" ]]; then ROOT=.; fi

PAIR=fr-en SEGMENTATION=word:30000 MAX_LENGTH=50
# Role, sizes, mtdata's id, pairs, and megabytes to download (? if not published). The United Nations corpus of WMT is
# not in mtdata; MultiUN has the same documents.
CORPORA='
train small,medium,full OPUS-news_commentary-v9.0-eng-fra          183,251      ?
train medium,full       Statmt-europarl-7-fra-eng                2,007,723    194
train medium,full       Statmt-commoncrawl_wmt13-1-fra-eng       3,244,152    918
train full              OPUS-multiun-v1-eng-fra                 13,172,019   1355
train full              OPUS-giga_fren-v2-eng-fra               22,519,904   2702
valid small,medium,full Statmt-newstest-2012-eng-fra                 3,003      ?
valid small,medium,full Statmt-newstest-2013-eng-fra                 3,000      ?
test  small,medium,full Statmt-newstest_fren-2014-fra-eng            3,003      ?
'

# shellcheck source=lib/prepare.sh
. "$ROOT/scripts/lib/prepare.sh"
prepare_pair "$@"
