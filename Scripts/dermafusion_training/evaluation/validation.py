"""A model folder's figures on its validation photographs, its calibration and its reliability diagram."""

import json

import matplotlib
import numpy as np
import torch
from safetensors.torch import load_file

from dermafusion_training.data.dataset import HAM10000, open_cache, read_records, side_indices
from dermafusion_training.data.metadata import encode_metadata
from dermafusion_training.evaluation.calibration import DEALS, MISSED_MELANOMA, cross_fitted, fit_calibration
from dermafusion_training.evaluation.comparison import SEED, interval, resampled
from dermafusion_training.evaluation.decisions import decision_figures
from dermafusion_training.evaluation.inference import head_logits, pooled_features
from dermafusion_training.evaluation.metrics import (
    calibration_bins,
    expected_calibration_error,
    figures,
    mean_figures,
    rounded,
    softmax,
)
from dermafusion_training.model.config import CLASSES, write_config
from dermafusion_training.model.folder import last_layer, load_folder, model_identity, write_digests, write_weights

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

SMALLEST_COPY = 150  # pixels of the smallest copies of photographs in the data
RESAMPLES = 300  # for intervals
BLUE, GREY = "#0072b2", "#999999"


def by_path(figures, path=()):
    """Yields (names joined by dots, number) of nested figures."""
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from by_path(value, (*path, name))
        elif value is not None:
            yield ".".join((*path, name)), value


def intervals(measure, lesions):
    """{figure: [low, high]} of `measure`, which takes places in `lesions`, when lesions are drawn with replacement;
    without figures that some drawing does not have."""
    drawn = [dict(by_path(measure(places))) for places in resampled(lesions, RESAMPLES, SEED)]
    names = [name for name in drawn[0] if all(name in figures for figures in drawn)]
    return {name: interval([figures[name] for figures in drawn]) for name in names}


def judge(model, records, pooled, blurred, melanoma_weight=MISSED_MELANOMA):
    """(all figures, cross-fitted probabilities [DEALS, N, 7] of HAM10000) of validation records, from their pooled
    features as they are and, of HAM10000's, shrunk.

    The calibration is fitted on HAM10000's lesions alone: its classes are as frequent as they are among the lesions
    that the model is for. Photographs of other sources have no part in it.
    """
    labels = np.array([record.label for record in records])
    sources = np.array([record.source for record in records])
    known = torch.from_numpy(np.stack([record.metadata for record in records]))
    missing = torch.from_numpy(encode_metadata()[0]).expand(len(records), 4)
    fitted = sources == HAM10000
    shares = np.bincount(labels[fitted], minlength=len(CLASSES)) / fitted.sum()

    def measure(probabilities, kept):
        of_kept = labels[kept]
        return figures(probabilities, of_kept) | decision_figures(probabilities, of_kept, shares)

    logits, alone = head_logits(model, pooled, known), head_logits(model, pooled, missing)
    shrunk = head_logits(model, blurred, known[fitted])
    bias, temperature = fit_calibration(logits[fitted], labels[fitted], melanoma_weight=melanoma_weight)
    temperature = round(temperature, 4)
    lesions = np.array([record.lesion_id for record in records])
    own = logits[fitted], labels[fitted], list(lesions[fitted])
    calibrated = np.stack([cross_fitted(*own, deal, melanoma_weight) for deal in range(DEALS)])

    def probabilities_of(values, kept):
        return softmax((values[kept] + bias) / temperature)

    result = {
        "melanoma_weight": melanoma_weight,
        "temperature": temperature,
        "bias": dict(zip(CLASSES, map(float, bias))),
        "calibrated": mean_figures([measure(probabilities, fitted) for probabilities in calibrated]),
        "as_trained": measure(softmax(logits[fitted]), fitted),
        "image_alone": measure(probabilities_of(alone, fitted), fitted),
        "shrunk_to_150_pixels": measure(softmax((shrunk + bias) / temperature), fitted),
        "other_sources": {},
        "intervals": {},
    }
    for source in sorted(set(sources) - {HAM10000}):
        kept = sources == source
        result["other_sources"][source] = {
            "calibrated": measure(probabilities_of(logits, kept), kept),
            "image_alone": measure(probabilities_of(alone, kept), kept),
        }
    for source in sorted(set(sources)):
        kept = np.flatnonzero(sources == source)
        result["intervals"][source] = intervals(
            lambda places: measure(probabilities_of(logits, kept[places]), kept[places]), lesions[kept]
        )
    return rounded(result), calibrated


def earlier_bias(folder, config):
    """The bias that an earlier calibration added to each class, float64 [classes]; 0 for a model without one."""
    if "validation" not in config["training"]:
        return np.zeros(len(CLASSES))
    bias = json.loads((folder / "training" / "figures.json").read_text())["bias"]
    return np.array([bias[name] for name in CLASSES])


def add_bias(folder, bias):
    """Adds `bias` to that of the last layer, in model.safetensors."""
    tensors = load_file(folder / "model.safetensors")
    name = f"{last_layer(tensors)}.bias"
    tensors[name] = (tensors[name].double() + torch.tensor(bias, dtype=torch.float64)).to(tensors[name].dtype)
    write_weights(folder, tensors)


def write_figures(folder, config, result, earlier):
    """Puts the calibration in place of the earlier one into config.json and model.safetensors, and the figures into
    config.json and training/figures.json."""
    add_bias(folder, np.array(list(result["bias"].values())) - earlier)
    config["temperature"] = result["temperature"]
    config["training"]["validation"] = result["calibrated"]
    write_config(folder, config)
    write_digests(folder)
    (folder / "training").mkdir(exist_ok=True)
    (folder / "training" / "figures.json").write_text(json.dumps(result, indent=1) + "\n")


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


def evaluate(options):
    """Runs the evaluation that the options of `evaluate` describe."""
    torch.set_num_threads(options.threads)
    config, model = load_folder(options.model)
    earlier = earlier_bias(options.model, config)
    with torch.no_grad():
        model.get_submodule(last_layer(model.state_dict())).bias -= torch.from_numpy(earlier)
    model = model.to(memory_format=torch.channels_last)
    records = read_records(options.data)
    cache = open_cache(records, options.data, config["preprocessing"], options.cache)
    indices = side_indices(records, options.split)
    held = [records[i] for i in indices]
    pooled = pooled_features(config, model, [cache[i] for i in indices])
    ours = [i for i in indices if records[i].source == HAM10000]
    blurred = pooled_features(config, model, [cache[i] for i in ours], SMALLEST_COPY)
    result, calibrated = judge(model, held, pooled, blurred, options.melanoma_weight)
    print(json.dumps(result, indent=1))
    if options.write:
        write_figures(options.model, config, result, earlier)
        labels = np.array([record.label for record in held if record.source == HAM10000])
        reliability_diagram(options.model / "training" / "reliability.png", calibrated, labels)
        print(f"sha256 {model_identity(options.model)}")
