"""Pictures of a model's figures."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from metrics import calibration_bins, expected_calibration_error

BLUE, GREY = "#0072b2", "#999999"


def reliability_diagram(path, calibrated, labels):
    """Writes a PNG: how often the first class was right against how sure the model was, and how many photographs that
    rests on, by `calibrated`, the probabilities [K, N, 7] of the same photographs under K calibrations."""
    bins = calibration_bins(np.concatenate(calibrated), np.tile(labels, len(calibrated)))
    confidence = [b.confidence for b in bins]
    figure, (diagram, counts) = plt.subplots(
        2, 1, figsize=(5, 6.2), dpi=120, sharex=True, height_ratios=(4, 1), layout="constrained"
    )
    diagram.plot([0, 1], [0, 1], "--", color=GREY, label="as sure as right")
    diagram.plot(confidence, [b.accuracy for b in bins], "o-", color=BLUE, label="validation photographs")
    diagram.set(xlim=(0, 1), ylim=(0, 1), ylabel="share that is right")
    error = np.mean([expected_calibration_error(probabilities, labels) for probabilities in calibrated])
    diagram.set_title(
        f"{len(labels)} photographs, mean of {len(calibrated)} cross-fitted calibrations:\n"
        f"expected calibration error {error:.3f}",
        fontsize=10,
    )
    diagram.legend(loc="upper left", frameon=False)
    counts.bar(confidence, [b.share * len(labels) for b in bins], width=0.04, color=BLUE)
    counts.set(xlabel="probability of the first class", ylabel="photographs")
    figure.savefig(path, metadata={"Software": None})
    plt.close(figure)
