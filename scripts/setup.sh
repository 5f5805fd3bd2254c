#!/usr/bin/env bash
# Makes a virtual environment with everything this project needs.
#
#   bash scripts/setup.sh [--demo] [--lesson] [--tests]
#
#   --demo              also what the page of recurrent-mt demo needs (requirements-demo.txt)
#   --lesson            also what runs docs/lesson.ipynb, Jupyter included (requirements-lesson.txt)
#   --tests             also what the tests and `make check` need (requirements-tests.txt)
#   PYTHON=python3.13   the interpreter of a new environment (default: the first usable of python3.11, 3.12, 3.13, 3.14)
#   VENV=/some/folder   the environment (default: .venv in the project)
# Safe to call again at any time: if everything is in place, it returns at once; what an interrupted call left behind is
# rebuilt.
set -euo pipefail

# Installed without what its metadata asks for: versions of hydra and omegaconf that current versions of pip and Python
# refuse. requirements.txt has what it needs.
readonly FAIRSEQ=fairseq==0.12.2

say() { printf 'setup: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }

# Sets `python`, or stops with one sentence.
choose_python() {
    local usable='import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 15))'
    for python in ${PYTHON:-python3.11 python3.12 python3.13 python3.14 python3 python}; do
        if "$python" -c "$usable" >/dev/null 2>&1; then return; fi
    done
    stop "no usable Python (3.11 to 3.14 with its venv module) found; set PYTHON=/path/to/python" \
        "(on Debian and Ubuntu, the module is in the package python3-venv)."
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

# Sets `made_for`, `made_with`, and `made_of` to what the stamp says: for which folder the environment was made, with
# which requirements and which project. The last two are empty where it is half made.
read_stamp() {
    made_for="" made_with="" made_of=""
    [[ ! -s $stamp ]] || { read -r made_for && read -r made_with && read -r made_of; } <"$stamp" || true
}

# Empties the folder, but for the stamp, which says that it is ours to empty, and makes the environment.
make_environment() {
    choose_python
    say "making $venv with $python"
    find "$venv" -mindepth 1 ! -path "$stamp" -delete
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
    local import_error box name packages=(-e "$project/fairseq_compat" -e "$project")
    local names=(fairseq_recurrent_mt fairseq_compat)
    say "installing this project, editable"
    for box in "$project"/pretrained/*/; do
        [[ -f $box/pyproject.toml ]] || continue
        packages+=(-e "${box%/}")
        name=$(basename "$box")
        names+=("recurrent_mt_${name//-/_}")
    done
    # Boxes of other names are not ours.
    for name in "${names[@]}"; do
        rm -rf "$venv"/lib/python3.*/site-packages/{,__editable__.}"$name"{,.pth,-*}
    done
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

# The comment at the top. As in environment.sh, which this script, to be of use by itself, does not read.
print_usage() { awk '/^#!/ { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }

main() {
    local argument requirements contents made_for made_with made_of
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
    mkdir -p "${VENV:=$project/.venv}"
    venv=$(cd "$VENV" && pwd -P)
    readonly project venv stamp=$venv/.setup-complete place="$project $venv"
    unset PYTHONHOME PYTHONPATH
    export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1

    # One call at a time, where the machine has flock.
    if command -v flock >/dev/null; then exec 9<"$project" && flock 9; fi
    read_stamp
    [[ -z $(ls -A "$venv") || $made_for == "$place" ]] ||
        stop "$venv was not made by this script for this folder; remove it, or choose another folder with VENV=."
    # As after an upgrade of the system's Python.
    "$venv/bin/python" -c '' 2>/dev/null || made_with="" made_of=""
    requirements=$(requirements_checksum) contents=$(project_checksum)
    if [[ $made_with != "$requirements" || $made_of != "$contents" ]]; then
        # From here to the end, the environment counts as half made.
        printf '%s\n' "$place" >"$stamp"
        if [[ -z $made_of ]]; then make_environment; fi
        if [[ $made_with != "$requirements" ]]; then install_requirements; fi
        install_project
        printf '%s\n' "$place" "$requirements" "$contents" >"$stamp"
    fi
    for argument; do install_extra "${argument#--}"; done
    say "$venv is ready"
}

main "$@"
