# shellcheck shell=bash
# Checks of parallel text. Sourced, never run. Needs SOURCE_LANG and TARGET_LANG.

# count_lines FILE: lines, including a last one without a newline.
count_lines() { awk 'END { print NR }' "$1"; }

# check_pair PREFIX: both sides exist, are UTF-8, and have the same number of lines.
check_pair() {
  local file counts=()
  for file in "$1.$SOURCE_LANG" "$1.$TARGET_LANG"; do
    if [[ ! -f $file ]]; then fail "there is no file $file"; fi
    if [[ ! -s $file ]]; then fail "$file is empty"; fi
    iconv -f UTF-8 -t UTF-8 "$file" >/dev/null || fail "$file is not UTF-8: convert it, for example with iconv"
    counts+=("$(count_lines "$file")")
  done
  if [[ ${counts[0]} != "${counts[1]}" ]]; then
    fail "$1.$SOURCE_LANG has ${counts[0]} lines and $1.$TARGET_LANG has ${counts[1]}:" \
      "line n of one must translate line n of the other"
  fi
}

# check_empty_lines PREFIX drop|refuse: say where lines are empty. Pairs of a test set are never dropped: BLEU on fewer
# sentences is a different number.
check_empty_lines() {
  local file found
  for file in "$1.$SOURCE_LANG" "$1.$TARGET_LANG"; do
    found=$(awk '{ gsub(/\r/, " ") } NF == 0 { if (!count++) first = NR }
      END { if (count) print count " empty line(s), the first is line " first }' "$file")
    if [[ -z $found ]]; then continue; fi
    if [[ $2 == refuse ]]; then fail "$file has $found: remove or fill the pair"; fi
    say "$file has $found: these pairs are dropped."
  done
}

# select_pairs INPUT OUTPUT drop|refuse MAX: copy the pairs with 1 to MAX tokens on each side.
# The others are dropped and counted, or rejected with their line number.
select_pairs() {
  awk -v other="$1.$TARGET_LANG" -v policy="$3" -v max="$4" -v kept_source="$2.$SOURCE_LANG.partial" \
    -v kept_target="$2.$TARGET_LANG.partial" '
    function reason(count) {
      return count == 0 ? "no token" : count > max ? count " tokens, more than the " max " allowed" : ""
    }
    { source = $0; why = reason(NF); where = FILENAME
      if ((getline < other) <= 0) { print "error: " other " ends early" > "/dev/stderr"; failed = 1; exit 1 }
      if (why == "") { why = reason(NF); where = other }
      if (why == "") { print source > kept_source; print > kept_target; next }
      if (policy == "refuse") { print "error: " where " line " NR " has " why > "/dev/stderr"; failed = 1; exit 1 }
      if (!dropped++) first = where " line " NR ": " why }
    END { if (failed) exit 1
      if (dropped) print "Dropped " dropped " of " NR " pairs (the first: " first ")."
      if (dropped == NR) { print "error: no pair of " FILENAME " is left" > "/dev/stderr"; exit 1 } }
  ' "$1.$SOURCE_LANG"
  mv "$2.$SOURCE_LANG.partial" "$2.$SOURCE_LANG"
  mv "$2.$TARGET_LANG.partial" "$2.$TARGET_LANG"
}
