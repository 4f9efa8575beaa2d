"""Holds `dermafusion gradcam` against PyTorch on one model folder and one picture.

Each function gives (layer, method, greatest difference of the engine's maps from float64, PyTorch's own in float32).
"""

import copy
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch

from dermafusion_training.data.metadata import encode_metadata
from dermafusion_training.fixtures.activation_maps import METHODS, Explained, raw_maps
from dermafusion_training.fixtures.formula_networks import package_map
from dermafusion_training.fixtures.network import network_input
from dermafusion_training.model.config import class_ids
from dermafusion_training.model.folder import load_folder

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
            keys = [(layer, method, label if method != "eigencam" else "any") for label in single.classes]
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
        return [
            package_map(explained, image, explained.layers()[layer], method, i)[0] for i in range(len(single.classes))
        ]

    for layer in arguments.layers or single.layers():
        for method in METHODS:
            exact = maps(double, image.double(), layer, method)
            if exact is None:
                continue
            float32 = maps(single, image, layer, method)
            found = engine_maps(arguments, layer, method, signed=False)
            own = max(float(np.abs(a - b).max()) for a, b in zip(found, exact))
            yield layer, method, own, max(float(np.abs(a - b).max()) for a, b in zip(float32, exact))


def gradcam_differences(arguments):
    """Yields (layer, method, own difference, PyTorch's own in float32) as the options of compare maps ask."""
    config, model = load_folder(arguments.model)
    image = network_input(config, arguments.picture)
    vector = encode_metadata(arguments.age, arguments.sex, arguments.site)[0]
    single = Explained(model, vector, class_ids(config["classes"])).eval()
    double = Explained(copy.deepcopy(model).double(), vector, single.classes).eval()
    differences = package_differences if arguments.package else autograd_differences
    yield from differences(arguments, single, double, image)
