"""What the tests share. They run against the installed wheel; DERMAFUSION_ROOT names the repository."""

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(os.environ.get("DERMAFUSION_ROOT", Path(__file__).resolve().parents[3]))
IMAGES = ROOT / "ParityFixtures/images"
COMMAND = os.environ.get("DERMAFUSION_COMMAND", str(ROOT / ".build/release/dermafusion"))
IS_QUICK = os.environ.get("DERMAFUSION_QUICK") == "1"
SEED = 2026
sys.path.append(str(ROOT / "Scripts" / "lib"))
from small_model import write_small_model  # noqa: E402


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
