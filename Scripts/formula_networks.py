"""Networks whose weights follow a formula that Swift can compute too, so that none need to be stored, and their maps.

By autograd and by the PyPI package `grad-cam`, which with ttach and opencv-python-headless is needed beside
requirements.txt.
"""

import copy
import json

import numpy as np
import torch

from activation_maps import METHODS, Explained, raw_maps
from metadata import encode_metadata
from model import build_config, build_model
from model_config import CLASSES

NETWORKS = [("efficientnet_b0", 76, False), ("efficientnet_lite0", 76, True)]


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


def formula_model(config):
    """The formula network of a config.json, in evaluation mode."""
    model = build_model(config)
    state = {
        name: torch.from_numpy(formula(name, tuple(tensor.shape)))
        for name, tensor in model.state_dict().items()
        if not name.endswith(".num_batches_tracked")
    }
    model.load_state_dict(state, strict=False)
    return model.eval()


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
        double = Explained(copy.deepcopy(model).double(), vector)
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
    double = copy.deepcopy(model).double()
    for trial in range(1000):
        name = f"input {trial}"
        image = torch.from_numpy(uniform(name, (size, size, 3)) * np.float32(2)).permute(2, 0, 1)[None]
        if distance_to_kinks(double, image.double()) > 5e-6:
            return name, image
    raise RuntimeError("no input keeps clear of the kinks")


def dump_formula_networks(output, metadata, save):
    manifest = []
    for architecture, size, fusion in NETWORKS:
        config = build_config(architecture, len(CLASSES), fusion=fusion, size=size)
        model = formula_model(config)
        shapes = {n: list(t.shape) for n, t in model.state_dict().items() if not n.endswith("num_batches_tracked")}
        input_name, image = smooth_input(config, model, size)
        cases = metadata if fusion else {"missing": metadata["missing"]}
        tensors = {}

        def normalized(case, name):
            return [4, 5] if case == "missing" and name in ("stage2", "stage4", "conv_head") else []

        turned = explain(config, model, image, cases, tensors, normalized)
        save(output / f"{architecture}.safetensors", tensors)
        manifest.append(
            {
                "name": architecture,
                "config": config,
                "shapes": shapes,
                "size": size,
                "input": input_name,
                "cases": {case: list(fields) for case, fields in cases.items()},
                "eigencamTurned": turned,
            }
        )
    print([(entry["name"], entry["input"], entry["eigencamTurned"]) for entry in manifest])
    (output / "networks.json").write_text(json.dumps(manifest, indent=1) + "\n")
