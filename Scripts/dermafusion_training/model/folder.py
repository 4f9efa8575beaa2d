"""A model's folder: config.json, model.safetensors and README.md, the model card."""

import hashlib
import json
import math
from pathlib import Path

import torch
from safetensors.torch import load_file
from safetensors.torch import save as save_safetensors

from dermafusion_training.model.build import build_model

ABSTENTION_PREFIX = "abstention."  # tensors beside the network's, see evaluation/abstention_fit.py
LAST_LAYERS = ("fusion.classifier", "classifier", "fc", "head.fc", "head")
POSITIONS = "pos_embed"  # of patches; the program resamples them to the size of the image
DIGESTS = "SHA256SUMS"


class CheckpointError(ValueError):
    """Weights that do not fit the architecture; the message is one line that names the tensor."""


def some(names):
    """Five of the names, for a message."""
    shown = ", ".join(list(names)[:5])
    return f"{shown}{', ...' if len(names) > 5 else ''}"


def check_against(expected, state):
    """Raises CheckpointError, naming the tensor that is missing, surplus, misshapen or not finite."""
    for name, tensor in expected.items():
        if name not in state:
            raise CheckpointError(f"{name}: missing from the checkpoint; there are {some(state)}")
        resampled = name == POSITIONS and state[name].shape[::2] == tensor.shape[::2]
        if state[name].shape != tensor.shape and not resampled:
            raise CheckpointError(f"{name}: shape {list(state[name].shape)}, expected {list(tensor.shape)}")
        if not torch.isfinite(state[name]).all():
            raise CheckpointError(f"{name}: holds NaN or infinity")
    for name in state:
        if name not in expected:
            raise CheckpointError(f"{name}: surplus, the architecture has no such tensor")


def tensors_of(model):
    """Name -> tensor of what a model folder stores of a network."""
    return {name: tensor for name, tensor in model.state_dict().items() if not name.endswith(".num_batches_tracked")}


def expected_tensors(config):
    """Name -> tensor of the right shape for a model folder with this config."""
    return tensors_of(build_model(config))


def last_layer(names):
    """The name of the layer that gives the logits, among the names of tensors; None where there is none."""
    return next((name for name in LAST_LAYERS if f"{name}.weight" in names), None)


def positions_side(state):
    """The side in pixels of the square images that the positions of patches are for; None where there are none."""
    if POSITIONS not in state or "patch_embed.proj.weight" not in state:
        return None
    count = state[POSITIONS].shape[1]
    # The class token may have a position too.
    side = next((math.isqrt(n) for n in (count, count - 1) if math.isqrt(n) ** 2 == n), None)
    return side and side * state["patch_embed.proj.weight"].shape[-1]


def model_identity(folder):
    """SHA-256 of config.json's bytes followed by model.safetensors' bytes."""
    digest = hashlib.sha256((Path(folder) / "config.json").read_bytes())
    digest.update((Path(folder) / "model.safetensors").read_bytes())
    return digest.hexdigest()


def load_folder(folder):
    """Loads a model folder. Returns (config, model in evaluation mode with float32 weights)."""
    config = json.loads((Path(folder) / "config.json").read_text())
    if "format_version" not in config:
        raise CheckpointError(f"{folder}: config.json is not of this package; export --checkpoint makes one that is")
    if "task" in config:
        raise CheckpointError(f"{folder}: a multi-label model, which only the program runs")
    model = build_model(config)
    state = load_file(Path(folder) / "model.safetensors")
    if "abstention" in config:
        state = {name: tensor for name, tensor in state.items() if not name.startswith(ABSTENTION_PREFIX)}
    check_against(expected_tensors(config), state)
    if POSITIONS in state and state[POSITIONS].shape != model.state_dict()[POSITIONS].shape:
        raise CheckpointError(f"{folder}: {POSITIONS} is for images of another size; only the program resamples it")
    model.load_state_dict({name: tensor.float() for name, tensor in state.items()}, strict=False)
    return config, model.eval()


def load_feature_space(folder):
    """(means, whitening, weights of the dermoscopy probe or None) float32 of a model that was fitted to abstain, see
    model/abstention.py."""
    tensors = load_file(Path(folder) / "model.safetensors")
    found = (tensors.get(ABSTENTION_PREFIX + name) for name in ("means", "whitening", "dermoscopy"))
    return tuple(None if tensor is None else tensor.float().numpy() for tensor in found)


def write_weights(folder, tensors):
    """Writes the model.safetensors of a folder, in the order of the names: the same tensors make the same file."""
    (folder / "model.safetensors").write_bytes(save_safetensors(dict(sorted(tensors.items()))))


def write_digests(folder):
    """Writes SHA256SUMS, with which `sha256sum --check` and the program can compare the files.

    The comment with the model's identity, which the program computes anyway, saves it a second hash of the weights.
    """
    lines = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in ("config.json", "model.safetensors")
    ]
    (folder / DIGESTS).write_text(f"# model: {model_identity(folder)}\n" + "".join(lines))
