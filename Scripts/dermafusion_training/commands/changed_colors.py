"""Tells what `dermafusion classify` makes of validation melanomas whose colours were changed.

Prints Markdown: for each change the share of melanomas that get "low" risk, and of those from which the model abstains.
The changes are made at the size of the network's input, before colour constancy.
"""

import csv
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from dermafusion_training.data.dataset import HAM10000, read_records, side_indices
from dermafusion_training.data.preprocessing import crop_to_square, decode, resize
from dermafusion_training.model.config import CLASSES, SITES
from dermafusion_training.options import new_parser
from dermafusion_training.paths import PROGRAM, WEIGHTS

SOURCES = (HAM10000, "isic2018val", "milk10k", "ph2")
SEPIA = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])  # as browsers define it


def grey(pixels):
    return (pixels @ [0.299, 0.587, 0.114])[..., None].repeat(3, axis=-1)


def blended(pixels, color, share):
    return (1 - share) * pixels + share * np.array(color)


# Changes of float64 [H, W, 3], 0...255.
CHANGES = {
    "in their own colours": lambda p: p,
    "grey": grey,
    "the red channel alone": lambda p: p[..., :1].repeat(3, axis=-1),
    "sepia": lambda p: p @ SEPIA.T,
    "grey times (1, 0.9, 0.75)": lambda p: grey(p) * [1, 0.9, 0.75],
    "grey with the photograph's mean colour": lambda p: grey(p) * (p.mean((0, 1)) / grey(p).mean()),
    "red and blue exchanged": lambda p: p[..., ::-1],
    "blended with blue (40 %)": lambda p: blended(p, (0, 0, 255), 0.4),
    "blended with green (40 %)": lambda p: blended(p, (0, 255, 0), 0.4),
    "times (0.4, 0.6, 1)": lambda p: p * [0.4, 0.6, 1],
    "times (0.5, 1, 0.5)": lambda p: p * [0.5, 1, 0.5],
    "a fifth of the saturation": lambda p: 0.2 * p + 0.8 * grey(p),
    "blended with white (70 %)": lambda p: blended(p, (255, 255, 255), 0.7),
}


def write_table(path, data, kept):
    """The patients of the photographs `kept`; sites that the program does not know stay out."""
    with open(data / "metadata.csv", newline="") as file, open(path, "w", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(["image_id", "age", "sex", "localization"])
        for row in csv.DictReader(file):
            if row["image_id"] in kept:
                site = row["localization"] if row["localization"] in SITES else ""
                writer.writerow([row["image_id"], row["age"], row["sex"], site])


def answers(folder, table, model):
    command = [PROGRAM, "classify", folder, "--model", model, "--metadata", table, "--format", "json", "--quiet"]
    found = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in found.splitlines()]


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--model", type=Path, default=WEIGHTS)
    parser.add_argument("--data", type=Path, required=True, help="folder of photographs, with metadata.csv")
    parser.add_argument("--split", type=Path, required=True, help="split.csv of the training run")
    parser.add_argument("--sources", nargs="+", default=SOURCES, help="of the melanomas (default: %(default)s)")
    options = parser.parse_args()
    size = json.loads((options.model / "config.json").read_text())["preprocessing"]["size"]
    records = read_records(options.data)
    shown = [records[i] for i in side_indices(records, options.split)]
    shown = [r for r in shown if r.source in options.sources and CLASSES[r.label] == "mel"]
    resized = [resize(crop_to_square(decode(r.path(options.data))), size).astype(np.float64) for r in shown]
    print(f"| {len(shown)} melanomas | low risk, not abstained | abstained |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        folder, table = Path(temporary) / "pictures", Path(temporary) / "patients.csv"
        folder.mkdir()
        write_table(table, options.data, {r.image_id for r in shown})
        for name, change in CHANGES.items():
            for record, pixels in zip(shown, resized):
                changed = change(pixels).round().clip(0, 255).astype(np.uint8)
                Image.fromarray(changed).save(folder / f"{record.image_id}.png", compress_level=1)
            results = answers(folder, table, options.model)
            low = np.mean([result["risk"] == "low" for result in results])
            abstained = np.mean([result["risk"] is None for result in results])
            print(f"| {name} | {100 * low:.1f} % | {100 * abstained:.1f} % |", flush=True)
