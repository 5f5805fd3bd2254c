# shellcheck shell=bash
# The synthetic corpus, for recipes without --corpus. Sourced, never run. Needs ROOT VENV OUT and the variables of the
# options (recipe.sh).

# choose_synthetic_corpus: set how its text is read.
choose_synthetic_corpus() {
  if [[ ! $SOURCE_LANG-$TARGET_LANG =~ ^(fr|zh)-en$ ]]; then
    fail "the synthetic corpus has the pairs fr-en and zh-en, not $SOURCE_LANG-$TARGET_LANG: give your own with --corpus"
  fi
  if [[ $SEGMENTATION != sentencepiece:* ]]; then
    # The generator knows its words: SPLIT.src and SPLIT.tgt are the truecased tokens of SPLIT.fr and SPLIT.en.
    TOKENIZER=none SOURCE_ENDING=src TARGET_ENDING=tgt TRUECASED=yes
  fi
}

# make_synthetic_corpus: once for a run folder; sets CORPUS.
make_synthetic_corpus() {
  CORPUS=$OUT/corpus
  step "Making the corpus" "$CORPUS" write_synthetic_corpus
}

# write_synthetic_corpus FOLDER
write_synthetic_corpus() {
  run_into "$OUT/corpus.log" /dev/null \
    "$VENV/bin/python" -m recurrent_mt synthetic-corpus --pair "$SOURCE_LANG-$TARGET_LANG" --out "$1"
}
