"""Fits the probe that tells pictures that no dermatoscope took, and its limit.

It is a logistic regression on the means of the channels of two stages' last maps. It must learn a dermatoscope's optics
and not the cameras at hand, so it sees photographs of many sources, some also in views as other cameras give them.
"""

import csv
import json
import math
import sys
from pathlib import Path
from zlib import crc32

import numpy as np
import torch
from safetensors.torch import load_file
from scipy.optimize import minimize

from dermafusion_training.data.augmentation import augment_image
from dermafusion_training.data.dataset import SMALL_SOURCE, read_records, side_names
from dermafusion_training.data.preprocessing import color_constancy, crop_to_square, decode, normalize, resize
from dermafusion_training.evaluation.abstention_fit import SMALLEST_SOURCE
from dermafusion_training.evaluation.metrics import MELANOMA, rounded
from dermafusion_training.model.abstention import dermoscopy_scores
from dermafusion_training.model.config import write_config
from dermafusion_training.model.folder import (
    ABSTENTION_PREFIX,
    load_feature_space,
    load_folder,
    model_identity,
    write_digests,
    write_weights,
)

STAGES = (3, 4)
CLOSE_UPS = "close-ups"  # the source of photographs without a dermatoscope
PER_SOURCE = 1200  # training photographs of a source that are looked at
ZOOMS = 0.9, 2.0  # of the views as other cameras give them
SMALLEST_SHARE = 0.03  # of those views that show no more detail than 84 pixels a side
RIDGE = 0.003
FOLDS = 3
LOST = 0.01  # share of a source's photographs beyond the limit, at most, and of all melanomas
LOST_ELSEWHERE = 0.02  # the same of a source that is never trained on
NEVER_TRAINED_ON = "ph2"
BATCH = 8


def chance(name):
    """A number that a name always gets."""
    return crc32(name.encode())


class Picture:
    """A photograph: where it is, what it is and which side it is on."""

    def __init__(self, path, source, lesion, is_training, is_melanoma=False):
        self.path, self.source, self.is_training, self.is_melanoma = path, source, is_training, is_melanoma
        self.fold = chance(lesion) // FOLDS % FOLDS

    def name(self, is_changed):
        return f"{self.source}/{self.path.stem}/{'changed' if is_changed else 'as it is'}"


def read_pictures(data, split, close_ups):
    """The photographs through a dermatoscope, but for those of 84 pixels, which are refused as blurred; and close-ups,
    of which a fifth of the lesions are kept aside."""
    training, validation = side_names(split, "training"), side_names(split, "validation")
    pictures = []
    for record in read_records(data):
        if record.source != SMALL_SOURCE and record.image_id in training | validation:
            melanoma = record.label == MELANOMA
            is_training = record.image_id in training
            pictures.append(Picture(record.path(data), record.source, record.lesion_id, is_training, melanoma))
    paths = {path.stem: path for path in close_ups.rglob("*.jpg")}
    with open(close_ups / "metadata.csv", newline="") as file:
        for row in csv.DictReader(file):
            lesion, path = row["lesion_id"], paths[row["image_id"]]
            pictures.append(Picture(path, CLOSE_UPS, lesion, chance(lesion) % 5 != 0))
    return pictures


def wanted(pictures):
    """(picture, whether it is changed): those kept aside as they are, and PER_SOURCE of each source both ways."""
    chosen, count = [], {}
    for picture in sorted(pictures, key=lambda picture: chance(picture.path.stem)):
        if picture.is_training:
            count[picture.source] = count.get(picture.source, 0) + 1
            if picture.source != CLOSE_UPS and count[picture.source] > PER_SOURCE:
                continue
        chosen += [(picture, is_changed) for is_changed in (False, True) if picture.is_training or not is_changed]
    return chosen


def network_input(picture, is_changed, preprocessing):
    """float32 [3, S, S] of a photograph, or of a view of it as another camera may give it."""
    size, square = preprocessing["size"], crop_to_square(decode(picture.path))
    if is_changed:
        rng = np.random.default_rng(chance(picture.name(is_changed)))
        resized = augment_image(square, size, ZOOMS, rng, SMALLEST_SHARE).clip(0, 255).astype(np.uint8)
    else:
        resized = resize(square, size)
    constancy = color_constancy(resized, preprocessing["color_constancy"])[0]
    return normalize(constancy, preprocessing)


def stage_means(config, model, chosen, stages=STAGES):
    """float32 [N, C]: the means of the stages' channels of each picture."""
    rows = []
    for start in range(0, len(chosen), BATCH):
        batch = [network_input(*one, config["preprocessing"]) for one in chosen[start : start + BATCH]]
        with torch.inference_mode():
            x = model.stem(torch.from_numpy(np.stack(batch)).contiguous(memory_format=torch.channels_last))
            means = []
            for stage, (_, module) in enumerate(model.named_stages()[: max(stages) + 1]):
                x = module(x)
                if stage in stages:
                    means.append(x.mean((2, 3)))
        rows.append(torch.cat(means, 1).numpy())
        if start // BATCH % 50 == 0:
            print(f"{start + len(batch)} of {len(chosen)} pictures", file=sys.stderr, flush=True)
    return np.concatenate(rows)


def fit_probe(features, is_close_up, sources):
    """(weights float64 [C], bias) of a ridge logistic regression. Close-ups weigh as much as all others, and a source
    among these by the root of its size."""
    names, source = np.unique(sources, return_inverse=True)
    sizes = np.bincount(source, minlength=len(names))
    weights = 1 / np.sqrt(sizes)[source]
    for kind in (is_close_up, ~is_close_up):
        weights[kind] /= weights[kind].sum()
    mean, spread = features.mean(0), features.std(0) + 1e-6
    scaled = (features - mean) / spread
    signs = np.where(is_close_up, 1, -1)

    def loss_and_slope(place):
        margins = signs * (scaled @ place[1:] + place[0])
        slopes = -weights * signs / 2 / (1 + np.exp(margins.clip(-500, 500)))
        loss = (weights / 2 * np.logaddexp(0, -margins)).sum() + RIDGE / 2 * (place[1:] ** 2).sum()
        return loss, np.append(slopes.sum(), scaled.T @ slopes + RIDGE * place[1:])

    options = {"maxiter": 1000}
    place = minimize(loss_and_slope, np.zeros(features.shape[1] + 1), jac=True, method="L-BFGS-B", options=options).x
    return place[1:] / spread, float(place[0] - mean @ (place[1:] / spread))


def least_limit(scores, sources, melanomas, but=None):
    """The least limit that keeps the share of what each source, and of the melanomas, lies beyond it."""
    limits = [upper(scores[melanomas & (sources != but)], LOST)]
    for source in sorted(set(sources) - {CLOSE_UPS, but}):
        own = scores[sources == source]
        if len(own) >= SMALLEST_SOURCE:
            limits.append(upper(own, LOST_ELSEWHERE if source == NEVER_TRAINED_ON else LOST))
    return max(limits)


def upper(values, share):
    """The value that at most `share` of them lie above."""
    return float(np.sort(values)[::-1][int(share * len(values))])


class KeptProbe:
    """A folder's own probe and the limit that it needs: that of the folder, or the least above it that keeps the shares
    of the photographs kept aside. In 8 bits the means of a stage are others by some hundredths, and a photograph at the
    limit may lie beyond it."""

    def __init__(self, chosen, means, weights, limit):
        self.pictures = [picture for picture, _ in chosen]
        self.weights = weights
        self.scores = dermoscopy_scores(means, weights)
        self.sources = np.array([picture.source for picture in self.pictures])
        self.melanomas = np.array([picture.is_melanoma for picture in self.pictures])
        needed = least_limit(self.scores, self.sources, self.melanomas)
        self.threshold = max(limit, math.ceil(needed * 1e6) / 1e6)

    def report(self):
        held = np.ones(len(self.pictures), bool)
        return held_out(self.scores > self.threshold, held, self.sources, self.melanomas)


def shares(beyond, kept):
    return {"n": int(kept.sum()), "beyond": float(beyond[kept].mean())}


def held_out(beyond, held, sources, melanomas):
    """The shares beyond the limit of each source's photographs kept aside, and of the melanomas."""
    validation = {s: shares(beyond, held & (sources == s)) for s in sorted(set(sources[held]))}
    return {"validation": validation, "melanomas": shares(beyond, held & melanomas)}


class Fit:
    """The probe and its limit for these means, and what it was found to be worth."""

    def __init__(self, chosen, means):
        self.means = means.astype(np.float64)
        self.sources = np.array([picture.source for picture, _ in chosen])
        self.melanomas = np.array([picture.is_melanoma for picture, _ in chosen])
        self.changed = np.array([is_changed for _, is_changed in chosen])
        self.trained = np.array([picture.is_training for picture, _ in chosen])
        self.folds = np.array([picture.fold for picture, _ in chosen])
        self.close_ups = self.sources == CLOSE_UPS
        cross_fitted = np.empty(len(chosen))
        for fold in range(FOLDS):
            weights, bias = self.probe(self.folds != fold)
            cross_fitted[self.folds == fold] = self.means[self.folds == fold] @ weights + bias
        self.cross_fitted = cross_fitted
        weights, bias = self.probe(self.trained)
        self.weights = weights.astype(np.float32)
        # The score has no bias: it is in the limit.
        self.threshold = round(self.limit(cross_fitted) - bias, 6)
        self.scores = dermoscopy_scores(means, self.weights)

    def probe(self, kept):
        kept = kept & self.trained
        return fit_probe(self.means[kept], self.close_ups[kept], self.sources[kept])

    def limit(self, scores, but=None):
        kept = ~self.changed
        return least_limit(scores[kept], self.sources[kept], self.melanomas[kept], but)

    def report(self):
        """Shares beyond the limit: of photographs kept aside, of melanomas, and of each source where it is left out."""
        beyond, held = self.scores > self.threshold, ~self.trained & ~self.changed
        looked_at = {s: int((self.trained & (self.sources == s)).sum()) for s in sorted(set(self.sources))}
        report = {"looked_at": looked_at, **held_out(beyond, held, self.sources, self.melanomas), "left_out": {}}
        views = self.changed & self.close_ups
        if views.any():
            limit = self.limit(self.cross_fitted)
            others = self.changed & ~self.close_ups
            report["views"] = {
                CLOSE_UPS: shares(self.cross_fitted > limit, views),
                "through a dermatoscope": shares(self.cross_fitted > limit, others),
            }
        for source in sorted(set(self.sources) - {CLOSE_UPS}):
            own = (self.sources == source) & ~self.changed
            if own.sum() >= SMALLEST_SOURCE:
                weights, bias = self.probe(self.sources != source)
                scores = self.means @ weights + bias
                limit = self.limit(self.cross_fitted, source)
                report["left_out"][source] = shares(scores > limit, own)
        return report


def fit_dermoscopy(options):
    """Fits what the options of `fit-dermoscopy` describe."""
    torch.set_num_threads(options.threads)
    config, model = load_folder(options.model)
    if "abstention" not in config:
        sys.exit(f"{options.model}: has no limits yet; run fit-abstention --write first")
    if options.limit_only:
        origin = options.probe or options.model
        known = json.loads((origin / "config.json").read_text()).get("abstention", {}).get("dermoscopy")
        if known is None or known["stages"] != list(STAGES):
            sys.exit(f"{origin}: has no probe of the stages {list(STAGES)} whose limit could be fitted; see --probe")
    model = model.to(memory_format=torch.channels_last)
    pictures = read_pictures(options.data, options.split, options.close_ups)
    if not options.means.exists():
        chosen = [one for one in wanted(pictures) if not options.limit_only or not one[0].is_training]
        means = stage_means(config, model, chosen)
        options.means.parent.mkdir(parents=True, exist_ok=True)
        np.savez(options.means, names=[picture.name(changed) for picture, changed in chosen], means=means)
    kept = np.load(options.means)
    rows = {str(name): row for name, row in zip(kept["names"], kept["means"], strict=True)}
    both = [(picture, is_changed) for picture in pictures for is_changed in (False, True)]
    chosen = [one for one in both if one[0].name(one[1]) in rows]
    means = np.stack([rows[picture.name(changed)] for picture, changed in chosen])
    if options.limit_only:
        *_, weights = load_feature_space(origin)
        fit = KeptProbe(chosen, means, weights, known["threshold"])
    else:
        fit = Fit(chosen, means)
    report = rounded(fit.report())
    limit = {"stages": list(STAGES), "threshold": fit.threshold}
    print(json.dumps(report | {"config": limit}, indent=1))
    if options.write:
        tensors = load_file(options.model / "model.safetensors")
        tensors[f"{ABSTENTION_PREFIX}dermoscopy"] = torch.from_numpy(fit.weights)
        config["abstention"]["dermoscopy"] = limit
        write_weights(options.model, tensors)
        write_config(options.model, config)
        write_digests(options.model)
        path = options.model / "training" / "abstention.json"
        written = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(written | {"dermoscopy": report}, indent=1) + "\n")
        print(f"sha256 {model_identity(Path(options.model))}")
