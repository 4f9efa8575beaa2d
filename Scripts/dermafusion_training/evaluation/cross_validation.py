"""The figures of a cross-validation's runs, each on its own fold and on the validation lesions."""

import numpy as np
import torch

from dermafusion_training.data.dataset import open_cache, read_records, side_indices
from dermafusion_training.evaluation.calibration import cross_fitted
from dermafusion_training.evaluation.inference import record_logits
from dermafusion_training.evaluation.metrics import figures, rounded
from dermafusion_training.model.folder import load_folder

SUMMARIZED = ["balanced_accuracy", "accuracy", "macro_auroc", "melanoma_sensitivity_at_90_specificity", "ece"]


def side_figures(config, model, cache, records, indices):
    """Figures of a model on the records at `indices`, calibrated on one another (cross-fitted)."""
    chosen = [records[i] for i in indices]
    logits = record_logits(config, model, cache, records, indices)
    labels = np.array([record.label for record in chosen])
    return figures(cross_fitted(logits, labels, [record.lesion_id for record in chosen]), labels)


def summary(results):
    """Mean and sample standard deviation over the runs of the figures in SUMMARIZED."""
    columns = {name: [result[name] for result in results] for name in SUMMARIZED}
    return {
        "mean": {name: float(np.mean(column)) for name, column in columns.items()},
        "spread": {name: float(np.std(column, ddof=1)) for name, column in columns.items()},
    }


def check_folds(folds):
    """Raises ValueError unless the runs' folds are disjoint."""
    for position, fold in enumerate(folds):
        for earlier in folds[:position]:
            if set(fold) & set(earlier):
                raise ValueError("two runs have photographs in both folds: they are not of one cross-validation")


def cross_validate(runs, data, cache_folder, threads):
    """Figures of each run, their mean and spread. Raises ValueError for runs that are not of one cross-validation."""
    if len(runs) < 2:
        raise ValueError("a cross-validation has at least two runs")
    torch.set_num_threads(threads)
    records = read_records(data)
    folds = [side_indices(records, run / "split.csv", "fold") for run in runs]
    check_folds(folds)
    on_folds, on_validation = [], []
    for run, fold in zip(runs, folds, strict=True):
        config, model = load_folder(run / "model")
        model = model.to(memory_format=torch.channels_last)
        cache = open_cache(records, data, config["preprocessing"], cache_folder)
        on_folds.append(side_figures(config, model, cache, records, fold))
        validation = side_indices(records, run / "split.csv")
        on_validation.append(side_figures(config, model, cache, records, validation))
    return rounded(
        {
            "folds": {"runs": on_folds, **summary(on_folds)},
            "validation": {"runs": on_validation, **summary(on_validation)},
        }
    )
