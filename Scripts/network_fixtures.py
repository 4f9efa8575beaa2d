"""What a network makes of a picture, as it stands in the parity fixtures: see ParityFixtures/README.md."""

import copy

import numpy as np
import torch

from abstention import conformal_sets, distances, measure, result_reasons
from activation_maps import METHODS, Explained, raw_maps
from metrics import softmax
from model_config import CLASSES
from preprocessing import preprocess

SAMPLES_PER_STAGE = 48
SAMPLES_PER_ACTIVATION = 64


def evenly_spread(count, samples):
    """`samples` flat indices over 0..<count, spread by an odd stride, so that channels and columns vary."""
    stride = max(1, count // samples) | 1
    return [(i * stride) % count for i in range(min(samples, count))]


def floats(values):
    """Float32 values as the doubles they equal, which JSON writes without loss."""
    return [float(value) for value in np.asarray(values, dtype=np.float32).ravel()]


def sampled(array, samples=SAMPLES_PER_STAGE):
    """A few values of a float32 array, by flat index in C order."""
    indices = evenly_spread(array.size, samples)
    return {"shape": list(array.shape), "indices": indices, "values": floats(array.ravel()[indices])}


def network_input(config, picture, size=None):
    """A picture's float32 [1, 3, size, size] as the network takes it; the size is the model's own when left out."""
    preprocessing = dict(config["preprocessing"], **({"size": size} if size else {}))
    stages, _ = preprocess(picture, preprocessing)
    return torch.from_numpy(stages["normalized"])[None]


def predict(config, mean_logits, normalized, vector, views=1):
    """Logits and probabilities of one image-and-metadata pair; mean_logits(image, metadata, views) gives the logits."""
    with torch.inference_mode():
        image, metadata = torch.from_numpy(normalized)[None], torch.from_numpy(vector)[None]
        logits = np.asarray(mean_logits(image, metadata, views))[0]
    probabilities = softmax(logits[None].astype(np.float64) / config["temperature"])
    return {"logits": floats(logits), "probabilities": floats(probabilities)}


def judge(config, model, space, stages, warnings, probabilities):
    """Whether the model abstains from a picture, and the set of classes that it makes of these probabilities."""
    settings = config["abstention"]
    with torch.inference_mode():
        feature_map = model.stage_output(torch.from_numpy(stages["normalized"])[None], settings["distance"]["stage"])
    distance = float(distances(feature_map.mean((2, 3)).numpy(), *space)[0])
    probabilities = np.array(probabilities)
    inside = conformal_sets(probabilities[None], settings["conformal"]["thresholds"])[0]
    return {
        "distance": distance,
        "reasons": result_reasons(warnings, measure(stages["resized"]), distance, settings),
        "conformalSet": [CLASSES[c] for c in np.argsort(-probabilities, kind="stable") if inside[c]],
    }


def record_activations(model, normalized):
    """Samples of the feature map after the stem, after each block, at the end, and pooled; NCHW, batch of one."""
    activations = {}

    def keep(name):
        return lambda module, inputs, output: activations.__setitem__(name, output.numpy().copy())

    hooks = [block.register_forward_hook(keep(name)) for name, block in model.named_blocks()]
    with torch.inference_mode():
        image = torch.from_numpy(normalized)[None]
        activations["conv_stem"] = model.act(model.bn1(model.conv_stem(image))).numpy().copy()
        activations["conv_head"] = model.features(image).numpy()
        activations["pooled"] = activations["conv_head"].mean((2, 3))
    for hook in hooks:
        hook.remove()
    described = []
    for name, array in activations.items():
        mean, magnitude = float(array.astype(np.float64).mean()), float(np.abs(array).max())
        told = {"name": name, "shape": list(array.shape), "mean": mean, "maximumMagnitude": magnitude}
        described.append(told | sampled(array, SAMPLES_PER_ACTIVATION))
    return described


def record_maps(model, normalized, vector):
    """Samples of every method's signed map of the last feature map for the most probable class, worked out in float64.

    The model's temperature changes no order, so the greatest logit is the most probable class.
    """
    explained = Explained(copy.deepcopy(model).double(), vector).eval()
    image = torch.from_numpy(normalized)[None].double()
    with torch.no_grad():
        label = CLASSES[int(explained(image)[0].argmax())]
    maps = raw_maps(explained, image, layers=("conv_head",))
    methods = []
    for method in METHODS:
        values = maps["conv_head", method, label if method != "eigencam" else "any"]
        magnitude = float(np.abs(values).max())
        methods.append({"method": method, "shape": list(values.shape), "maximumMagnitude": magnitude} | sampled(values))
    return {"layer": "conv_head", "class": label, "methods": methods}
