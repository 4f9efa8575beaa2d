"""Figures of a classifier from its probabilities float64 [N, 7] and labels int [N]."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from dermafusion_training.model.config import CLASSES

MELANOMA = CLASSES.index("mel")
CALIBRATION_BINS = 15


def softmax(logits):
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class CalibrationBin:
    """Answers of about the same confidence: its mean, how many of them are right, and their share of all."""

    confidence: float
    accuracy: float
    share: float


def calibration_bins(probabilities, labels):
    """The bins of equal width that any answer falls into, by rising confidence."""
    confidence = probabilities.max(axis=1)
    correct = probabilities.argmax(axis=1) == labels
    bins = np.minimum((confidence * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    return [
        CalibrationBin(confidence[bins == b].mean(), correct[bins == b].mean(), (bins == b).mean())
        for b in range(CALIBRATION_BINS)
        if (bins == b).any()
    ]


def expected_calibration_error(probabilities, labels):
    """Mean gap between confidence and accuracy over the bins, weighted by their shares."""
    return float(sum(abs(b.accuracy - b.confidence) * b.share for b in calibration_bins(probabilities, labels)))


def per_class_recall(probabilities, labels):
    """Recall of each class that occurs."""
    predicted = probabilities.argmax(axis=1)
    return {name: float((predicted[labels == c] == c).mean()) for c, name in enumerate(CLASSES) if (labels == c).any()}


def rounded(value):
    """Figures to four places, however nested."""
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return round(value, 4) if isinstance(value, float) else value


def mean_figures(every):
    """The mean of what `figures` gave for several answers to the same photographs."""
    first = every[0]
    if isinstance(first, dict):
        return {name: mean_figures([one[name] for one in every]) for name in first}
    return first if first is None or isinstance(first, int) else float(np.mean(every))


def melanoma_sensitivity_at_90_specificity(probabilities, labels):
    """None without both a melanoma and something else."""
    if not 0 < (labels == MELANOMA).sum() < len(labels):
        return None
    # The default keeps the ends of points on one line, and the one at 10 % may lie between.
    false_positive_rate, true_positive_rate, _ = roc_curve(
        labels == MELANOMA, probabilities[:, MELANOMA], drop_intermediate=False
    )
    return float(true_positive_rate[false_positive_rate <= 0.10].max())


def figures(probabilities, labels):
    """All figures, ready for JSON; None where the labels allow none. AUROC is over the classes that occur."""
    recall = per_class_recall(probabilities, labels)
    aurocs = [
        roc_auc_score(labels == c, probabilities[:, c])
        for c in range(len(CLASSES))
        if 0 < (labels == c).sum() < len(labels)
    ]
    return {
        "n": len(labels),
        "accuracy": float((probabilities.argmax(axis=1) == labels).mean()),
        "balanced_accuracy": float(np.mean(list(recall.values()))),
        "macro_auroc": float(np.mean(aurocs)) if aurocs else None,
        "melanoma_sensitivity_at_90_specificity": melanoma_sensitivity_at_90_specificity(probabilities, labels),
        "ece": expected_calibration_error(probabilities, labels),
        "negative_log_likelihood": float(-np.log(probabilities[np.arange(len(labels)), labels] + 1e-12).mean()),
        "recall": recall,
        "count": {name: int((labels == c).sum()) for c, name in enumerate(CLASSES)},
    }
