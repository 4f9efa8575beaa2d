"""Dumps activation maps by autograd and by the PyPI package `grad-cam`, for the Swift engine to be held against.

Without --model, for the networks of formula_networks.py. With --model, for a model folder's real weights and a picture
of ParityFixtures/images, by autograd alone. See ParityFixtures/gradcam/README.md.
"""

import argparse
import copy as copy_module
import json
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

from activation_maps import Explained, is_well_conditioned, raw_maps
from model_folder import load_folder, model_identity
from formula_networks import dump_formula_networks
from metadata import encode_metadata
from network_fixtures import network_input

# Of the real weights' maps, against float64 and relative to the largest magnitude: float32 runs of PyTorch that measure
# the error; the tolerance that is never undercut; and the error from which on a map says nothing.
TRIALS = 4
LEAST_TOLERANCE = 1e-4
GREATEST_ERROR = 0.02
# Sides of a smaller input, tried in turn until no argument lies so near a kink that float32 could move it past.
SMALL_SIDES = range(128, 44, -1)
METADATA = {"given": (55, "male", "back"), "missing": (None, None, None)}


def save(path, tensors):
    arrays = {
        name: np.ascontiguousarray(values, np.float16 if name.endswith("/normalized") else np.float32)
        for name, values in tensors.items()
    }
    save_file(arrays, str(path))
    print(f"{path}: {len(arrays)} tensors, {path.stat().st_size} bytes")


def moved(model, image, trial, scale=2**-22):
    """The model's parameters and the image, changed by about what a float32 computation rounds away; trial 0: not."""
    generator = torch.Generator().manual_seed(trial)

    def move(values):
        noise = torch.rand(values.shape, generator=generator, dtype=values.dtype) * 2 - 1
        return values * (1 + noise * (scale if trial else 0))

    copy = copy_module.deepcopy(model)
    copy.load_state_dict({k: move(v) if v.is_floating_point() else v for k, v in model.state_dict().items()})
    return copy.eval(), move(image)


def maps_with_errors(model, image, fields, layers=None, keeps_plus_plus=lambda plus_plus, a, g: True):
    """The maps in float64, and the greatest error that float32 brings into PyTorch's own, of the largest magnitude."""
    vector = encode_metadata(*fields)[0]

    def maps(model, image):
        return raw_maps(Explained(model, vector).eval(), image, layers, keeps_plus_plus)

    exact = maps(copy_module.deepcopy(model).double(), image.double())
    errors = dict.fromkeys(exact, 0.0)
    for trial in range(TRIALS):
        for key, values in maps(*moved(model, image, trial)).items():
            if key in exact:
                error = float(np.abs(values - exact[key]).max() / np.abs(exact[key]).max())
                errors[key] = max(errors[key], error)
    return exact, errors


def samples(values):
    """The largest magnitude, then about a hundred values in C order; of a small map, every one."""
    return np.concatenate([[np.abs(values).max()], values.ravel()[:: max(values.size // 100, 1) | 1]])


def dump_whole(config, model, picture):
    """At the model's own size, each map with the error that float32 brings into PyTorch's map of these very weights.

    At the kinks of ReLU6 the derivative jumps, so an argument that rounds to the other side changes the gradient below
    it: how much depends on weights and image, and no tolerance fixed beforehand would be fair to the next model.
    """
    image = network_input(config, picture)
    cases = METADATA if config["fusion"] else {"missing": METADATA["missing"]}
    tensors, greatest, left_out = {}, {}, []
    for case, fields in cases.items():
        # Metadata reaches the earlier layers through the same head: two layers tell.
        exact, errors = maps_with_errors(model, image, fields, None if case == "missing" else ("stage2", "conv_head"))
        for key, values in exact.items():
            name = "/".join((case, *key))
            if not errors[key] <= GREATEST_ERROR:
                left_out.append(name)
                continue
            tensors[name] = samples(values)
            # Whether one argument rounds past a kink is chance: classes and cases measure it together.
            group = "/".join(key[:2])
            greatest[group] = max(greatest.get(group, 0.0), errors[key])
    tolerances = {group: float(f"{3 * e:.2g}") for group, e in greatest.items() if 3 * e > LEAST_TOLERANCE}
    shown = {case: list(fields) for case, fields in cases.items()}
    return tensors, {"cases": shown, "leftOut": sorted(left_out), "tolerances": tolerances}


def slopes(model, image):
    """Where each ReLU6 of the features has the slope 1."""
    found = []
    handles = [
        m.register_forward_pre_hook(lambda module, inputs: found.append((inputs[0] > 0) & (inputs[0] < 6)))
        for m in model.modules()
        if isinstance(m, torch.nn.ReLU6)
    ]
    with torch.no_grad():
        model.features(image)
    for handle in handles:
        handle.remove()
    return found


def keeps_clear_of_kinks(model, image):
    """Whether no rounding of float32, nor twice as much, moves an argument past a kink."""
    exact = slopes(copy_module.deepcopy(model).double(), image.double())
    return all(
        torch.equal(a, b)
        for trial in range(2 * TRIALS)
        for a, b in zip(exact, slopes(*moved(model, image, trial, scale=2**-21)))
    )


def dump_small(config, model, picture):
    """At the greatest smaller side at which no argument rounds past a kink: there every stage is held to 1e-4."""
    for side in SMALL_SIDES:
        image = network_input(config, picture, side)
        if keeps_clear_of_kinks(model, image):
            exact, errors = maps_with_errors(model, image, METADATA["given"], None, is_well_conditioned)
            kept = [key for key in exact if errors[key] < LEAST_TOLERANCE / 3]
            return {"/".join(("small", *key)): samples(exact[key]) for key in kept}, side
    raise RuntimeError(f"no side among {list(SMALL_SIDES)} keeps clear of the kinks")


def dump_model(folder, picture, output):
    config, model = load_folder(folder)
    tensors, about = dump_whole(config, model, picture)
    small, side = dump_small(config, model, picture)
    save(output / "model.safetensors", {**tensors, **small})
    manifest = {"model": model_identity(folder), "picture": picture.name, "smallSide": side, **about}
    (output / "model.json").write_text(json.dumps(manifest, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--output", type=Path, default=root / "ParityFixtures" / "gradcam")
    parser.add_argument("--model", type=Path, help="a model folder, whose maps are dumped instead of the formula's")
    parser.add_argument("--picture", type=Path, default=root / "ParityFixtures" / "images" / "phantom_melanoma.jpg")
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    arguments.output.mkdir(parents=True, exist_ok=True)
    if arguments.model:
        dump_model(arguments.model, arguments.picture, arguments.output)
    else:
        dump_formula_networks(arguments.output, METADATA, save)


if __name__ == "__main__":
    main()
