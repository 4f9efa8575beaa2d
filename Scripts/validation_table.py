"""Writes a table of the validation photographs, for `dermafusion evaluate --labels`.

The rows of HAM10000's metadata.csv whose photographs are on the validation side of a training run's split.csv, with the
columns that `evaluate` reads.
"""

import csv
from pathlib import Path

from dermafusion.data.dataset import side_names
from dermafusion.options import new_parser

COLUMNS = ("image_id", "lesion_id", "dx", "dx_type", "age", "sex", "localization")


def main():
    parser = new_parser(__doc__)
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
