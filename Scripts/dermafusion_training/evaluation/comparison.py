"""Two models on the same lesions: figures of each, their difference and its bootstrap interval."""

import numpy as np
import torch

from dermafusion_training.data.dataset import open_cache, read_records, side_indices
from dermafusion_training.evaluation.calibration import cross_fitted
from dermafusion_training.evaluation.inference import record_logits
from dermafusion_training.evaluation.metrics import figures, rounded
from dermafusion_training.model.folder import load_folder, model_identity

COMPARED = [
    "balanced_accuracy",
    "accuracy",
    "macro_auroc",
    "melanoma_sensitivity_at_90_specificity",
    "ece",
    "negative_log_likelihood",
]
RESAMPLES = 1000
LEVEL = 0.95
SEED = 2018


def validation_logits(folder, records, indices, data, cache_folder):
    """Logits float64 [N, 7] of the model in `folder` for the records at `indices`, with their metadata."""
    config, model = load_folder(folder)
    model = model.to(memory_format=torch.channels_last)
    cache = open_cache(records, data, config["preprocessing"], cache_folder)
    return record_logits(config, model, cache, records, indices)


def resampled(lesions, count, seed):
    """Yields indices into `lesions`: all photographs of as many lesions as there are, drawn with replacement."""
    names, number = np.unique(lesions, return_inverse=True)
    photographs = [np.flatnonzero(number == lesion) for lesion in range(len(names))]
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield np.concatenate([photographs[lesion] for lesion in rng.integers(0, len(names), len(names))])


def interval(values):
    """The middle 95 % of what was found in the drawings, [low, high]."""
    return np.percentile(values, [100 * (1 - LEVEL) / 2, 100 * (1 + LEVEL) / 2]).tolist()


def compared(first, second, labels, lesions, resamples=RESAMPLES):
    """{figure: first, second, difference and its interval} of probabilities [N, 7] for the same photographs."""
    before, after = figures(first, labels), figures(second, labels)
    differences = {name: [] for name in COMPARED}
    for drawn in resampled(lesions, resamples, SEED):
        one, other = figures(first[drawn], labels[drawn]), figures(second[drawn], labels[drawn])
        for name in COMPARED:
            differences[name].append(other[name] - one[name])
    return {
        name: {
            "first": before[name],
            "second": after[name],
            "difference": after[name] - before[name],
            "interval": interval(differences[name]),
        }
        for name in COMPARED
    }


def compare_models(folders, data, cache_folder, split, threads):
    """The report of two model folders on the validation photographs of a data list."""
    torch.set_num_threads(threads)
    records = read_records(data)
    indices = side_indices(records, split)
    labels = np.array([records[i].label for i in indices])
    lesions = [records[i].lesion_id for i in indices]
    probabilities = [
        cross_fitted(validation_logits(folder, records, indices, data, cache_folder), labels, lesions)
        for folder in folders
    ]
    return rounded(
        {
            "models": [model_identity(folder) for folder in folders],
            "n": len(indices),
            "lesions": len(set(lesions)),
            "level": LEVEL,
            "resamples": RESAMPLES,
            "figures": compared(*probabilities, labels, lesions),
        }
    )
