"""Dumps activation maps by autograd and by the PyPI package `grad-cam`, for the Swift engine to be held against.

Without --model, for small inputs and networks whose weights follow a formula that Swift can compute too, so that no
weights need to be stored; that needs grad-cam, ttach, matplotlib and opencv-python-headless beside requirements.txt.
With --model, for a model folder's real weights and a picture of ParityFixtures/images, by autograd alone. See
ParityFixtures/gradcam/README.md.
"""

import argparse
import copy as copy_module
import json
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

from export_model import load_folder, model_identity
from metadata import encode_metadata
from model import build_config, build_model
from model_config import CLASSES
from preprocessing import preprocess

METHODS = ["gradcam", "hirescam", "gradcam++", "layercam", "eigencam"]
NETWORKS = [("efficientnet_b0", 76, False), ("efficientnet_lite0", 76, True)]
# Of the real weights' maps, against float64 and relative to the largest magnitude: float32 runs of PyTorch that measure
# the error; the tolerance that is never undercut; and the error from which on a map says nothing.
TRIALS = 4
LEAST_TOLERANCE = 1e-4
GREATEST_ERROR = 0.05
METADATA = {"given": (55, "male", "back"), "missing": (None, None, None)}


def uniform(name, shape):
    """Values in -1...1 of SplitMix64, its seed the FNV-1a hash of the name: the same in Swift."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    count = int(np.prod(shape))
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(40)).astype(np.float32) * np.float32(2**-23) - np.float32(1)).reshape(shape)


def formula(name, shape):
    """A tensor of a formula network: scaled so that activations neither fade nor grow, whatever the depth."""
    values = uniform(name, shape)
    if name.endswith(".running_var"):
        return np.float32(1) + values * np.float32(0.5)
    if name.endswith(".running_mean"):
        return values * np.float32(0.1)
    if name.endswith(".bias"):
        return values * np.float32(0.2)
    if len(shape) == 1:
        return np.float32(1) + values * np.float32(0.2)
    if "embedding" in name:
        return values
    return values * np.float32(np.sqrt(6 / np.prod(shape[1:])))


class Explained(torch.nn.Module):
    """A model with its metadata held fixed and a module whose output is the last feature map."""

    def __init__(self, model, vector):
        super().__init__()
        self.model = model
        self.metadata = torch.from_numpy(np.asarray(vector, np.float32))[None]
        self.last = torch.nn.Identity()

    def forward(self, image):
        pooled = self.last(self.model.features(image)).mean((2, 3))
        if self.model.has_fusion:
            return self.model.fusion(pooled, self.metadata.to(pooled.dtype))
        return self.model.classifier(pooled)

    def layers(self):
        stages = {f"stage{index}": stage for index, stage in enumerate(self.model.blocks)}
        return {**stages, "conv_head": self.last}


def first_component(a):
    """The package's projection with corrected sign, without the square matrices that its SVD makes of large maps."""
    rows = a.reshape(a.shape[0], -1).T
    rows = rows - rows.mean(0)
    projection = (rows @ np.linalg.svd(rows, full_matrices=False)[2][0]).reshape(a.shape[1:])
    return -projection if abs(projection.min()) > abs(projection.max()) else projection


def gradcam_plus_plus(a, g):
    alpha = g**2 / (2 * g**2 + a.sum((1, 2))[:, None, None] * g**3 + 1e-6)
    weights = (g.clamp(min=0) * torch.where(g != 0, alpha, 0)).sum((1, 2))
    return torch.einsum("c,chw->hw", weights, a)


def is_well_conditioned(result, a, g):
    """Whether gradients moved by what float32 rounds away give the same GradCAM++.

    Its weights have a pole where a channel's sum times the gradient is -2, which linear bottlenecks can reach.
    """
    generator = torch.Generator().manual_seed(1)
    for _ in range(4):
        noise = torch.rand(g.shape, generator=generator, dtype=g.dtype) * 2 - 1
        moved = gradcam_plus_plus(a, g + noise * 1e-5 * g.abs().max())
        if (moved - result).abs().max() > 1e-4 * result.abs().max():
            return False
    return True


def raw_maps(explained, image, layers=None, keeps_plus_plus=is_well_conditioned):
    """(layer, method, class) -> signed map [h, w] in the model's precision, by autograd; of all layers or of some."""
    kept = {}
    handles = []
    for name, layer in explained.layers().items():
        if layers is not None and name not in layers:
            continue

        def keep(module, inputs, output, name=name):
            kept[name] = output
            # A copy for those who go on, since activations work in place.
            return output + 0

        handles.append(layer.register_forward_hook(keep))
    logits = explained(image)[0]
    for handle in handles:
        handle.remove()
    maps = {}
    for index, label in enumerate(CLASSES):
        gradients = torch.autograd.grad(logits[index], list(kept.values()), retain_graph=True)
        for layer, g in zip(kept, gradients):
            g, a = g[0], kept[layer][0].detach()
            maps[layer, "gradcam", label] = torch.einsum("c,chw->hw", g.mean((1, 2)), a)
            maps[layer, "hirescam", label] = (g * a).sum(0)
            plus_plus = gradcam_plus_plus(a, g)
            if keeps_plus_plus(plus_plus, a, g):
                maps[layer, "gradcam++", label] = plus_plus
            maps[layer, "layercam", label] = (g.clamp(min=0) * a).sum(0)
    for layer, a in kept.items():
        maps[layer, "eigencam", "any"] = torch.from_numpy(first_component(a[0].detach().numpy()))
    return {key: value.numpy() for key, value in maps.items()}


def package_map(explained, image, layer, method, index):
    """What the package returns, [size, size]; and whether the sign of its principal component had to be turned."""
    import pytorch_grad_cam as package
    from pytorch_grad_cam.utils.image import scale_cam_image
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget
    from pytorch_grad_cam.utils.svd_on_activations import get_2d_projection_with_sign_correction

    kinds = [package.GradCAM, package.HiResCAM, package.GradCAMPlusPlus, package.LayerCAM, package.EigenCAM]
    with dict(zip(METHODS, kinds))[method](model=explained, target_layers=[layer]) as cam:
        result = cam(input_tensor=image, targets=[ClassifierOutputTarget(index)])[0]
        if method != "eigencam":
            return result, False
        activations = cam.activations_and_grads.activations[0].numpy()
    signed = np.maximum(get_2d_projection_with_sign_correction(activations), 0)
    size = image.shape[-1]
    corrected = scale_cam_image(scale_cam_image(signed, (size, size)))[0]
    return corrected, bool(np.abs(corrected - result).max() > 1e-3)


def explain(config, model, image, cases, tensors, normalized):
    """Fills `tensors`; answers with the cases in which the package's EigenCAM has the other sign."""
    turned = []
    for case, fields in cases.items():
        vector = encode_metadata(*fields)[0]
        single = Explained(model, vector).eval()
        double = Explained(build_model(config).double().eval(), vector)
        double.model.load_state_dict({key: value.double() for key, value in model.state_dict().items()})
        with torch.no_grad():
            tensors[f"{case}/logits"] = double(image.double())[0].numpy()
        for (layer, method, label), values in raw_maps(double, image.double()).items():
            tensors[f"{case}/{layer}/{method}/{label}"] = values
        for name in double.layers():
            for method in METHODS:
                for index in normalized(case, name):
                    values, is_turned = package_map(single, image, single.layers()[name], method, index)
                    tensors[f"{case}/{name}/{method}/{CLASSES[index]}/normalized"] = values
                    if is_turned:
                        turned.append(f"{case}/{name}")
    return sorted(set(turned))


def distance_to_kinks(model, image):
    """How near any argument of a ReLU6 comes to 0 or 6, where the gradient jumps."""
    nearest = [np.inf]

    def look(module, inputs):
        x = inputs[0]
        nearest.append(float(torch.minimum(x.abs(), (x - 6).abs()).min()))

    handles = [m.register_forward_pre_hook(look) for m in model.modules() if isinstance(m, torch.nn.ReLU6)]
    with torch.no_grad():
        model.features(image)
    for handle in handles:
        handle.remove()
    return min(nearest)


def smooth_input(config, model, size):
    """The name and the values of the first input at which rounding in float32 cannot move an argument past a kink.

    At any other, PyTorch's own gradients in float32 and in float64 differ by a percent or two.
    """
    double = build_model(config).double().eval()
    double.load_state_dict({key: value.double() for key, value in model.state_dict().items()})
    for trial in range(1000):
        name = f"input {trial}"
        image = torch.from_numpy(uniform(name, (size, size, 3)) * np.float32(2)).permute(2, 0, 1)[None]
        if distance_to_kinks(double, image.double()) > 5e-6:
            return name, image
    raise RuntimeError("no input keeps clear of the kinks")


def save(path, tensors):
    arrays = {
        name: np.ascontiguousarray(values, np.float16 if name.endswith("/normalized") else np.float32)
        for name, values in tensors.items()
    }
    save_file(arrays, str(path))
    print(f"{path}: {len(arrays)} tensors, {path.stat().st_size} bytes")


def dump_formula_networks(output):
    manifest = []
    for architecture, size, fusion in NETWORKS:
        config = build_config(architecture, len(CLASSES), fusion=fusion, size=size)
        model = build_model(config).eval()
        shapes = {n: list(t.shape) for n, t in model.state_dict().items() if not n.endswith("num_batches_tracked")}
        model.load_state_dict({n: torch.from_numpy(formula(n, s)) for n, s in shapes.items()}, strict=False)
        input_name, image = smooth_input(config, model, size)
        cases = METADATA if fusion else {"missing": METADATA["missing"]}
        tensors = {}
        turned = explain(
            config, model, image, cases, tensors,
            lambda case, name: [4, 5] if case == "missing" and name in ("stage2", "stage4", "conv_head") else [],
        )  # fmt: skip
        save(output / f"{architecture}.safetensors", tensors)
        manifest.append({"name": architecture, "config": config, "shapes": shapes, "size": size, "input": input_name,
                         "cases": {case: list(fields) for case, fields in cases.items()},
                         "eigencamTurned": turned})  # fmt: skip
    print([(entry["name"], entry["input"], entry["eigencamTurned"]) for entry in manifest])
    (output / "networks.json").write_text(json.dumps(manifest, indent=1) + "\n")


def moved(model, image, trial):
    """The model's parameters and the image, changed by about what a float32 computation rounds away; trial 0: not."""
    generator = torch.Generator().manual_seed(trial)

    def move(values):
        noise = torch.rand(values.shape, generator=generator, dtype=values.dtype) * 2 - 1
        return values * (1 + noise * (2**-22 if trial else 0))

    copy = copy_module.deepcopy(model)
    copy.load_state_dict({k: move(v) if v.is_floating_point() else v for k, v in model.state_dict().items()})
    return copy.eval(), move(image)


def samples(values):
    """The largest magnitude, then about a hundred values in C order; of a small map, every one."""
    return np.concatenate([[np.abs(values).max()], values.ravel()[:: max(values.size // 100, 1) | 1]])


def dump_model(folder, picture, output):
    """The maps in float64, each with the error that float32 brings into PyTorch's own map of these very weights.

    At the kinks of ReLU6 the derivative jumps, so an argument that rounds to the other side changes the gradient below
    it: how much depends on weights and image, and no tolerance fixed beforehand would be fair to the next model.
    """
    config, model = load_folder(folder)
    stages, _ = preprocess(picture, config["preprocessing"])
    image = torch.from_numpy(np.ascontiguousarray(stages["normalized"], np.float32))[None]
    cases = METADATA if config["fusion"] else {"missing": METADATA["missing"]}
    tensors, greatest, left_out = {}, {}, []
    for case, fields in cases.items():
        vector = encode_metadata(*fields)[0]
        # Metadata reaches the earlier layers through the same head: two layers tell.
        layers = None if case == "missing" else ("stage2", "conv_head")

        def maps(model, image, vector=vector, layers=layers):
            return raw_maps(Explained(model, vector).eval(), image, layers, lambda plus_plus, a, g: True)

        exact = maps(copy_module.deepcopy(model).double(), image.double())
        errors = dict.fromkeys(exact, 0.0)
        for trial in range(TRIALS):
            for key, values in maps(*moved(model, image, trial)).items():
                error = float(np.abs(values - exact[key]).max() / np.abs(exact[key]).max())
                errors[key] = max(errors[key], error)
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
    save(output / "model.safetensors", tensors)
    (output / "model.json").write_text(json.dumps(
        {"model": model_identity(folder), "picture": picture.name,
         "cases": {case: list(fields) for case, fields in cases.items()}, "leftOut": sorted(left_out),
         "tolerances": tolerances}, indent=1) + "\n")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--output", type=Path, default=root / "ParityFixtures" / "gradcam")
    parser.add_argument("--model", type=Path, help="a model folder, whose maps are dumped in the place of the formula's")
    parser.add_argument("--picture", type=Path, default=root / "ParityFixtures" / "images" / "phantom_melanoma.jpg")
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    arguments.output.mkdir(parents=True, exist_ok=True)
    if arguments.model:
        dump_model(arguments.model, arguments.picture, arguments.output)
    else:
        dump_formula_networks(arguments.output)


if __name__ == "__main__":
    main()
