"""Evaluates a model folder on the validation lesions, through the full preprocessing, and calibrates it.

Validation photographs are looked at four ways: with their metadata, without any, with the metadata but shrunk to
150 pixels first so that all are equally blurred, and by the folder that they came from. What is cross-fitted
(calibrated on four fifths of the lesions for the last fifth) is the mean over several ways of dealing them out. With
--write, the temperature and a bias for each class go into the model, the figures into its config.json and, all of
them, into <model>/training/figures.json, with the reliability diagram beside them. A model that was calibrated is not
calibrated again: its bias would be fitted on top of its own.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from calibration import DEALS, cross_fitted, fit_calibration
from dataset import ORIGINALS, open_cache, read_records, side_indices
from inference import head_logits, pooled_features
from metadata import encode_metadata
from metrics import figures, mean_figures, rounded, softmax
from model_config import CLASSES, write_config
from model_folder import load_folder, model_identity, write_weights
from plots import reliability_diagram

SMALLEST_COPY = 150  # pixels of the smallest copies of photographs in the data


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
    """(all figures, cross-fitted probabilities [DEALS, N, 7]) of validation records from pooled features, as they are
    and shrunk."""
    labels = np.array([record.label for record in records])
    lesions = [record.lesion_id for record in records]
    originals = np.array([record.folder == ORIGINALS for record in records])
    known = torch.from_numpy(np.stack([record.metadata for record in records]))
    missing = torch.from_numpy(encode_metadata()[0]).expand(len(records), 4)

    logits = head_logits(model, pooled, known)
    bias, temperature = fit_calibration(logits, labels)
    temperature = round(temperature, 4)
    calibrated = np.stack([cross_fitted(logits, labels, lesions, deal) for deal in range(DEALS)])

    def cross_fitted_figures(kept):
        return mean_figures([figures(probabilities[kept], labels[kept]) for probabilities in calibrated])

    groups = {"originals_600x450": originals, "other_copies": ~originals}
    result = rounded(
        {
            "temperature": temperature,
            "bias": dict(zip(CLASSES, map(float, bias))),
            "calibrated": cross_fitted_figures(np.ones(len(labels), bool)),
            "as_trained": figures(softmax(logits), labels),
            "image_alone": figures(softmax((head_logits(model, pooled, missing) + bias) / temperature), labels),
            "shrunk_to_150_pixels": figures(softmax((head_logits(model, blurred, known) + bias) / temperature), labels),
            **{name: cross_fitted_figures(kept) for name, kept in groups.items() if kept.any()},
        }
    )
    return result, calibrated


def add_bias(folder, bias):
    """Adds `bias` to that of the last layer, in model.safetensors."""
    tensors = load_file(folder / "model.safetensors")
    name = "fusion.classifier.bias" if "fusion.classifier.bias" in tensors else "classifier.bias"
    tensors[name] = (tensors[name].double() + torch.tensor(bias, dtype=torch.float64)).to(tensors[name].dtype)
    write_weights(folder, tensors)


def write_figures(folder, config, result):
    """Puts the calibration into config.json and model.safetensors, and the figures into config.json and
    training/figures.json."""
    add_bias(folder, list(result["bias"].values()))
    config["temperature"] = result["temperature"]
    config["training"]["validation"] = result["calibrated"]
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
