"""Writes a table of the validation photographs, for `dermafusion evaluate --labels`.

The rows of metadata.csv whose photographs are HAM10000's and on the validation side of a training run's split.csv, with
the columns that `evaluate` reads.
"""

import csv
from pathlib import Path

from dermafusion_training.data.dataset import HAM10000, side_names
from dermafusion_training.options import new_parser

COLUMNS = ("image_id", "lesion_id", "dx", "dx_type", "age", "sex", "localization")


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of photographs, with metadata.csv")
    parser.add_argument("--split", type=Path, required=True, help="split.csv of the training run")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    kept = side_names(options.split, "validation")
    with open(options.data / "metadata.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["image_id"] in kept]
    rows = [row for row in rows if row.get("source", HAM10000) == HAM10000]
    for row in rows:
        row.setdefault("dx_type", row.get("confirmed", ""))
    with open(options.output, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
