# shellcheck shell=bash
# What the scripts share that need Python. Source setup.sh first.

# make_environment FOLDER: a virtual environment with the package dermafusion_training, editable, and its pinned requirements.
# It is made anew when pyproject.toml has changed.
make_environment() {
  local folder=$1 scripts
  scripts=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
  # The copy of pyproject.toml is there only when all of its requirements were installed.
  cmp -s "$scripts/pyproject.toml" "$folder/pyproject.toml" && return
  { python3.11 -m venv "$folder" && "$folder/bin/pip" install --quiet --editable "${scripts}[check]"; } >&2 \
    || cannot_run "what $scripts/pyproject.toml lists could not be installed; it needs Python 3.11"
  cp "$scripts/pyproject.toml" "$folder/pyproject.toml"
}
