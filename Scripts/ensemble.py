"""Models that see the same input and whose probabilities are averaged: the definition that the Swift engine reproduces.

An ensemble's config.json has `format_version`, `name`, `version`, `temperature`, `training` and `members`: objects with
a `folder`, the plain name of a model's folder beside it, and a `weight`. Its logits are the logarithms of the weighted
mean of the members' probabilities, each at its own temperature; like a model's, they are divided by the ensemble's own
temperature before softmax. Of eight views each member averages its own logits before the vote.
"""

import hashlib
import json
from pathlib import Path

import numpy as np

from model_folder import load_folder, model_identity
from model import mean_logits

MODEL_FILES = ("config.json", "model.safetensors")
WEIGHTS = (1e-6, 1e6)  # least and greatest


def vote(logits, weights, temperatures):
    """Logits float32 [..., classes] of the vote, from those of each member, float32 [..., classes].

    Added up as logarithms in float64, so that a probability never becomes 0.
    """
    terms = []
    for own, weight, temperature in zip(logits, weights, temperatures, strict=True):
        scaled = own.astype(np.float64) / temperature
        normalizer = np.logaddexp.reduce(scaled, axis=-1, keepdims=True)
        terms.append(scaled - normalizer + np.log(weight / sum(weights)))
    return np.logaddexp.reduce(terms, axis=0).astype(np.float32)


class Ensemble:
    """Models that vote."""

    def __init__(self, config, members):
        """members: (config, model) of each in the order of `config["members"]`. Raises ValueError where one differs."""
        self.weights = [member["weight"] for member in config["members"]]
        self.members = members
        for member, (own, _) in zip(config["members"], members, strict=True):
            for key in ("classes", "preprocessing"):
                if own[key] != members[0][0][key]:
                    raise ValueError(f"{member['folder']}: {key} is not that of the first member")

    def mean_logits(self, image, metadata, views=1):
        """Logits float32 [N, classes] as numpy, of tensors [N, 3, S, S] and [N, 4], in one view or in eight."""
        logits = [mean_logits(model, image, metadata, views).numpy() for _, model in self.members]
        return vote(logits, self.weights, [config["temperature"] for config, _ in self.members])


def is_ensemble(folder):
    return "members" in json.loads((Path(folder) / "config.json").read_text())


def load_ensemble(folder):
    """(config, Ensemble) of a folder; the config has the classes and the preprocessing of the members too."""
    config = json.loads((Path(folder) / "config.json").read_text())
    members = [load_folder(Path(folder) / member["folder"]) for member in config["members"]]
    ensemble = Ensemble(config, members)
    return config | {key: members[0][0][key] for key in ("classes", "preprocessing")}, ensemble


def ensemble_identity(folder):
    """SHA-256 of config.json's bytes followed by those of both files of each member in order."""
    folder = Path(folder)
    digest = hashlib.sha256((folder / "config.json").read_bytes())
    for member in json.loads((folder / "config.json").read_text())["members"]:
        for name in MODEL_FILES:
            digest.update((folder / member["folder"] / name).read_bytes())
    return digest.hexdigest()


def identity(folder):
    """The identity of a model or of an ensemble."""
    return ensemble_identity(folder) if is_ensemble(folder) else model_identity(folder)
