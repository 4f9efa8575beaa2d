"""The contents of a model folder's config.json: the classes, the preprocessing and the metadata vocabulary."""

import json
import re
from pathlib import Path

CLASSES = ["akiec", "bcc", "bkl", "df", "mel", "nv", "vasc"]

SEXES = ["male", "female", "unknown"]

SITES = [
    "abdomen", "acral", "back", "chest", "ear", "face", "foot", "genital", "hand",
    "lower extremity", "neck", "scalp", "trunk", "unknown", "upper extremity",
]  # fmt: skip

IMAGENET_MEAN = [0.485, 0.456, 0.406]
IMAGENET_STD = [0.229, 0.224, 0.225]


TEXT_LIMIT = 200  # characters
# Controls, separators, marks of the direction of writing, surrogates, and what is no character.
UNFIT = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef"
    + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(17))
    + "]"
)


def fault_of(text):
    """Why config.json may not hold a text, or None; the rules of ConfigurationObject.swift."""
    if not text.strip():
        return "must be a string that is not empty"
    if len(text) > TEXT_LIMIT:
        return f"must have at most {TEXT_LIMIT} characters"
    if UNFIT.search(text):
        return (
            "must have no control characters, marks of the direction of writing or code points that are no characters"
        )
    return None


def default_preprocessing(size=380):
    """The `preprocessing` object of config.json for a network that looks at `size` x `size` pixels."""
    return {
        "size": size,
        "color_constancy": {"method": "shades_of_gray", "p": 6, "rounding": "round"},
        "mean": list(IMAGENET_MEAN),
        "std": list(IMAGENET_STD),
    }


def default_fusion():
    """The `fusion` object of config.json: the widths of the metadata fusion head."""
    return {
        "sex_embedding_size": 4,
        "site_embedding_size": 8,
        "metadata_size": 32,
        "hidden_size": 256,
        "layer_norm_epsilon": 1e-5,
    }


def write_config(folder, config):
    """Writes the config.json of a model's or an ensemble's folder."""
    (Path(folder) / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def class_ids(classes):
    """The ids in the `classes` list of config.json, whose entries are ids or objects with the key class."""
    return [entry if isinstance(entry, str) else entry["class"] for entry in classes]
