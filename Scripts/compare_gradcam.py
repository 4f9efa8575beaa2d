"""Holds `dermafusion gradcam` against PyTorch's autograd on one model folder and one picture.

Every method and class at the end of every stage and at the last map, the signed maps, relative to the largest magnitude
of each. Prints the greatest difference from float64, and that of PyTorch's own float32 beside it: where ReLU6 has an
argument on a kink, or GradCAM++ comes near a pole, no float32 is nearer. Exit status 1 if a map departs by more than
1e-4 and by more than ten times as much as PyTorch's own.
"""

import argparse
import copy
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

from activation_maps import METHODS, Explained, raw_maps
from export_model import load_folder
from metadata import encode_metadata
from model_config import CLASSES
from preprocessing import preprocess

TOLERANCE = 1e-4


def engine_maps(arguments, layer, method):
    """[classes, h, w], as the program writes them."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "map.npy"
        command = [arguments.program, "gradcam", str(arguments.picture), "--model", str(arguments.model), "--layer", layer,
                   "--method", method, "--class", "all", "--signed", "--raw", str(raw), "--output",
                   str(Path(folder) / "map.png")]  # fmt: skip
        for name in ("age", "sex", "site"):
            value = getattr(arguments, name)
            command += [f"--{name}", str(value)] if value is not None else []
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return np.load(raw)


def relative(values, expected):
    return float(np.abs(values - expected).max() / np.abs(expected).max())


def main():
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=root / "Weights")
    parser.add_argument("--picture", type=Path, default=root / "ParityFixtures" / "images" / "phantom_melanoma.jpg")
    parser.add_argument("--program", default=str(root / ".build" / "release" / "dermafusion"))
    parser.add_argument("--age", type=float)
    parser.add_argument("--sex")
    parser.add_argument("--site")
    arguments = parser.parse_args()

    config, model = load_folder(arguments.model)
    stages, _ = preprocess(arguments.picture, config["preprocessing"])
    image = torch.from_numpy(np.ascontiguousarray(stages["normalized"], np.float32))[None]
    vector = encode_metadata(arguments.age, arguments.sex, arguments.site)[0]
    single = Explained(model, vector).eval()
    double = Explained(copy.deepcopy(model).double(), vector).eval()
    exact = raw_maps(double, image.double(), keeps_plus_plus=lambda *_: True)
    float32 = raw_maps(single, image, keeps_plus_plus=lambda *_: True)

    departs = False
    print(f"{'layer':10}{'method':12}{'this engine':>12}{'PyTorch float32':>17}")
    for layer in single.layers():
        for method in METHODS:
            found = engine_maps(arguments, layer, method)
            keys = [(layer, method, label if method != "eigencam" else "any") for label in CLASSES]
            own = max(relative(values, exact[key]) for values, key in zip(found, keys))
            peer = max(relative(float32[key], exact[key]) for key in keys)
            departs |= own > max(TOLERANCE, 10 * peer)
            print(f"{layer:10}{method:12}{own:12.1e}{peer:17.1e}")
    sys.exit(departs)


if __name__ == "__main__":
    main()
