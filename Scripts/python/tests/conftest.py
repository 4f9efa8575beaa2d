"""What the tests share. They run against the installed wheel; DERMAFUSION_ROOT names the repository."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(os.environ.get("DERMAFUSION_ROOT", Path(__file__).resolve().parents[3]))
IMAGES = ROOT / "ParityFixtures/images"
COMMAND = os.environ.get("DERMAFUSION_COMMAND", str(ROOT / ".build/release/dermafusion"))
IS_QUICK = os.environ.get("DERMAFUSION_QUICK") == "1"
SEED = 2026


def write_small_model(folder: Path) -> Path:
    """A MobileNetV3 for images of 64x64 with random weights that keep activations in range."""
    network = json.loads((ROOT / "ParityFixtures/architectures/networks.json").read_text())[0]
    random = np.random.default_rng(SEED)
    header: dict[str, object] = {}
    data = bytearray()
    for name, shape in network["shapes"].items():
        if name.endswith("running_var"):
            values = random.uniform(0.5, 1.5, shape)
        elif len(shape) == 1:
            values = random.uniform(0.8, 1.2, shape) if name.endswith("weight") else random.uniform(-0.1, 0.1, shape)
        else:
            bound = np.sqrt(6 / np.prod(shape[1:]))
            values = random.uniform(-bound, bound, shape)
        start = len(data)
        data += values.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(network["config"]))
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    return folder


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_model(tmp_path_factory.mktemp("small") / "model")


@pytest.fixture
def copied_model(small_model: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(small_model, tmp_path / "copy"))


def pixels(seed: int, height: int = 96, width: int = 120) -> np.ndarray:
    """An image with a dark spot on skin."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:height, 0:width]
    spot = np.hypot(rows - height / 2, columns - width / 2) < min(height, width) / 4
    image = np.where(spot[..., None], (90, 50, 40), (205, 160, 140)) + random.integers(-12, 12, (height, width, 3))
    return image.astype(np.uint8)
