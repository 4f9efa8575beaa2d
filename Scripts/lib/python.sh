# shellcheck shell=bash
# What the scripts share that need Python.

# make_environment FOLDER PACKAGE...: a virtual environment with Scripts/requirements.txt and PACKAGEs, made anew when
# the requirements have changed.
make_environment() {
  local folder=$1 requirements
  requirements=$(dirname "${BASH_SOURCE[0]}")/../requirements.txt
  # The copy of the requirements is there only when all of them were installed.
  cmp -s "$requirements" "$folder/requirements.txt" && return
  python3.11 -m venv "$folder"
  "$folder/bin/pip" install -r "$requirements" "${@:2}"
  cp "$requirements" "$folder/requirements.txt"
}
