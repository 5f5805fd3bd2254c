# shellcheck shell=bash
# Checks of options. Sourced, never run.

# require_value OPTION [VALUE...]: OPTION looks like an option, and something follows it.
require_value() {
  if [[ $1 != -* ]]; then fail "'$1' is not an option; see --help"; fi
  if [[ $# -lt 2 || $2 == --* ]]; then fail "option $1 is unknown or needs a value; see --help"; fi
}

# require_match OPTION VALUE PATTERN MEANING
require_match() {
  if [[ ! $2 =~ $3 ]]; then fail "${1//_/-} must be $4, not '$2'"; fi
}
