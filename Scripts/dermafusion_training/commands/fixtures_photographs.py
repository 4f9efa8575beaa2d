"""Dumps ParityFixtures/photographs.csv: SHA-256 of each original photograph as decoded and after colour constancy.

The photographs are no part of the repository; their digests show, wherever they lie, that the Swift pipeline gives what
Pillow and numpy give. The photographs are those in full600x450 of HAM10000's folder as the training has it.
"""

import csv
import hashlib
from pathlib import Path

from dermafusion_training.data.dataset import ORIGINALS
from dermafusion_training.data.preprocessing import preprocess
from dermafusion_training.model.config import default_preprocessing
from dermafusion_training.options import new_parser
from dermafusion_training.paths import FIXTURES


def digest(pixels):
    return hashlib.sha256(pixels.tobytes()).hexdigest()


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="HAM10000's folder")
    options = parser.parse_args()
    output = FIXTURES / "photographs.csv"
    with open(output, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["image_id", "decoded", "constancy"])
        for path in sorted((options.data / ORIGINALS).glob("*.jpg")):
            stages = preprocess(path, default_preprocessing())[0]
            writer.writerow([path.stem, digest(stages["decoded"]), digest(stages["constancy"])])
