#!/usr/bin/env bash
# Makes a virtual environment with everything this project needs.
#
#   bash scripts/setup.sh [--demo] [--lesson] [--tests]
#
#   --demo              also what the page of recurrent-mt demo needs (requirements-demo.txt)
#   --lesson            also what runs docs/lesson.ipynb, Jupyter included (requirements-lesson.txt)
#   --tests             also what the tests and `make check` need (requirements-tests.txt)
#   PYTHON=python3.13   the interpreter (default: the first usable of python3.11, 3.12, 3.13, 3.14)
#   VENV=/some/folder   the environment (default: .venv in the project)
# Safe to call again at any time: if everything is in place, it returns at once; what an interrupted call left behind is
# rebuilt.
set -euo pipefail

# Installed without what its metadata asks for: versions of hydra and omegaconf that current versions of pip and Python
# refuse. requirements.txt has what it needs.
readonly FAIRSEQ=fairseq==0.12.2

say() { printf 'setup: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }

# Prints an identification of a suitable interpreter; otherwise, prints one line that says why not, and fails. The probe
# has to run on any Python, so that an old one gets its message, too.
probe() {
    local output
    output=$("$1" - 2>&1 <<'PYTHON'
import sys
version = "Python %d.%d" % sys.version_info[:2]
if sys.version_info < (3, 11):
    sys.exit(version + " is too old: this project needs 3.11 or newer")
if sys.version_info >= (3, 15):
    sys.exit(version + " is too new: there is no torch 2.13 for it")
import os
try:
    import ensurepip, venv
except ImportError:
    sys.exit(version + " has no venv module (on Debian and Ubuntu: the package python3-venv)")
print("%s %s" % (os.path.realpath(sys.base_prefix), sys.version.split()[0]))
PYTHON
    ) || {
        # A traceback says it in its last line, a shell or a version manager in its first.
        [[ $output != Traceback* ]] || output=${output##*$'\n'}
        output=${output%%$'\n'*}
        printf '%s\n' "${output%.}"
        return 1
    }
    printf '%s\n' "$output"
}

# Sets `python` and `interpreter`, or stops with one sentence.
choose_python() {
    local name candidate refused=""
    if [[ -n ${PYTHON:-} ]]; then
        command -v -- "$PYTHON" >/dev/null || stop "PYTHON=$PYTHON cannot work: there is no such program."
        interpreter=$(probe "$PYTHON") || stop "PYTHON=$PYTHON cannot work: ${interpreter:-it does not run}."
        python=$PYTHON
        return
    fi
    for name in python3.11 python3.12 python3.13 python3.14 python3 python; do
        while IFS= read -r candidate; do
            if interpreter=$(probe "$candidate"); then
                python=$candidate
                return
            fi
            refused+="; $candidate: $interpreter"
        done < <(type -aP "$name")
    done
    stop "no usable Python (3.11 to 3.14 with its venv module) found${refused}; set PYTHON=/path/to/python."
}

# What the installed packages depend on, and what the installation of this project depends on. Its
# modules need no new installation: they are used where they lie.
requirements_checksum() { cksum <"$project/requirements.txt"; }
project_checksum() {
    {
        cat "$project"/{,fairseq_compat/}setup.py "$project"/{,pretrained/*/}pyproject.toml \
            "$project"/recurrent_mt/kernels/native/{*.cpp,*.h,build.py} 2>/dev/null || true
        ls -d "$project"/{user_dir,recurrent_mt} 2>/dev/null || true
    } | cksum
}

# True if the stamp says that the environment was made completely, here, by the interpreter asked for.
# Sets `recorded_interpreter`, `recorded_requirements`, `recorded_project`.
is_complete() {
    local recorded_place
    [[ -s $stamp ]] || return 1
    {
        read -r recorded_place && read -r recorded_interpreter && read -r recorded_requirements &&
            read -r recorded_project
    } <"$stamp" || return 1
    [[ $recorded_place == "$place" ]] || return 1
    [[ -z ${PYTHON:-} || $interpreter == "$recorded_interpreter" ]] || return 1
    [[ -x $venv/bin/fairseq-train ]] && "$venv/bin/python" -c '' 2>/dev/null
}

has_requirements() { [[ $recorded_requirements == "$(requirements_checksum)" ]]; }
has_project() { [[ $recorded_project == "$(project_checksum)" ]]; }
is_ready() { is_complete && has_requirements && has_project; }

# Waits for another call in this project, where the machine has flock.
lock() {
    command -v flock >/dev/null || return 0
    exec 9<"$project"
    flock --nonblock 9 || { say "waiting for another call of this script"; flock 9; }
}

# From here until `finish` the environment counts as half made.
distrust() { printf '%s\n' "$place" >"$unfinished" && rm -f "$stamp"; }

# Stops unless the folder is empty, or was made here, completely or not: another clone would lose its environment.
refuse_what_is_not_ours() {
    local file made_for
    [[ -n $(ls -A "$venv" 2>/dev/null) ]] || return 0
    for file in "$stamp" "$unfinished"; do
        if [[ -s $file ]] && IFS= read -r made_for <"$file" && [[ $made_for == "$place" ]]; then
            return
        fi
    done
    stop "$venv was not made by this script for this folder; remove it, or choose another folder with VENV=."
}

# Empties the folder, but for the marker that says it is ours to empty, and makes the environment.
make_environment() {
    [[ -n ${PYTHON:-} ]] || choose_python
    say "making $venv with Python $interpreter"
    distrust
    find "$venv" -mindepth 1 ! -path "$unfinished" -delete
    "$python" -m venv "$venv" || stop "$python could not make the environment $venv (see above)."
}

# fairseq is compiled first: where that fails, it should not be after the download of torch.
install_requirements() {
    say "installing requirements.txt: fairseq is compiled and torch is a large download; 2 to 15 minutes"
    "$venv/bin/python" -m pip wheel --no-deps --wheel-dir "$venv/wheels" "$FAIRSEQ" ||
        stop "pip could not compile $FAIRSEQ (see above), which takes a C++ compiler and Python's header files" \
            "(on Debian and Ubuntu: the packages build-essential and python3-dev)."
    "$venv/bin/python" -m pip install -r "$project/requirements.txt" ||
        stop "pip could not install requirements.txt (see above); a new call starts again from what was downloaded."
    "$venv/bin/python" -m pip install --no-deps "$venv"/wheels/fairseq-*.whl ||
        stop "pip could not install $FAIRSEQ (see above)."
}

# Installs this project, fairseq_compat, and the models in a box, editable. What an earlier installation left, complete or
# not, goes first.
install_project() {
    local import_error box packages=(-e "$project/fairseq_compat" -e "$project")
    say "installing this project, editable"
    for box in "$project"/pretrained/*/; do
        [[ ! -f $box/pyproject.toml ]] || packages+=(-e "${box%/}")
    done
    rm -rf "$venv"/lib/python3.*/site-packages/{,__editable__.}{fairseq_{recurrent_mt-,compat-,compat.pth},recurrent_mt_}*
    "$venv/bin/python" -m pip install --quiet --no-deps "${packages[@]}" ||
        stop "pip could not install $project (see above)."
    say "compiling the kernels, which takes minutes"
    # Without a compiler it says so, and all works.
    (cd / && "$venv/bin/python" -m recurrent_mt build-kernels) >/dev/null || say "the native kernels are not built."
    import_error=$(cd / && "$venv/bin/python" -c 'import fairseq' 2>&1) ||
        stop "fairseq is installed but cannot be imported: ${import_error##*$'\n'}."
}

# What is not for everyone: the page of recurrent-mt demo and the lesson need dozens of packages more.
install_extra() {
    say "installing requirements-$1.txt"
    "$venv/bin/python" -m pip install --quiet -r "$project/requirements-$1.txt" ||
        stop "pip could not install requirements-$1.txt (see above)."
}

# Records that everything is in place. Written last, so that it tells the truth.
finish() {
    printf '%s\n' "$place" "$interpreter" "$requirements" "$contents" >"$stamp.partial"
    mv "$stamp.partial" "$stamp"
    rm -f "$unfinished"
}

# The comment at the top. As in environment.sh, which this script, to be of use by itself, does not read.
print_usage() { awk '/^#!/ { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }

main() {
    local argument
    for argument; do
        case $argument in
            --demo | --lesson | --tests) ;;
            -h | --help) print_usage && exit ;;
            *) stop "takes no argument but --demo, --lesson, and --tests, so not $argument; see --help." ;;
        esac
    done
    # With it, cd may print a folder, or go to another than the one that is meant.
    unset CDPATH
    # The same folder under another spelling is the same place: ./.venv is no reason to start anew.
    project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
    venv=${VENV:-$project/.venv}
    [[ $venv == /* ]] || venv=$PWD/$venv
    mkdir -p "$venv" || stop "cannot make the folder $venv."
    venv=$(cd "$venv" && pwd -P)
    readonly project venv stamp=$venv/.setup-complete unfinished=$venv/.setup-unfinished
    readonly place="$project $venv"
    unset PYTHONHOME PYTHONPATH
    export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1

    refuse_what_is_not_ours
    [[ -z ${PYTHON:-} ]] || choose_python
    is_ready || lock
    if ! is_ready; then
        # Taken now: an edit during the installation is for the next call to find.
        requirements=$(requirements_checksum) contents=$(project_checksum)
        if is_complete; then
            interpreter=$recorded_interpreter
            has_requirements || { distrust && install_requirements; }
        else
            make_environment
            install_requirements
        fi
        install_project
        finish
    fi
    for argument; do install_extra "${argument#--}"; done
    say "$venv is ready"
}

main "$@"
