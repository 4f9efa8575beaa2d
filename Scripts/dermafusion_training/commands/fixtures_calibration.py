"""Dumps the calibration of random logits, with which `dermafusion calibrate` agrees."""

import json
from pathlib import Path

import numpy as np

from dermafusion_training.data.dataset import HAM10000
from dermafusion_training.evaluation.abstention_fit import conformal_thresholds, distance_threshold
from dermafusion_training.evaluation.calibration import fit_calibration, fit_likelihood
from dermafusion_training.evaluation.metrics import softmax
from dermafusion_training.options import new_parser
from dermafusion_training.paths import FIXTURES

SEED = 2026
PRESENT_TEMPERATURE = 0.8


def case(rng, sizes, sureness, melanoma):
    """Images of classes of these sizes, of which one may be melanoma, whose logits are as sure as `sureness` says, and
    what is fitted to them."""
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    logits = rng.normal(0, 1, (len(labels), len(sizes))) + 1.5 * np.eye(len(sizes))[labels]
    logits += np.linspace(-0.5, 0.5, len(sizes))
    # In steps that float32 holds.
    logits = np.round(logits * sureness * 256) / 256
    distances = np.round(rng.gamma(4, 0.3, len(labels)) * 256) / 256
    bias, temperature = fit_calibration(logits, labels, melanoma)
    probabilities = softmax((logits + bias) / temperature)
    likely_bias, likely_temperature = fit_likelihood(logits, labels, PRESENT_TEMPERATURE)
    return {
        "logits": logits.tolist(),
        "labels": labels.tolist(),
        "melanoma": melanoma,
        "distances": distances.tolist(),
        "bias": bias.tolist(),
        "temperature": temperature,
        "likelyBias": likely_bias.tolist(),
        "likelyTemperature": likely_temperature,
        "thresholds": conformal_thresholds(probabilities, labels),
        "distance": distance_threshold(distances, np.full(len(labels), HAM10000)),
    }


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--output", type=Path, default=FIXTURES / "calibration.json")
    rng = np.random.default_rng(SEED)
    cases = [case(rng, (60, 20, 9, 5), 2, 2), case(rng, (30, 30, 30), 1, 0), case(rng, (70, 8), 0.5, None)]
    cases.append(case(rng, (40, 12, 0, 7), 1.5, 3))
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in cases)
    parser.parse_args().output.write_text(f"[\n{lines}\n]\n")
