"""Places in the repository that the scripts read and write."""

from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
ROOT = SCRIPTS.parent
WEIGHTS = ROOT / "Weights"
FIXTURES = ROOT / "ParityFixtures"
IMAGES = FIXTURES / "images"
PROGRAM = ROOT / ".build/release/dermafusion"
