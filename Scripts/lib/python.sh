# shellcheck shell=bash
# The environment of the training package. Source setup.sh first.

# make_environment FOLDER: a virtual environment with the package dermafusion_training, editable, and its pinned requirements.
# Made again when pyproject.toml has changed.
make_environment() {
  local folder=$1 scripts
  scripts=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
  # pyproject.toml is copied only after all of its requirements were installed.
  cmp -s "$scripts/pyproject.toml" "$folder/pyproject.toml" && return
  { python3.11 -m venv "$folder" && "$folder/bin/pip" install --quiet --editable "${scripts}[check]"; } >&2 \
    || cannot_run "what $scripts/pyproject.toml lists could not be installed; it needs Python 3.11"
  cp "$scripts/pyproject.toml" "$folder/pyproject.toml"
}
