"""Evaluates a model folder on the validation lesions, through the full preprocessing, and calibrates it.

Validation photographs are looked at four ways: with their metadata, without any, with the metadata but shrunk to
150 pixels first so that all are equally blurred, and by the folder that they came from. With --write, the
temperature and a bias for each class go into the model, the figures into its config.json and, all of them, into
<model>/training/figures.json, with the reliability diagram beside them. What fit_abstention.py had put there goes, for
it holds for other probabilities. A model that was calibrated is not calibrated again: its bias would be fitted on top
of its own.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file
from scipy.optimize import minimize

from dataset import open_cache, read_records, side_names
from export_model import ABSTENTION_PREFIX, load_folder, model_identity, write_weights
from metadata import encode_metadata
from metrics import figures, rounded, softmax
from model_config import CLASSES, write_config
from plots import reliability_diagram
from preprocessing import normalize

SMALLEST_COPY = 150  # pixels of the smallest copies of photographs in the data
BATCH = 8
TEMPERATURES = np.exp(np.linspace(np.log(0.4), np.log(2.5), 181))
WORTH_FITTING = 0.002  # of negative log-likelihood; less is noise on a thousand lesions
EVENNESS = 0.25  # 0: every photograph weighs the same; 1: every class does
SMALL_BIAS = 0.02  # weight of the biases' mean square
FOLDS = 5


def side_indices(records, split, side="validation"):
    """Indices of the records on one side of split.csv."""
    kept = side_names(split, side)
    return [i for i, record in enumerate(records) if record.image_id in kept]


def shrink_and_enlarge(image, size):
    """uint8 [S, S, 3] as if it had come at `size` pixels."""
    small = Image.fromarray(image).resize((size, size), Image.Resampling.BILINEAR)
    return np.asarray(small.resize((image.shape[1], image.shape[0]), Image.Resampling.BILINEAR))


def pooled_features(config, model, images, shrink_to=None, stage=None):
    """Means float32 [N, C] of the last map, or of the map at the end of a stage, of constancy-stage images."""
    mean, std = config["preprocessing"]["mean"], config["preprocessing"]["std"]
    pooled = []
    for start in range(0, len(images), BATCH):
        batch = images[start : start + BATCH]
        if shrink_to is not None:
            batch = [shrink_and_enlarge(image, shrink_to) for image in batch]
        pixels = torch.from_numpy(np.stack([normalize(image, mean, std) for image in batch]))
        with torch.inference_mode():
            pixels = pixels.contiguous(memory_format=torch.channels_last)
            feature_map = model.features(pixels) if stage is None else model.stage_output(pixels, stage)
            pooled.append(feature_map.mean((2, 3)))
    return torch.cat(pooled)


def head_logits(model, pooled, metadata):
    """Logits float64 [N, classes] of pooled features and, with a fusion head, metadata float32 [N, 4]."""
    with torch.inference_mode():
        logits = model.fusion(pooled, metadata) if model.has_fusion else model.classifier(pooled)
    return logits.double().numpy()


def fit_temperature(logits, labels):
    """The temperature with the least negative log-likelihood; 1 where none lowers it by more than WORTH_FITTING."""
    losses = []
    for temperature in TEMPERATURES:
        probabilities = softmax(logits / temperature)
        losses.append(-np.log(probabilities[np.arange(len(labels)), labels] + 1e-12).mean())
    best = int(np.argmin(losses))
    at_one = int(np.argmin(abs(TEMPERATURES - 1)))
    return float(TEMPERATURES[best]) if losses[at_one] - losses[best] > WORTH_FITTING else 1.0


def fit_bias(logits, labels):
    """What to add to each class's logit, float64 [classes], adding up to 0.

    The least negative log-likelihood, in which a class weighs less than its photographs are many (EVENNESS) so that the
    rare ones are not given up for it, and which prefers small values.
    """
    sizes = np.maximum(np.bincount(labels, minlength=logits.shape[1]), 1)
    weights = (sizes**-EVENNESS)[labels]
    weights /= weights.mean()

    def loss(bias):
        of_label = softmax(logits + bias)[np.arange(len(labels)), labels]
        return -(weights * np.log(of_label + 1e-12)).mean() + SMALL_BIAS * (bias**2).mean()

    bias = minimize(loss, np.zeros(logits.shape[1])).x
    return bias - bias.mean()


def fit_calibration(logits, labels):
    """(bias [classes], temperature): probabilities are softmax((logits + bias) / temperature)."""
    bias = fit_bias(logits, labels)
    return bias, fit_temperature(logits + bias, labels)


def cross_fitted(logits, labels, lesions):
    """Probabilities of each fold of the lesions under the calibration fitted on the others."""
    order = {lesion: i for i, lesion in enumerate(sorted(set(lesions)))}
    fold = np.array([order[lesion] % FOLDS for lesion in lesions])
    probabilities = np.empty_like(logits)
    for held in range(FOLDS):
        bias, temperature = fit_calibration(logits[fold != held], labels[fold != held])
        probabilities[fold == held] = softmax((logits[fold == held] + bias) / temperature)
    return probabilities


def validation_parser(description):
    """The options of a script that looks at a model folder's validation photographs, and may write into it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="HAM10000's folder, with metadata.csv")
    parser.add_argument("--cache", type=Path, required=True, help="where preprocessed photographs are, or go")
    parser.add_argument("--split", type=Path, required=True, help="split.csv of the training run")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    return parser


def judge(model, records, pooled, blurred):
    """(all figures, calibrated probabilities) of validation records from pooled features, as they are and shrunk."""
    labels = np.array([record.label for record in records])
    lesions = [record.lesion_id for record in records]
    originals = np.array([record.folder == "full600x450" for record in records])
    known = torch.from_numpy(np.stack([record.metadata for record in records]))
    missing = torch.from_numpy(encode_metadata()[0]).expand(len(records), 4)

    logits = head_logits(model, pooled, known)
    bias, temperature = fit_calibration(logits, labels)
    temperature = round(temperature, 4)
    calibrated = cross_fitted(logits, labels, lesions)
    groups = {"originals_600x450": originals, "other_copies": ~originals}
    result = rounded(
        {
            "temperature": temperature,
            "bias": dict(zip(CLASSES, map(float, bias))),
            "calibrated": figures(calibrated, labels),
            "as_trained": figures(softmax(logits), labels),
            "image_alone": figures(softmax((head_logits(model, pooled, missing) + bias) / temperature), labels),
            "shrunk_to_150_pixels": figures(softmax((head_logits(model, blurred, known) + bias) / temperature), labels),
            **{name: figures(calibrated[kept], labels[kept]) for name, kept in groups.items() if kept.any()},
        }
    )
    return result, calibrated


def add_bias(folder, bias):
    """Adds `bias` to that of the last layer, in model.safetensors, and leaves the network's own tensors only."""
    tensors = load_file(folder / "model.safetensors")
    tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith(ABSTENTION_PREFIX)}
    name = "fusion.classifier.bias" if "fusion.classifier.bias" in tensors else "classifier.bias"
    tensors[name] = (tensors[name].double() + torch.tensor(bias, dtype=torch.float64)).to(tensors[name].dtype)
    write_weights(folder, tensors)


def write_figures(folder, config, result):
    """Puts the calibration into config.json and model.safetensors, and the figures into config.json and
    training/figures.json."""
    add_bias(folder, list(result["bias"].values()))
    config["temperature"] = result["temperature"]
    config["training"]["validation"] = result["calibrated"]
    config.pop("abstention", None)
    write_config(folder, config)
    (folder / "training").mkdir(exist_ok=True)
    (folder / "training" / "figures.json").write_text(json.dumps(result, indent=1) + "\n")


def main():
    options = validation_parser(__doc__).parse_args()
    torch.set_num_threads(options.threads)
    config, model = load_folder(options.model)
    if options.write and "validation" in config["training"]:
        sys.exit(f"{options.model}: calibrated already; export its checkpoint again and calibrate that")
    model = model.to(memory_format=torch.channels_last)
    records = read_records(options.data)
    cache = open_cache(records, options.data, config["preprocessing"], options.cache)
    indices = side_indices(records, options.split)
    images = [cache[i] for i in indices]
    pooled = pooled_features(config, model, images)
    blurred = pooled_features(config, model, images, SMALLEST_COPY)
    held = [records[i] for i in indices]
    result, calibrated = judge(model, held, pooled, blurred)
    print(json.dumps(result, indent=1))
    if options.write:
        write_figures(options.model, config, result)
        labels = np.array([record.label for record in held])
        reliability_diagram(options.model / "training" / "reliability.png", calibrated, labels)
        print(f"sha256 {model_identity(options.model)}")


if __name__ == "__main__":
    main()
