"""The common part of the tests. They run against the installed wheel; DERMAFUSION_ROOT names the repository."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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


class Photographs:
    """200 rows of photographs, of which one is cut off, one is null and one has no file, and what the command says."""

    CUT, NULL, MISSING = "005 cut.jpg", "077 null.jpg", "150 missing.jpg"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        content = (IMAGES / "jpeg_420.jpg").read_bytes()
        names = [f"{index:03} ü.jpg" for index in range(200)]
        for broken in (self.CUT, self.NULL, self.MISSING):
            names[int(broken[:3])] = broken
        self.paths = [str(folder / name) for name in names]
        for index, path in enumerate(self.paths):
            # Bytes behind the image change no pixel, but the file's SHA-256.
            file = content[:3000] if path.endswith(self.CUT) else content + index.to_bytes(2, "big")
            if not path.endswith((self.NULL, self.MISSING)):
                Path(path).write_bytes(file)
        command = [COMMAND, "classify", folder, "--model", ROOT / "Weights/int8", "--format", "json"]
        run = subprocess.run(command, capture_output=True, text=True)
        self.json = {json.loads(line)["image"]: line for line in run.stdout.splitlines()}
        assert len(self.json) == 197 and self.CUT in run.stderr
        self.errors = {line.removeprefix("Error: ") for line in run.stderr.splitlines() if self.CUT in line}

    def rows(self) -> tuple[list[str], list[bytes | None]]:
        """The paths and the files' contents, null where there is no file."""
        return self.paths, [Path(path).read_bytes() if Path(path).exists() else None for path in self.paths]

    def check(self, found: Mapping[str, Mapping[str, Any]], count: int) -> None:
        """Each row once: the command's bytes, or an error in its words."""
        assert count == len(found) == 200 and sorted(found) == sorted(self.paths)
        for path, row in found.items():
            assert row["json"] == self.json.get(path), path
            assert (row["error"] is None) == (path in self.json), path
            if path.endswith(self.CUT):
                assert row["error"] in self.errors
            elif row["error"]:
                assert row["error"].startswith(f"{path}: ")


@pytest.fixture(scope="session")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> Photographs:
    return Photographs(tmp_path_factory.mktemp("many") / "photo graphs")
