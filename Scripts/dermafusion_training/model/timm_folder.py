"""A model's folder as timm saves it to the Hub: config.json with `architecture` and `pretrained_cfg`, and the weights
in one file or in shards that an index lists. The transform is that of timm's evaluation at the size of the training.
"""

import json
from pathlib import Path

from safetensors.torch import load_file

from dermafusion_training.model.classes import OTHER, entries_of, known_classes
from dermafusion_training.model.config import IMAGENET_MEAN, IMAGENET_STD
from dermafusion_training.model.folder import CheckpointError

INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
WEIGHTS = ("model.safetensors", INDEXES[0], "pytorch_model.bin", INDEXES[1], "model.bin")
CHECKPOINTS = (".pth", ".pt", ".ckpt", ".bin", ".pth.tar", ".safetensors")
INTERPOLATIONS = ("bilinear", "bicubic", "lanczos")
CROP_MODES = ("center", "squash", "border")
CROP_PCT = 0.875  # timm's where a configuration does not tell it
# Arguments of create_model that leave a trained network as it is; the pooling is looked at by itself.
HARMLESS = {
    "num_classes", "global_pool", "img_size", "dynamic_img_size", "strict_img_size", "zero_init_last", "weight_init",
    "fix_init", "bn_momentum", "drop_path_rate", "drop_block_rate",
}  # fmt: skip
# The types of values that timm writes; the program refuses others too.
TYPES = {
    "architecture": (str, "a string"), "pretrained_cfg": (dict, "an object"), "model_args": (dict, "an object"),
    "label_malignancy": (dict, "an object"), "label_names": ((list, dict), "a list or an object"),
    "labels": ((list, dict), "a list or an object"), "id2label": ((list, dict), "a list or an object"),
}  # fmt: skip


def weights_path(path):
    """The file with the weights where `path` is a folder."""
    path = Path(path)
    if not path.is_dir():
        return path
    found = next((path / name for name in WEIGHTS if (path / name).is_file()), None)
    if found is None:
        others = sorted(file.name for file in path.iterdir() if file.name.endswith(CHECKPOINTS))
        way = f"; give one of its checkpoints: {', '.join(others[:5])}" if others else ""
        raise CheckpointError(f"{path}: no weights: none of {', '.join(WEIGHTS)} is there{way}")
    return found


def snapshot(path):
    """The only snapshot of a model's folder in the cache of the Hub (models--OWNER--NAME); any other path unchanged."""
    path = Path(path)
    if (path / "config.json").exists() or not (path / "snapshots").is_dir():
        return path
    found = sorted(folder for folder in (path / "snapshots").iterdir() if folder.is_dir())
    reference = path / "refs" / "main"
    main = path / "snapshots" / reference.read_text().strip() if reference.is_file() else None
    if len(found) == 1 and main in (None, found[0]):
        return found[0]
    shown = ", ".join(str(folder) for folder in found[:5]) or "none"
    raise CheckpointError(f"{path}: {len(found)} snapshots in this folder of the Hub's cache; give one: {shown}")


def load_shards(index, load=load_file):
    """The tensors of all shards that an index names; `load` reads one."""
    index = Path(index)
    try:
        names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CheckpointError(f"{index}: not an index of shards: there is no weight_map") from None
    state = {}
    for name in names:
        if not isinstance(name, str) or "/" in name or not (index.parent / name).is_file():
            raise CheckpointError(f"{index}: the shard {name} is not beside it")
        for tensor, value in load(index.parent / name).items():
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
    for key, (kind, words) in TYPES.items():
        if config.get(key) is not None and not isinstance(config[key], kind):
            raise CheckpointError(f"{file}: {key} {config[key]!r}: must be {words}")
    settings = config.get("pretrained_cfg") or config
    return {**settings, **{key: value for key, value in config.items() if value is not None}}


def label_names(config):
    """The names of the outputs in order; None where the configuration does not tell them."""
    names = config.get("label_names") or config.get("labels") or config.get("id2label")
    if isinstance(names, dict):
        try:
            names = [names[str(index)] for index in range(len(names))]
        except KeyError as error:
            raise CheckpointError(f"label_names: {len(names)} names and none for the output {error}") from None
    if names and names[0] == "LABEL_0":
        return None  # what transformers fills in where nobody has named the classes
    if names is not None and config.get("num_classes") not in (None, len(names)):
        raise CheckpointError(
            f"label_names: {len(names)} names, and num_classes is {config['num_classes']}; name them by --classes"
        )
    return names


def described(names, config):
    """The classes of these names: the seven where they are those, `label_descriptions` as the names in words, and
    `label_malignancy`."""
    classes = known_classes(names)
    names = [*names, OTHER] if len(names) == 1 else names
    descriptions = config.get("label_descriptions")
    descriptions = descriptions if isinstance(descriptions, dict) else {}
    malignancies = config.get("label_malignancy")
    if malignancies is not None and set(malignancies) != set(names):
        raise CheckpointError(f"label_malignancy: has {', '.join(malignancies)}; must have {', '.join(names)}")
    if not malignancies and not any(name in descriptions for name in names):
        return classes
    entries = [{"class": entry, "name": entry} if isinstance(entry, str) else entry for entry in classes]
    described = [entry | {"name": descriptions.get(name, entry["name"])} for entry, name in zip(entries, names)]
    if malignancies:
        described = [entry | {"malignancy": malignancies.get(name)} for entry, name in zip(described, names)]
    return entries_of(described, "label_descriptions")


def require_named_network(arguments):
    """Raises CheckpointError where arguments of create_model make another network than the one that the name means."""
    for key, value in arguments.items():
        if value is None or key in HARMLESS or key.endswith("drop_rate") or (key, value) == ("in_chans", 3):
            continue
        raise CheckpointError(f"{key} {value}: changes the network, and only those that timm names can be run")


def fixed_size(settings):
    """The `input_size` of a network that was made for images of one size, as timm reads it; None for any other."""
    arguments = settings.get("model_args") or {}
    size = arguments.get("img_size")
    is_flexible = arguments.get("dynamic_img_size") or arguments.get("strict_img_size") is False
    if not size or is_flexible or not settings.get("fixed_input_size"):
        return None
    return [3, *(size if isinstance(size, list) else [size, size])]


def number(key, value, low, high):
    """A number in the range that the program takes."""
    if type(value) not in (int, float) or not low <= value <= high:
        raise CheckpointError(f"{key} {value!r}: must be a number from {low:g} to {high:g}")
    return value


def channels(key, value, low):
    """A number for each channel."""
    values = list(value if isinstance(value, (list, tuple)) else [value])
    values = values * 3 if len(values) == 1 else values
    if len(values) != 3:
        raise CheckpointError(f"{key} {value}: must be a number for each of three channels")
    return [number(key, one, low, 1e6) for one in values]


def transform(settings):
    """The keys of `preprocessing` in our config.json for what timm's settings say; theirs where they are silent."""
    told = {key: value for key, value in settings.items() if value is not None}
    size = fixed_size(told) or told.get("input_size", [3, 224, 224])
    is_shape = isinstance(size, (list, tuple)) and len(size) == 3
    if is_shape and size[0] != 3:
        raise CheckpointError(f"input_size {size}: images of {size[0]} channels, and photographs have 3")
    if not is_shape or size[1] != size[2] or type(size[2]) is not int or not 32 <= size[2] <= 2048:
        raise CheckpointError(f"input_size {size}: must be [3, S, S] with S from 32 to 2048")
    found = {
        "size": size[-1],
        "crop_mode": told.get("crop_mode", "center"),
        "crop_pct": number("crop_pct", told.get("crop_pct", CROP_PCT), 0.1, 1),
        "interpolation": told.get("interpolation", "bicubic"),
        "color_constancy": {"method": "none"},
        "mean": channels("mean", told.get("mean", IMAGENET_MEAN), -1e6),
        "std": channels("std", told.get("std", IMAGENET_STD), 1e-6),
    }
    for key, allowed in (("crop_mode", CROP_MODES), ("interpolation", INTERPOLATIONS)):
        if found[key] not in allowed:
            raise CheckpointError(f"{key} {found[key]!r}: must be one of {', '.join(allowed)}")
    return found


def in_words(preprocessing):
    """The transform on one line."""
    numbers = {key: " ".join(f"{value:g}" for value in preprocessing[key]) for key in ("mean", "std")}
    crop = "the centre square"
    if "crop_mode" in preprocessing:
        crop = f"{preprocessing['crop_mode']} crop with crop_pct {preprocessing['crop_pct']:g}"
    method = preprocessing["color_constancy"]["method"]
    return (
        f"{crop}, {preprocessing.get('interpolation', 'bilinear')} to {preprocessing['size']} pixels, "
        f"mean {numbers['mean']}, std {numbers['std']}, "
        f"{'no colour constancy' if method == 'none' else 'colours balanced by Shades of Gray'}"
    )
