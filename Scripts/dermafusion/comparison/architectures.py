"""Compares the program with PyTorch on models with random weights, one of each architecture and head.

Such weights are too large to be in the repository, so the models and their fixtures are made on the spot.
"""

import json
import subprocess
import tempfile
from pathlib import Path

from dermafusion.comparison.random_models import make_random_model
from dermafusion.fixtures.manifest import dump_fixtures

PICTURES = ("phantom_nevus.jpg", "phantom_melanoma.jpg")
TOLERANCE = 1e-3  # of a logit


def run(program, *arguments):
    return subprocess.run([str(word) for word in (program, *arguments)], capture_output=True, text=True)


def patient_options(prediction):
    options = []
    for name in ("age", "sex", "site"):
        if prediction[name] is not None:
            options += [f"--{name}", prediction[name]]
    return options


def logit_difference(program, model, fixtures):
    """(greatest difference of a logit, greatest logit) over the predictions of the fixtures."""
    manifest = json.loads((fixtures / "manifest.json").read_text())
    differences, magnitudes = [], []
    for prediction in manifest["predictions"]:
        if "views" in prediction:
            continue
        options = ["--model", model, "--format", "json", *patient_options(prediction)]
        done = run(program, "classify", fixtures / prediction["file"], *options)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        found = list(json.loads(done.stdout)["logits"].values())
        differences += [abs(a - b) for a, b in zip(found, prediction["logits"], strict=True)]
        magnitudes += [abs(value) for value in prediction["logits"]]
    return max(differences), max(magnitudes)


def check_architecture(program, architecture, fusion, size):
    """A row of the table, and whether the program agrees with PyTorch.

    The stages are those of `dermafusion parity`: activations after the stem and each block, logits, probabilities and
    the maps of the last feature map.
    """
    with tempfile.TemporaryDirectory() as folder:
        model, fixtures = Path(folder) / "model", Path(folder) / "fixtures"
        make_random_model(model, architecture, fusion, size, "float32")
        fixtures.mkdir()
        dump_fixtures(fixtures, model, PICTURES)
        head = "fusion" if fusion else "plain"
        try:
            difference, magnitude = logit_difference(program, model, fixtures)
        except RuntimeError as error:
            return f"| {architecture} | {head} | {str(error).splitlines()[-1]} | | |", False
        parity = run(program, "parity", "--model", model, "--fixtures", fixtures)
        said = "agree" if parity.returncode == 0 else (parity.stderr.strip() or parity.stdout.strip()).splitlines()[-1]
        agrees = difference <= TOLERANCE and parity.returncode == 0
        return f"| {architecture} | {head} | {difference:.1e} | {magnitude:.2f} | {said} |", agrees
