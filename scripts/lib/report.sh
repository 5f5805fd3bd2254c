# shellcheck shell=bash
# Figures of a run's models, and the report on the run. Sourced, never run. Needs ROOT VENV OUT and the variables of the
# options (recipe.sh).

# Which sentences are drawn: the first ones of 5 to 12 words, long enough to show something and short enough to read.
readonly DRAWN=3

# choose_sentences FILE: their numbers, from 0.
choose_sentences() { awk -v most="$DRAWN" 'NF >= 5 && NF <= 12 && count++ < most { print NR - 1 }' "$1"; }

# subword_flags: what the figures have to know about the segmentation.
subword_flags() {
  case $SEGMENTATION in
    bpe:*) printf -- '--segmentation\nbpe\n' ;;
    sentencepiece:*) printf -- '--segmentation\nsentencepiece\n' ;;
  esac
}

# draw TOOL SYSTEM FLAG... OUTPUT: figures and numbers of one system's first seed, from its checkpoint.
draw() {
  local tool=$1 system=$2 output=${!#} prepared=$OUT/text/prepared/test flags sentences
  mapfile -t sentences < <(choose_sentences "$prepared.$SOURCE_LANG" 2>/dev/null)
  mapfile -t flags < <(subword_flags)
  if [[ ${#sentences[@]} -gt 0 ]]; then flags+=(--sentences "${sentences[@]}"); fi
  run_logged "$OUT/figures.log" "$VENV/bin/python" -m recurrent_mt "$tool" \
    --checkpoint "$OUT/systems/$system/checkpoints/checkpoint_best.pt" --data "$OUT/data" \
    --source "$prepared.$SOURCE_LANG" --format svg "${flags[@]}" "${@:3:$#-3}" --out "$output"
}

# draw_figures NAME SEED: what can be drawn of this model. Gold links and trees are those of the synthetic corpus.
draw_figures() {
  local system=$1/seed-$2 gold=()
  case $1 in
    lstm | *-additive | *-dot | *-general | rnnsearch-*)
      if [[ -f $CORPUS/test.$SOURCE_LANG-$TARGET_LANG.align ]]; then
        gold=(--gold "$CORPUS/test.$SOURCE_LANG-$TARGET_LANG.align")
      fi
      step "Drawing alignments of $1" "$OUT/figures/alignments/$1" draw align "$system" \
        --target "$OUT/text/prepared/test.$TARGET_LANG" "${gold[@]}"
      ;;
  esac
  case $1 in
    grconv*)
      if [[ -f $CORPUS/test.$SOURCE_LANG.ptb ]]; then gold=(--trees "$CORPUS/test.$SOURCE_LANG.ptb"); fi
      step "Drawing the structure that $1 finds" "$OUT/figures/structure/$1" draw structure "$system" "${gold[@]}"
      ;;
  esac
}

# make_report MODELS SEEDS: OUT/report.html, rebuilt at each call.
make_report() {
  local name figure flags=()
  for name in ${1//,/ }; do
    if [[ ! -e $OUT/systems/$name/seed-${2%%,*}/failure ]]; then draw_figures "$name" "${2%%,*}"; fi
  done
  # For each system, first the numbers, then the drawings.
  for figure in "$OUT"/figures/alignments/*/{summary.txt,*.svg}; do
    if [[ -e $figure ]]; then flags+=(--figure "Alignments: $(basename "$(dirname "$figure")")=$figure"); fi
  done
  for figure in "$OUT"/figures/structure/*/{scores.txt,*.svg}; do
    if [[ -e $figure ]]; then flags+=(--figure "Structure: $(basename "$(dirname "$figure")")=$figure"); fi
  done
  for figure in "$OUT"/beams/beams.{txt,svg}; do
    if [[ -e $figure ]]; then flags+=(--figure "Beams: BLEU, length and speed by beam=$figure"); fi
  done
  heading "Making the report"
  run_logged "$OUT/report.log" "$VENV/bin/python" -m recurrent_mt report "$OUT" "${flags[@]}" --out "$OUT/report.html"
  say "The report: $OUT/report.html. Open it in a browser."
}
