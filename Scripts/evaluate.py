"""Evaluates a model folder on the validation lesions, through the full preprocessing, and fits its temperature.

Validation photographs are looked at four ways: with their metadata, without any, with the metadata but shrunk to
150 pixels first so that all are equally blurred, and by the folder that they came from. With --write, the
temperature and the figures go into the model's config.json, and all figures into <model>/training/figures.json.
"""

import argparse
import csv
import json
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from dataset import open_cache, read_records
from export_model import load_folder, model_identity
from metadata import encode_metadata
from metrics import figures, softmax
from model_config import write_config
from preprocessing import normalize

SMALLEST_COPY = 150  # pixels of the smallest copies of photographs in the data
BATCH = 8
TEMPERATURES = np.exp(np.linspace(np.log(0.4), np.log(2.5), 181))


def validation_indices(records, split):
    """Indices of the records on the validation side of split.csv."""
    with open(split, newline="") as file:
        kept = {row["image_id"] for row in csv.DictReader(file) if row["split"] == "validation"}
    return [i for i, record in enumerate(records) if record.image_id in kept]


def shrink_and_enlarge(image, size):
    """uint8 [S, S, 3] as if it had come at `size` pixels."""
    small = Image.fromarray(image).resize((size, size), Image.Resampling.BILINEAR)
    return np.asarray(small.resize((image.shape[1], image.shape[0]), Image.Resampling.BILINEAR))


def pooled_features(config, model, images, shrink_to=None):
    """Pooled image features float32 [N, C] of constancy-stage images."""
    mean, std = config["preprocessing"]["mean"], config["preprocessing"]["std"]
    pooled = []
    for start in range(0, len(images), BATCH):
        batch = images[start : start + BATCH]
        if shrink_to is not None:
            batch = [shrink_and_enlarge(image, shrink_to) for image in batch]
        pixels = torch.from_numpy(np.stack([normalize(image, mean, std) for image in batch]))
        with torch.inference_mode():
            pooled.append(model.features(pixels.contiguous(memory_format=torch.channels_last)).mean((2, 3)))
    return torch.cat(pooled)


def head_logits(model, pooled, metadata):
    """Logits float64 [N, classes] of pooled features and, with a fusion head, metadata float32 [N, 4]."""
    with torch.inference_mode():
        logits = model.fusion(pooled, metadata) if model.has_fusion else model.classifier(pooled)
    return logits.double().numpy()


def fit_temperature(logits, labels):
    """The temperature with the least negative log-likelihood."""
    losses = []
    for temperature in TEMPERATURES:
        probabilities = softmax(logits / temperature)
        losses.append(-np.log(probabilities[np.arange(len(labels)), labels] + 1e-12).mean())
    return float(TEMPERATURES[int(np.argmin(losses))])


def cross_fitted(logits, labels, lesions):
    """Probabilities of each half of the lesions under the temperature fitted on the other half."""
    order = {lesion: i for i, lesion in enumerate(sorted(set(lesions)))}
    half = np.array([order[lesion] % 2 for lesion in lesions])
    probabilities = np.empty_like(logits)
    for side in (0, 1):
        temperature = fit_temperature(logits[half != side], labels[half != side])
        probabilities[half == side] = softmax(logits[half == side] / temperature)
    return probabilities


def rounded(value):
    """Figures to four places, however nested."""
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    return round(value, 4) if isinstance(value, float) else value


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
    """All figures of validation records from their pooled features, as they are and after shrinking."""
    labels = np.array([record.label for record in records])
    lesions = [record.lesion_id for record in records]
    originals = np.array([record.folder == "full600x450" for record in records])
    known = torch.from_numpy(np.stack([record.metadata for record in records]))
    missing = torch.from_numpy(encode_metadata()[0]).expand(len(records), 4)

    logits = head_logits(model, pooled, known)
    temperature = round(fit_temperature(logits, labels), 4)
    calibrated = cross_fitted(logits, labels, lesions)
    return rounded(
        {
            "temperature": temperature,
            "cross_fitted_temperature": figures(calibrated, labels),
            "temperature_1": figures(softmax(logits), labels),
            "image_alone": figures(softmax(head_logits(model, pooled, missing) / temperature), labels),
            "shrunk_to_150_pixels": figures(softmax(head_logits(model, blurred, known) / temperature), labels),
            "originals_600x450": figures(calibrated[originals], labels[originals]),
            "other_copies": figures(calibrated[~originals], labels[~originals]),
        }
    )


def write_figures(folder, config, result):
    """Puts the temperature and the main figures into config.json, and all of them into training/figures.json."""
    config["temperature"] = result["temperature"]
    config["training"]["validation"] = result["cross_fitted_temperature"]
    write_config(folder, config)
    (folder / "training").mkdir(exist_ok=True)
    (folder / "training" / "figures.json").write_text(json.dumps(result, indent=1) + "\n")


def main():
    options = validation_parser(__doc__).parse_args()
    torch.set_num_threads(options.threads)
    config, model = load_folder(options.model)
    model = model.to(memory_format=torch.channels_last)
    records = read_records(options.data)
    cache = open_cache(records, options.data, config["preprocessing"], options.cache)
    indices = validation_indices(records, options.split)
    images = [cache[i] for i in indices]
    pooled = pooled_features(config, model, images)
    blurred = pooled_features(config, model, images, SMALLEST_COPY)
    result = judge(model, [records[i] for i in indices], pooled, blurred)
    print(json.dumps(result, indent=1))
    if options.write:
        write_figures(options.model, config, result)
        print(f"sha256 {model_identity(options.model)}")


if __name__ == "__main__":
    main()
