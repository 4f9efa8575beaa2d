"""Models of other classes than HAM10000's seven: what they are, how one is exported, and what the rules
make of its probabilities.
"""

import json
import subprocess
import sys
from dataclasses import dataclass

from dermafusion_training.comparison.timm_checkpoints import logits_of, random_network, save_checkpoint
from dermafusion_training.paths import IMAGES

PICTURES = sorted(IMAGES.glob("phantom_*.jpg"))


@dataclass
class Case:
    """A model to be made: its architecture, and its classes as --classes gives them (JSON where it is a list)."""

    name: str
    architecture: str
    classes: str | list
    size: int = 160
    prefix: str = ""  # of the tensors' names in the checkpoint
    color_constancy: str | None = None  # an option of `export`; its default where None

    @property
    def entries(self):
        """An object with `class`, `name` and `malignancy` for each class; the last None where it is not told."""
        items = self.classes if isinstance(self.classes, list) else self.classes.split(",")
        items = [{"class": item} if isinstance(item, str) else item for item in items]
        return [
            {"class": i["class"], "name": i.get("name", i["class"]), "malignancy": i.get("malignancy")} for i in items
        ]

    @property
    def named(self):
        """(id, name) of each class."""
        return [(entry["class"], entry["name"]) for entry in self.entries]

    @property
    def ids(self):
        return [entry["class"] for entry in self.entries]

    @property
    def tells_malignancy(self):
        return self.entries[0]["malignancy"] is not None


ISIC_2019 = [
    {"class": "MEL", "name": "Melanoma", "malignancy": "malignant"},
    {"class": "NV", "name": "Melanocytic nevus", "malignancy": "benign"},
    {"class": "BCC", "name": "Basal cell carcinoma", "malignancy": "malignant"},
    {"class": "AK", "name": "Actinic keratosis", "malignancy": "pre-malignant"},
    {"class": "BKL", "name": "Benign keratosis", "malignancy": "benign"},
    {"class": "DF", "name": "Dermatofibroma", "malignancy": "benign"},
    {"class": "VASC", "name": "Vascular lesion", "malignancy": "benign"},
    {"class": "SCC", "name": "Squamous cell carcinoma", "malignancy": "malignant"},
]
CASES = (
    Case("eight classes with malignancies", "resnet18", ISIC_2019, prefix="module."),
    Case(
        "two classes by id", "mobilenetv3_small_100", "benign,malignant", color_constancy="none"
    ),
    Case(
        "two classes with malignancies", "efficientnet_b0",
        [{"class": "benign", "malignancy": "benign"}, {"class": "malignant", "malignancy": "malignant"}],
    ),
)  # fmt: skip


def risk_of(case, probabilities):
    """The risk by the rule of OUTPUT.md; None where the model does not say what is malignant."""
    if not case.tells_malignancy:
        return None
    of = {kind: [p for e, p in zip(case.entries, probabilities) if e["malignancy"] == kind] for kind in
          ("malignant", "pre-malignant")}  # fmt: skip
    if max(of["malignant"], default=0) >= 0.30:
        return "high"
    return "moderate" if max(of["malignant"] + of["pre-malignant"], default=0) >= 0.10 else "low"


def call(command, *words):
    """Runs a command of the package as a person would; what it says on both streams."""
    words = [str(word) for word in (sys.executable, "-m", "dermafusion_training", command, *words)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.stdout + done.stderr


def exported(case, folder, seed):
    """Makes a checkpoint and exports it; (model folder, logits of PICTURES by PyTorch, what the export said)."""
    folder.mkdir()
    options = [] if case.color_constancy is None else ["--color-constancy", case.color_constancy]
    network = random_network(case.architecture, len(case.ids), case.size, seed, PICTURES, case.color_constancy)
    checkpoint, classes = folder / "model_best.pth.tar", case.classes
    save_checkpoint(checkpoint, network, case.architecture, case.size, case.prefix)
    if isinstance(classes, list):
        classes = folder / "classes.json"
        classes.write_text(json.dumps(case.classes))
    said = call(
        "export", "--architecture", case.architecture, "--checkpoint", checkpoint, "--classes", classes,
        "--image-size", case.size, "--dtype", "float32", "--output", folder / "model", *options,
    )  # fmt: skip
    preprocessing = json.loads((folder / "model/config.json").read_text())["preprocessing"]
    return folder / "model", logits_of(network, PICTURES, preprocessing), said
