"""Holds `dermafusion gradcam` against PyTorch on one model folder and one picture.

By autograd: every method and class at the end of every stage and at the last map, the signed maps, relative to the
largest magnitude of each. Prints the greatest difference from float64, and that of PyTorch's own float32 beside it:
where ReLU6 has an argument on a kink, or GradCAM++ comes near a pole, no float32 is nearer. Exit status 1 if a map
departs by more than 1e-4 and by more than ten times as much as PyTorch's own.

With --package: the maps that `--raw` writes, 0...1 at the network's size, against those of the PyPI package `grad-cam`
run in float64, the package's own float32 beside it; the tolerance is 1e-3. It needs grad-cam, ttach and
opencv-python-headless beside requirements.txt.
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
from model_folder import load_folder
from formula_networks import package_map
from metadata import encode_metadata
from model_config import CLASSES
from network_fixtures import network_input

TOLERANCE = 1e-4
PACKAGE_TOLERANCE = 1e-3
# The package's EigenCAM makes a square matrix of this side.
GREATEST_PIXEL_COUNT = 4096


def engine_maps(arguments, layer, method, signed=True):
    """[classes, h, w], as the program writes them."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "map.npy"
        command = [arguments.program, "gradcam", str(arguments.picture), "--model", str(arguments.model)]
        command += ["--layer", layer, "--method", method, "--class", "all"]
        command += ["--raw", str(raw), "--output", str(Path(folder) / "map.png")]
        command += ["--signed"] if signed else []
        for name in ("age", "sex", "site"):
            value = getattr(arguments, name)
            command += [f"--{name}", str(value)] if value is not None else []
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return np.load(raw)


def relative(values, expected):
    return float(np.abs(values - expected).max() / np.abs(expected).max())


def autograd_differences(arguments, single, double, image):
    """For each layer and method the greatest difference of this engine's maps, and of PyTorch's in float32."""
    exact = raw_maps(double, image.double(), arguments.layers, keeps_plus_plus=lambda *_: True)
    float32 = raw_maps(single, image, arguments.layers, keeps_plus_plus=lambda *_: True)
    for layer in arguments.layers or single.layers():
        for method in METHODS:
            found = engine_maps(arguments, layer, method)
            keys = [(layer, method, label if method != "eigencam" else "any") for label in CLASSES]
            own = max(relative(values, exact[key]) for values, key in zip(found, keys))
            yield layer, method, own, max(relative(float32[key], exact[key]) for key in keys)


def package_differences(arguments, single, double, image):
    """The same for the package's maps, which are 0...1."""

    def maps(explained, image, layer, method):
        pixel_counts = []
        handle = explained.layers()[layer].register_forward_hook(lambda m, i, o: pixel_counts.append(o[0, 0].numel()))
        with torch.no_grad():
            explained(image)
        handle.remove()
        if method == "eigencam" and pixel_counts[0] > GREATEST_PIXEL_COUNT:
            return None
        return [package_map(explained, image, explained.layers()[layer], method, i)[0] for i in range(len(CLASSES))]

    for layer in arguments.layers or single.layers():
        for method in METHODS:
            exact = maps(double, image.double(), layer, method)
            if exact is None:
                continue
            float32 = maps(single, image, layer, method)
            found = engine_maps(arguments, layer, method, signed=False)
            own = max(float(np.abs(a - b).max()) for a, b in zip(found, exact))
            yield layer, method, own, max(float(np.abs(a - b).max()) for a, b in zip(float32, exact))


def main():
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=root / "Weights")
    parser.add_argument("--picture", type=Path, default=root / "ParityFixtures" / "images" / "phantom_melanoma.jpg")
    parser.add_argument("--program", default=str(root / ".build" / "release" / "dermafusion"))
    parser.add_argument("--package", action="store_true", help="compare with the PyPI package grad-cam")
    parser.add_argument("--layers", nargs="+", help="stage0 ... stage6 or conv_head; when left out, all")
    parser.add_argument("--age", type=float)
    parser.add_argument("--sex")
    parser.add_argument("--site")
    arguments = parser.parse_args()

    config, model = load_folder(arguments.model)
    image = network_input(config, arguments.picture)
    vector = encode_metadata(arguments.age, arguments.sex, arguments.site)[0]
    single = Explained(model, vector).eval()
    double = Explained(copy.deepcopy(model).double(), vector).eval()

    differences, tolerance = autograd_differences, TOLERANCE
    if arguments.package:
        differences, tolerance = package_differences, PACKAGE_TOLERANCE
    departs = False
    print(f"{'layer':10}{'method':12}{'this engine':>12}{'PyTorch float32':>17}")
    for layer, method, own, peer in differences(arguments, single, double, image):
        departs |= own > max(tolerance, 10 * peer)
        print(f"{layer:10}{method:12}{own:12.1e}{peer:17.1e}", flush=True)
    sys.exit(departs)


if __name__ == "__main__":
    main()
