#!/usr/bin/env bash
# Runs fairseq's own tests that concern translation, and prints how many passed.
#
#   bash tests/compat/run_fairseq_tests.sh CHECKOUT
# CHECKOUT is a folder with fairseq's repository at the tag v0.12.2, for example from
#   git clone --depth 1 --branch v0.12.2 https://github.com/facebookresearch/fairseq
# The tests run against the fairseq installed in .venv (VENV= chooses another environment). Takes about 15 minutes on
# two cores.
set -euo pipefail

readonly TESTS=(
    test_average_checkpoints test_checkpoint_utils test_dataclass_utils test_dictionary test_export
    test_iterators test_metrics test_reproducibility test_sequence_generator test_sequence_scorer test_train
)

stop() { printf 'run_fairseq_tests: %s\n' "$*" >&2; exit 1; }

# With it, cd may print a folder, or go to another than the one that is meant.
unset CDPATH
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=/dev/null
. "$project/scripts/environment.sh"
[[ $# -eq 1 ]] || stop "give one folder, a checkout of fairseq v0.12.2."
checkout=$(cd "$1" 2>/dev/null && pwd) || stop "there is no folder $1."
[[ -f $checkout/tests/test_binaries.py ]] || stop "$checkout has no tests/test_binaries.py; it has to be a checkout of fairseq."
version=$(cat "$checkout/fairseq/version.txt" 2>/dev/null || true)
[[ $version == 0.12.2 ]] || stop "$checkout is fairseq ${version:-of an unknown version}, not 0.12.2."
python=$(cd "${VENV:-$project/.venv}" 2>/dev/null && pwd)/bin/python || stop "there is no environment; run scripts/setup.sh first."
[[ -x $python ]] || stop "there is no $python; run scripts/setup.sh first."

# In the checkout itself, the tests would import its fairseq, which is not compiled.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R "$checkout/tests" "$folder/tests"
ln -s "$checkout/examples" "$checkout/scripts" "$folder"
cd "$folder"

export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
failed=0
run() { "$python" -m pytest -p no:cacheprovider --quiet --no-header --disable-warnings --tb=line "$@" || failed=1; }
echo "TestTranslation:"
run tests/test_binaries.py -k TestTranslation
echo "The others:"
files=("${TESTS[@]/#/tests/}")
run "${files[@]/%/.py}"
exit "$failed"
