# shellcheck shell=bash
# Environments of Python. Source setup.sh first.
: "${root:?}"

# make_environment FOLDER: a virtual environment with the package dermafusion_training, editable, and its pinned requirements.
# Made again when pyproject.toml has changed.
make_environment() {
  local folder=$1 scripts=$root/Scripts
  # pyproject.toml is copied only after all of its requirements were installed.
  cmp -s "$scripts/pyproject.toml" "$folder/pyproject.toml" && return
  { python3.11 -m venv "$folder" && "$folder/bin/pip" install --quiet --editable "$scripts"; } >&2 \
    || cannot_run "what $scripts/pyproject.toml lists could not be installed; it needs Python 3.11"
  cp "$scripts/pyproject.toml" "$folder/pyproject.toml"
}

# make_tools NAME PACKAGE==VERSION...: installs programs of PyPI, once for each choice of versions, and sets `tools` to their
# folder.
make_tools() {
  local folder=$root/.build/tools/$1
  shift
  # shellcheck disable=SC2034  # the caller's
  tools=$folder/bin
  [ "$(cat "$folder/packages.txt" 2> /dev/null || true)" != "$*" ] || return 0
  rm -rf "$folder"
  find_python
  : "${python:?}"
  { "$python" -m venv "$folder" && "$folder/bin/pip" install --quiet "$@"; } > /dev/null 2>&1 \
    || cannot_run "$* could not be installed"
  echo "$*" > "$folder/packages.txt"
}

# install_wheel FOLDER WHEEL EXTRAS PACKAGE...: a virtual environment with the wheel, its extras and packages. One that has the
# packages already gets the wheel alone.
install_wheel() {
  local folder=$1 wheel=$2 wanted
  wanted="$(python3 --version) ${*:3}"
  if [ "$(cat "$folder/packages.txt" 2> /dev/null || true)" != "$wanted" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --no-compile "${wheel}[$3]" "${@:4}" >&2 || cannot_run "${*:3} could not be installed"
    printf '%s\n' "$wanted" > "$folder/packages.txt"
  else
    "$folder/bin/pip" install --quiet --no-compile --force-reinstall --no-deps "$wheel" >&2
  fi
}
