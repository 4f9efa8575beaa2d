"""Models that see the same input and whose probabilities are averaged: the definition that the Swift engine reproduces.

An ensemble's config.json has `format_version`, `name`, `version`, `temperature`, `training` and `members`: objects with
a `folder`, the plain name of a model's folder beside it, and a `weight`. Its logits are the logarithms of the weighted
mean of the members' probabilities, each at its own temperature; like a model's, they are divided by the ensemble's own
temperature before softmax. Of eight views each member averages its own logits before the vote.
"""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np

from dermafusion_training.model.config import write_config
from dermafusion_training.model.folder import DIGESTS, load_folder, model_identity
from dermafusion_training.model.network import mean_logits

MODEL_FILES = ("config.json", "model.safetensors")
TRAINING_LIST = Path("training") / "split.csv"
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


def make_ensemble(folder, members, name, version="1.0.0", temperature=1.0):
    """Writes the folder. Raises ValueError, naming the member, when one is no model or differs from the first."""
    first, names = None, set()
    for member_name, source, _ in members:
        if member_name in names:
            raise ValueError(f"{member_name}: two members have this name")
        names.add(member_name)
        for file in MODEL_FILES:
            if not (source / file).is_file():
                raise ValueError(f"{source}: the model folder lacks {file}")
        config = json.loads((source / "config.json").read_text())
        first = first or config
        for key in ("classes", "preprocessing"):
            if config[key] != first[key]:
                raise ValueError(f"{source}/config.json: {key} must be that of the first member")
    for member_name, source, _ in members:
        for file in (*MODEL_FILES, DIGESTS, TRAINING_LIST):
            if (source / file).is_file():
                target = folder / member_name / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / file, target)
    config = {
        "format_version": 1,
        "name": name,
        "version": version,
        "temperature": temperature,
        "members": [{"folder": member_name, "weight": weight} for member_name, _, weight in members],
        "training": {},
    }
    write_config(folder, config)
