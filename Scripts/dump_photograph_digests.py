"""Dumps ParityFixtures/photographs.csv: SHA-256 of each original photograph as decoded and after colour constancy.

The photographs are no part of the repository; their digests show, wherever they lie, that the Swift pipeline gives what
Pillow and numpy give. The photographs are those in full600x450 of HAM10000's folder as the training has it.
"""

import argparse
import csv
import hashlib
from pathlib import Path

from dataset import ORIGINALS
from model_config import default_preprocessing
from preprocessing import preprocess


def digest(pixels):
    return hashlib.sha256(pixels.tobytes()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="HAM10000's folder")
    options = parser.parse_args()
    output = Path(__file__).resolve().parents[1] / "ParityFixtures" / "photographs.csv"
    with open(output, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["image_id", "decoded", "constancy"])
        for path in sorted((options.data / ORIGINALS).glob("*.jpg")):
            stages = preprocess(path, default_preprocessing())[0]
            writer.writerow([path.stem, digest(stages["decoded"]), digest(stages["constancy"])])


if __name__ == "__main__":
    main()
