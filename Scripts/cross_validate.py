"""Cross-validates the training: the figures of runs with `train.py --fold 1/N` to `N/N`, each on its own fold.

A fold's lesions were in no way part of its run. Every run also looks at the validation lesions, which none of them
saw: whether those are harder than the folds shows on the same weights. Probabilities are calibrated within each set,
on four fifths of its lesions at a time for the last fifth (cross-fitted). Prints JSON.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from calibration import cross_fitted
from dataset import open_cache, read_records, side_indices
from inference import record_logits
from metrics import figures, rounded
from model_folder import load_folder

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


def check_folds(folds, parser):
    """Ends the program unless the runs' folds are disjoint."""
    for position, fold in enumerate(folds):
        for earlier in folds[:position]:
            if set(fold) & set(earlier):
                parser.error("two runs have photographs in both folds: they are not of one cross-validation")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of train.py, its export in model/")
    parser.add_argument("--data", type=Path, required=True, help="HAM10000's folder, with metadata.csv")
    parser.add_argument("--cache", type=Path, required=True, help="where preprocessed photographs are, or go")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if len(options.runs) < 2:
        parser.error("a cross-validation has at least two runs")
    torch.set_num_threads(options.threads)
    records = read_records(options.data)
    folds = [side_indices(records, run / "split.csv", "fold") for run in options.runs]
    check_folds(folds, parser)
    on_folds, on_validation = [], []
    for run, fold in zip(options.runs, folds, strict=True):
        config, model = load_folder(run / "model")
        model = model.to(memory_format=torch.channels_last)
        cache = open_cache(records, options.data, config["preprocessing"], options.cache)
        on_folds.append(side_figures(config, model, cache, records, fold))
        validation = side_indices(records, run / "split.csv")
        on_validation.append(side_figures(config, model, cache, records, validation))
    result = {
        "folds": {"runs": on_folds, **summary(on_folds)},
        "validation": {"runs": on_validation, **summary(on_validation)},
    }
    print(json.dumps(rounded(result), indent=1))


if __name__ == "__main__":
    main()
