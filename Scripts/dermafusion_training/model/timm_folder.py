"""A model's folder as timm saves it to the Hub: config.json with `architecture` and `pretrained_cfg`, and the weights
in one file or in shards that an index lists. The transform is that of timm's evaluation at the size of the training.
"""

import json
from pathlib import Path

from safetensors.torch import load_file

from dermafusion_training.model.config import IMAGENET_MEAN, IMAGENET_STD
from dermafusion_training.model.folder import CheckpointError

INDEX = "model.safetensors.index.json"
WEIGHTS = ("model.safetensors", INDEX, "pytorch_model.bin", "model.bin")
INTERPOLATIONS = ("bilinear", "bicubic", "lanczos")
CROP_MODES = ("center", "squash", "border")
CROP_PCT = 0.875  # timm's where a configuration does not tell it


def weights_path(path):
    """The file with the weights where `path` is a folder."""
    path = Path(path)
    if not path.is_dir():
        return path
    found = next((path / name for name in WEIGHTS if (path / name).is_file()), None)
    if found is None:
        raise CheckpointError(f"{path}: no weights: none of {', '.join(WEIGHTS)} is there")
    return found


def load_shards(index):
    """The tensors of all shards that an index names."""
    index = Path(index)
    try:
        names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CheckpointError(f"{index}: not an index of shards: there is no weight_map") from None
    state = {}
    for name in names:
        if not isinstance(name, str) or "/" in name or not (index.parent / name).is_file():
            raise CheckpointError(f"{index}: the shard {name} is not beside it")
        for tensor, value in load_file(index.parent / name).items():
            if tensor in state:
                raise CheckpointError(f"{index.parent / name}: {tensor} is in another shard too")
            state[tensor] = value
    return state


def read_configuration(path):
    """The config.json of timm in a folder, or beside a file; None where there is none of timm's form."""
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    file = folder / "config.json"
    if not file.is_file():
        return None
    try:
        config = json.loads(file.read_text())
    except ValueError as error:
        raise CheckpointError(f"{file}: not JSON: {error}") from None
    if not isinstance(config, dict) or "format_version" in config:
        return None
    if "pretrained_cfg" not in config and not {"architecture", "num_classes"} <= set(config):
        return None
    settings = config.get("pretrained_cfg") or config
    return {**settings, **{key: value for key, value in config.items() if value is not None}}


def label_names(config):
    """The names of the outputs in order; None where the configuration does not tell them."""
    names = config.get("label_names") or config.get("labels")
    if isinstance(names, dict):
        try:
            names = [names[str(index)] for index in range(len(names))]
        except KeyError as error:
            raise CheckpointError(f"label_names: {len(names)} names and none for the output {error}") from None
    if names is not None and config.get("num_classes") not in (None, len(names)):
        raise CheckpointError(
            f"label_names: {len(names)} names, and num_classes is {config['num_classes']}; name them by --classes"
        )
    return names


def channels(value, default):
    """A value for each channel."""
    values = list(default if value is None else value if isinstance(value, (list, tuple)) else [value])
    values = values * 3 if len(values) == 1 else values
    if len(values) != 3 or not all(isinstance(number, (int, float)) for number in values):
        raise CheckpointError(f"{value}: must be a number for each of three channels")
    return values


def transform(settings):
    """The keys of `preprocessing` in our config.json for what timm's settings say; theirs where they are silent."""
    size = settings.get("input_size") or [3, *[settings.get("img_size") or 224] * 2]
    if not isinstance(size, (list, tuple)) or size[0] != 3 or size[-1] != size[-2]:
        raise CheckpointError(f"input_size {size}: must be [3, S, S]")
    found = {
        "size": size[-1],
        "crop_mode": settings.get("crop_mode") or "center",
        "crop_pct": settings.get("crop_pct") or CROP_PCT,
        "interpolation": settings.get("interpolation") or "bicubic",
        "color_constancy": {"method": "none"},
        "mean": channels(settings.get("mean") or None, IMAGENET_MEAN),
        "std": channels(settings.get("std") or None, IMAGENET_STD),
    }
    for key, allowed in (("crop_mode", CROP_MODES), ("interpolation", INTERPOLATIONS)):
        if found[key] not in allowed:
            raise CheckpointError(f"{key} {found[key]!r}: must be one of {', '.join(allowed)}")
    if not 0.1 <= found["crop_pct"] <= 1:
        raise CheckpointError(f"crop_pct {found['crop_pct']}: must be 0.1 to 1")
    return found


def in_words(preprocessing):
    """The transform on one line."""
    numbers = {key: " ".join(f"{value:g}" for value in preprocessing[key]) for key in ("mean", "std")}
    return (
        f"{preprocessing['crop_mode']} crop with crop_pct {preprocessing['crop_pct']:g}, "
        f"{preprocessing['interpolation']} to {preprocessing['size']} pixels, "
        f"mean {numbers['mean']}, std {numbers['std']}, no colour constancy"
    )
