"""Joins the recipes and curves of the training runs that a model comes from, as its folder has them.

Writes into --output recipe.json, whose entries have a key `run`, curves.csv with a column `run`, both counted from 1,
and the runs' split.csv.
"""

import argparse
import csv
import json
import shutil
from pathlib import Path

from run_folder import write_curves


def joined_recipe(folders):
    entries = []
    for run, folder in enumerate(folders, 1):
        entries += [entry | {"run": run} for entry in json.loads((folder / "recipe.json").read_text())]
    return entries


def joined_curves(folders):
    epochs = []
    for run, folder in enumerate(folders, 1):
        with open(folder / "curves.csv", newline="") as file:
            epochs += [{"run": run, **epoch} for epoch in csv.DictReader(file)]
    return epochs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folders that train.py wrote, in order")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    splits = [(folder / "split.csv").read_bytes() for folder in options.runs]
    if any(split != splits[-1] for split in splits):
        parser.error("the runs' split.csv differ: a later run saw lesions that an earlier one kept aside")
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "recipe.json").write_text(json.dumps(joined_recipe(options.runs), indent=1) + "\n")
    write_curves(options.output / "curves.csv", joined_curves(options.runs))
    shutil.copyfile(options.runs[-1] / "split.csv", options.output / "split.csv")


if __name__ == "__main__":
    main()
