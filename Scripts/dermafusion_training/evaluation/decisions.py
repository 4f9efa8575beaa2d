"""Figures of decisions on probabilities: by class shares, by melanoma's probability, by the risk."""

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from dermafusion_training.evaluation.metrics import MELANOMA
from dermafusion_training.model.config import CLASSES

MALIGNANT = [CLASSES.index(name) for name in ("mel", "bcc")]
MALIGNANT_OR_BEFORE = [*MALIGNANT, CLASSES.index("akiec")]
HIGH, MODERATE = 0.30, 0.10  # the program's risk, see OUTPUT.md
THRESHOLDS = (0.10, 0.30)  # of melanoma's probability
SENSITIVITY = 0.95


def balanced_decision(probabilities, labels, shares):
    """Mean recall of the classes that occur, when the class is that of the largest probability divided by its share."""
    right = (probabilities / shares).argmax(axis=1) == labels
    return float(np.mean([right[labels == label].mean() for label in np.unique(labels)]))


def melanoma_points(probabilities, labels):
    """Sensitivity and specificity of thresholds on melanoma's probability, the last at a sensitivity of 95 %."""
    melanoma, score = labels == MELANOMA, probabilities[:, MELANOMA]
    points = [
        {
            "threshold": threshold,
            "sensitivity": float((score[melanoma] >= threshold).mean()),
            "specificity": float((score[~melanoma] < threshold).mean()),
        }
        for threshold in THRESHOLDS
    ]
    false_positive_rate, true_positive_rate, thresholds = roc_curve(melanoma, score, drop_intermediate=False)
    point = int(np.argmax(true_positive_rate >= SENSITIVITY))
    last = {
        "threshold": float(thresholds[point]),
        "sensitivity": float(true_positive_rate[point]),
        "specificity": float(1 - false_positive_rate[point]),
    }
    return [*points, last]


def risk_shares(probabilities, labels):
    """The share of melanomas at low risk, and of lesions neither malignant nor before it at more than low."""
    high = probabilities[:, MALIGNANT].max(axis=1) >= HIGH
    low = ~(high | (probabilities[:, MALIGNANT_OR_BEFORE].max(axis=1) >= MODERATE))
    harmless = ~np.isin(labels, MALIGNANT_OR_BEFORE)
    return {
        "melanomas_at_low_risk": float(low[labels == MELANOMA].mean()),
        "harmless_above": float((~low)[harmless].mean()),
    }


def decision_figures(probabilities, labels, shares):
    """All of them; those of melanoma only where there are some, and something else."""
    result = {"balanced_decision": balanced_decision(probabilities, labels, shares)}
    if 0 < (labels == MELANOMA).sum() < len(labels):
        points = dict(zip(("at_0.10", "at_0.30", "at_95_sensitivity"), melanoma_points(probabilities, labels)))
        result |= {
            "melanoma_auroc": float(roc_auc_score(labels == MELANOMA, probabilities[:, MELANOMA])),
            "melanoma_points": points,
            "risk": risk_shares(probabilities, labels),
        }
    return result
