"""A model folder of random weights, which answers in a few milliseconds, for tests that are not about answers.

`small_model.py FOLDER` writes one that shows what the shipped model shows.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SEED = 2026


def write_small_model(folder: Path, like: Path | None = None) -> Path:
    """A MobileNetV3 for images of 64x64 whose random weights, float16, keep activations in range.

    With `like`, a model folder, it has that model's card, figures, classes, and limits on sets and images. No image
    lies far from those that it was trained on, and all pass for pictures through a dermatoscope.
    """
    network = json.loads((ROOT / "ParityFixtures/architectures/networks.json").read_text())[0]
    config, shapes = network["config"], network["shapes"]
    folder.mkdir(parents=True, exist_ok=True)
    if like:
        theirs = json.loads((like / "config.json").read_text())
        abstention = theirs["abstention"]
        # An image of 64x64 has fewer colours.
        abstention["quality"] |= {"minimum_color_variety": 0, "minimum_warmth": -1}
        # By this temperature the answers are as sure as that model's.
        config |= {"classes": theirs["classes"], "abstention": abstention, "temperature": 0.1}
        abstention["dermoscopy"] |= {"threshold": 1}
        stages = [abstention["distance"]["stage"], *abstention["dermoscopy"]["stages"]]
        channels, *probed = (shapes[f"blocks.{stage}.0.bn3.weight"][0] for stage in stages)
        shapes |= {"abstention.means": [len(theirs["classes"]), channels], "abstention.whitening": [channels, channels]}
        shapes["abstention.dermoscopy"] = [sum(probed)]
        shutil.copy(like / "README.md", folder)
        shutil.copytree(like / "training", folder / "training", dirs_exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    random = np.random.default_rng(SEED)
    header: dict[str, object] = {}
    data = bytearray()
    for name, shape in shapes.items():
        if name in ("abstention.whitening", "abstention.dermoscopy"):
            values = np.zeros(shape)
        elif name.endswith("running_var"):
            values = random.uniform(0.5, 1.5, shape)
        elif len(shape) == 1:
            values = random.uniform(0.8, 1.2, shape) if name.endswith("weight") else random.uniform(-0.1, 0.1, shape)
        else:
            bound = np.sqrt(6 / np.prod(shape[1:]))
            values = random.uniform(-bound, bound, shape)
        start = len(data)
        data += values.astype("<f2").tobytes()
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [start, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    return folder


if __name__ == "__main__":
    write_small_model(Path(sys.argv[1]), like=ROOT / "Weights")
