"""Writes a table of the validation photographs, for `dermafusion evaluate --labels`.

The rows of HAM10000's metadata.csv whose photographs are on the validation side of a training run's split.csv, with the
columns that `evaluate` reads.
"""

import argparse
import csv
from pathlib import Path

from dataset import side_names

COLUMNS = ("image_id", "lesion_id", "dx", "dx_type", "age", "sex", "localization")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="HAM10000's folder, with metadata.csv")
    parser.add_argument("--split", type=Path, required=True, help="split.csv of the training run")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    kept = side_names(options.split, "validation")
    with open(options.data / "metadata.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["image_id"] in kept]
    with open(options.output, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
