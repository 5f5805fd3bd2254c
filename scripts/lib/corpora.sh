# shellcheck shell=bash
# Which corpora a recipe uses, how large they are, and how they get to OUT/raw. Sourced, never run. Needs ROOT VENV OUT
# CORPORA and the variables of the options (prepare.sh).

# list_sets: sets TRAIN_SETS, VALID_SETS and TEST_SETS, the folders of OUT/raw, and SPLITS.
list_sets() {
  local role sizes id test number
  TRAIN_SETS=() VALID_SETS=() TEST_SETS=() SPLITS=(train valid)
  if [[ -n $CORPUS ]]; then
    TRAIN_SETS=(train) VALID_SETS=(valid)
    for test in ${TEST_PREFIX//,/ }; do TEST_SETS+=("test-$(basename "$test")"); done
  else
    while read -r role sizes id _; do
      if [[ ,$sizes, != *,$SIZE,* ]]; then continue; fi
      case $role in
        train) TRAIN_SETS+=("$id") ;;
        valid) VALID_SETS+=("$id") ;;
        test) TEST_SETS+=("$id") ;;
      esac
    done <<<"$CORPORA"
  fi
  for test in ${ADD//,/ }; do TRAIN_SETS+=("added-$(basename "$test")"); done
  for number in "${!TEST_SETS[@]}"; do SPLITS+=("test${number/#0/}"); done
  if [[ -n $(printf '%s\n' "${TRAIN_SETS[@]}" "${TEST_SETS[@]}" | sort | uniq -d) ]]; then
    fail "two of the corpora have the same name: ${TRAIN_SETS[*]} ${TEST_SETS[*]}"
  fi
}

# prefix_of NAME: where the local text of OUT/raw/NAME comes from; nothing for a published corpus.
prefix_of() {
  local file
  case $1 in
    train) printf '%s' "$CORPUS/$TRAIN_PREFIX" ;;
    valid) printf '%s' "$CORPUS/$VALID_PREFIX" ;;
    test-*) for file in ${TEST_PREFIX//,/ }; do
      if [[ $1 == "test-$(basename "$file")" ]]; then printf '%s' "$CORPUS/$file"; fi
    done ;;
    added-*) for file in ${ADD//,/ }; do
      if [[ $1 == "added-$(basename "$file")" ]]; then printf '%s' "$file"; fi
    done ;;
  esac
}

# all_sets: the names of all sets, one per line.
all_sets() { printf '%s\n' "${TRAIN_SETS[@]}" "${VALID_SETS[@]}" "${TEST_SETS[@]}"; }

# local_files PREFIX: the files that exist.
local_files() {
  local lang ending
  for lang in "$SOURCE_LANG" "$TARGET_LANG"; do
    for ending in "" .gz .xz .bz2; do
      if [[ -f $1.$lang$ending ]]; then printf '%s\n' "$1.$lang$ending"; fi
    done
  done
}

# print_plan: each corpus with its size, as published or of the local files.
print_plan() {
  local name prefix file size
  heading "The plan: $SOURCE_LANG-$TARGET_LANG, $SEGMENTATION, to $OUT"
  for name in $(all_sets); do
    prefix=$(prefix_of "$name")
    if [[ -z $prefix ]]; then
      awk -v id="$name" '$3 == id { printf "  %-5s  %-40s %10s pairs, %5s MB\n", $1, $3, $4, $5 }' <<<"$CORPORA"
      continue
    fi
    if [[ $(local_files "$prefix" | wc -l) -ne 2 ]]; then
      fail "there must be $prefix.$SOURCE_LANG and $prefix.$TARGET_LANG, each once: plain, .gz, .xz, or .bz2"
    fi
    for file in $(local_files "$prefix"); do
      size=$(wc -c <"$file")
      printf '  %-5s  %-40s %10d bytes\n' "${name%%-*}" "$file" "$size"
    done
  done
  if [[ -z $CORPUS ]]; then
    print_total
    say "  Sizes as published; ? means not published. The development and test sets are in one file, downloaded once."
  fi
}

# print_total: the total of the published training text.
print_total() {
  awk -v size="$SIZE" '$1 == "train" && index("," $2 ",", "," size ",") { gsub(",", "", $4); pairs += $4; size_mb += $5 }
    END { printf "  Together %.1f million pairs to train on", pairs / 1e6
      print (size_mb ? sprintf(", more than %.1f GB to download.", size_mb / 1e3) : ".") }' <<<"$CORPORA"
}

# find_sources FILE: the addresses of all published corpora of this recipe.
find_sources() {
  local ids
  mapfile -t ids < <(awk 'NF { print $3 }' <<<"$CORPORA")
  run_logged "$OUT/raw/mtdata.log" "$VENV/bin/python" -m recurrent_mt get find "${ids[@]}" --out "$1"
}

# get_published ID FOLDER
get_published() {
  run "$VENV/bin/python" -m recurrent_mt get published "$1" --sources "$OUT/raw/sources.json" \
    --downloads "$OUT/downloads" ${MIRROR:+--mirror "$MIRROR"} ${CHECKSUMS:+--checksums "$CHECKSUMS"} \
    --pair "$SOURCE_LANG-$TARGET_LANG" --out "$2"
}

# get_local PREFIX FOLDER
get_local() {
  run "$VENV/bin/python" -m recurrent_mt get local "$1" --pair "$SOURCE_LANG-$TARGET_LANG" --out "$2"
}

# get_sets: OUT/raw/NAME/text.LANG of every set.
get_sets() {
  local name prefix
  if [[ -z $CORPUS ]]; then step "Looking up the corpora" "$OUT/raw/sources.json" find_sources; fi
  for name in $(all_sets); do
    prefix=$(prefix_of "$name")
    if [[ -n $prefix ]]; then
      step "Reading $prefix" "$OUT/raw/$name" get_local "$prefix"
    else
      step "Getting $name" "$OUT/raw/$name" get_published "$name"
    fi
  done
}
