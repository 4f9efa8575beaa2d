"""Fits the constants of abstention: limits of image quality, the distance of features, and conformal sets."""

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import floor

import numpy as np
import torch
from PIL import Image, ImageFilter, UnidentifiedImageError
from safetensors.torch import load_file
from sklearn.metrics import roc_auc_score

from dermafusion_training.data.dataset import HAM10000, SMALL_SOURCE, open_cache, read_records, side_indices
from dermafusion_training.data.preprocessing import color_constancy, crop_to_square, decode, resize
from dermafusion_training.evaluation.inference import head_logits, pooled_features, record_logits
from dermafusion_training.evaluation.metrics import rounded, softmax
from dermafusion_training.model.abstention import conformal_sets, distances, measure, quality_reasons
from dermafusion_training.model.config import CLASSES, write_config
from dermafusion_training.model.folder import (
    ABSTENTION_PREFIX,
    load_folder,
    model_identity,
    write_digests,
    write_weights,
)

COVERAGE = 0.9
FALSE_ALARMS = 0.01  # share of HAM10000's validation photographs beyond the distance's threshold, at most
OUTER_SHARE = 0.1  # of HAM10000's validation photographs; beyond them lie many of other cameras
FALSE_ALARMS_ELSEWHERE = 0.06  # the same of every other source, so that a rare camera is not refused wholesale
SMALLEST_SOURCE = 100  # validation photographs; fewer have no say in the threshold
QUALITY_LOSS = 0.01  # share of any such source beyond the extreme that a limit of quality is set by, at most
COLOR_LOSS = 0.005  # the same of each limit of colour
KEPT_LIMITS = ("minimum_sharpness", "minimum_color_variety", "minimum_warmth")
STAGE = 4  # whose features are looked at
SHRINKAGE = 0.01  # of the mean variance, added to that of every direction
PER_CLASS = 60  # training photographs of a class and source whose features are looked at
SPLITS = 100
ODD_COUNT = 60  # inputs of each odd kind
BLUR_SIGMA = 10  # pixels of the resized image
SEED = 2026


def resized_image(path, size):
    return resize(crop_to_square(decode(path)), size)


def is_picture(path):
    try:
        Image.open(path).close()
    except (UnidentifiedImageError, IsADirectoryError):
        return False
    return True


def measured(path, size):
    return measure(resized_image(path, size))


def by_source(values, sources):
    """(source, its values) of HAM10000 and of each other source that has a say."""
    for source in sorted(set(sources)):
        own = values[sources == source]
        if source == HAM10000 or len(own) >= SMALLEST_SOURCE:
            yield source, own


def lowest(values, sources, share):
    """The least value that leaves at most `share` of each source's photographs below it, or one of a small source.

    By each source: what is unusual for one camera is usual for another.
    """
    return float(min(np.sort(own)[int(share * len(own))] for _, own in by_source(values, sources)))


def quality_limits(rows, sources):
    """Limits a little beyond what nearly all photographs of each source have.

    Much room for brightness: skin darker than that of the photographs at hand is no bad exposure.
    """
    values = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    low = {
        name: lowest(values[name], sources, QUALITY_LOSS)
        for name in ("brightness", "contrast", "sharpness", "structure")
    }
    high = {name: -lowest(-values[name], sources, QUALITY_LOSS) for name in ("brightness", "green")}
    color = {name: lowest(values[name], sources, COLOR_LOSS) for name in ("color_variety", "warmth")}
    return {
        "minimum_brightness": round(0.5 * low["brightness"], 2),
        "maximum_brightness": round((255 + high["brightness"]) / 2, 2),
        "minimum_contrast": round(0.9 * low["contrast"], 3),
        "minimum_sharpness": round(0.95 * low["sharpness"], 5),
        "minimum_structure": round(0.9 * low["structure"], 4),
        "maximum_green": round(min(1.1 * high["green"], 1), 4),
        **{f"minimum_{name}": floor(value * 100) / 100 for name, value in color.items()},
    }


def feature_space(features, labels):
    """(means [classes, C], whitening [C, C]) of features float64 [N, C]."""
    means = np.stack([features[labels == label].mean(0) for label in range(labels.max() + 1)])
    centred = features - means[labels]
    variances, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    scales = 1 / np.sqrt(variances + SHRINKAGE * variances.mean())
    return means.astype(np.float32), np.ascontiguousarray((vectors * scales).T).astype(np.float32)


def conformal_thresholds(probabilities, labels):
    """Per class, the probability that its own photographs reach with COVERAGE; 0 where too few are known."""
    thresholds = []
    for label in range(probabilities.shape[1]):
        own = np.sort(probabilities[labels == label, label])
        # 1 - 0.9 is a little less than 0.1, and would lose one where the product is whole.
        allowed = int((1 - COVERAGE) * (len(own) + 1) + 1e-9)
        thresholds.append(float(own[allowed - 1]) if allowed >= 1 else 0.0)
    return thresholds


def cross_fitted_coverage(probabilities, labels, lesions):
    """Coverage and size of the sets on one half of the lesions, fitted on the other, over many halvings."""
    rng = np.random.default_rng(SEED)
    names, lesion = np.unique(lesions, return_inverse=True)
    coverage, sizes, by_class = [], [], []
    for _ in range(SPLITS):
        chosen = (rng.permutation(len(names)) < len(names) // 2)[lesion]
        sets = conformal_sets(probabilities[~chosen], conformal_thresholds(probabilities[chosen], labels[chosen]))
        inside = sets[np.arange(len(sets)), labels[~chosen]]
        coverage.append(inside.mean())
        sizes.append(sets.sum(1).mean())
        by_class.append(
            [
                inside[labels[~chosen] == c].mean() if (labels[~chosen] == c).any() else np.nan
                for c in range(len(CLASSES))
            ]
        )
    return {
        "coverage": float(np.mean(coverage)),
        "coverage_spread": float(np.std(coverage)),
        "mean_set_size": float(np.mean(sizes)),
        "coverage_by_class": [
            float(np.nanmean(column)) if not np.isnan(column).all() else None for column in np.transpose(by_class)
        ],
    }


def odd_inputs(paths, size, others):
    """Kind -> uint8 images [size, size, 3] that no model of lesions should judge."""
    rng = np.random.default_rng(SEED)
    skin = np.array([205, 160, 145])
    ramp = np.linspace(-0.5, 0.5, size)[:, None, None]

    def clipped(values):
        return values.clip(0, 255).astype(np.uint8)

    kinds = {
        "uniform_noise": [rng.integers(0, 256, (size, size, 3), np.uint8) for _ in range(ODD_COUNT)],
        "gaussian_noise": [clipped(rng.normal(skin, rng.uniform(10, 60), (size, size, 3))) for _ in range(ODD_COUNT)],
        "blank": [
            clipped(np.broadcast_to(rng.integers(0, 256, 3) + rng.uniform(0, 40) * ramp, (size, size, 3)))
            for _ in range(ODD_COUNT)
        ],
        "blurred": [
            np.asarray(Image.fromarray(resized_image(path, size)).filter(ImageFilter.GaussianBlur(BLUR_SIGMA)))
            for path in paths
        ],
    }
    if others:
        kinds["something_else"] = [resized_image(path, size) for path in sorted(others.iterdir()) if is_picture(path)]
    return kinds


def area_under_roc(positives, negatives):
    are_positive = np.repeat([True, False], [len(positives), len(negatives)])
    return float(roc_auc_score(are_positive, np.concatenate([positives, negatives])))


def drawn_for_space(records, training):
    """PER_CLASS photographs of each class and source, among those that the model was trained on.

    Evenly by source: a camera that is rare in the training must not count as unusual.
    """
    rng = np.random.default_rng(SEED)
    groups = {}
    for index in training:
        groups.setdefault((records[index].label, records[index].source), []).append(index)
    return sorted(int(i) for group in sorted(groups) for i in rng.permutation(groups[group])[:PER_CLASS])


def distance_threshold(inside, sources):
    """The smallest with at most FALSE_ALARMS of HAM10000 beyond it and FALSE_ALARMS_ELSEWHERE of any other source."""
    quantiles = []
    for source, own in by_source(inside, sources):
        share = FALSE_ALARMS if source == HAM10000 else FALSE_ALARMS_ELSEWHERE
        quantiles.append(float(np.quantile(own, 1 - share)))
    return max(quantiles)


def shares_flagged(by_quality, by_distance):
    return {
        "n": len(by_quality),
        "flagged_by_quality": float(by_quality.mean()),
        "flagged_by_distance": float(by_distance.mean()),
        "flagged": float((by_quality | by_distance).mean()),
    }


def write(folder, config, tensors, report):
    tensors_before = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in tensors_before.items() if not name.startswith(ABSTENTION_PREFIX)}
    added = {ABSTENTION_PREFIX + name: torch.from_numpy(array) for name, array in tensors.items()}
    write_weights(folder, kept | added)
    write_config(folder, config)
    write_digests(folder)
    (folder / "training").mkdir(exist_ok=True)
    (folder / "training" / "abstention.json").write_text(json.dumps(report, indent=1) + "\n")
    print(f"sha256 {model_identity(folder)}")


def fit_sets(probabilities, labels, lesions):
    """(the object `conformal` of config.json, what was measured) of HAM10000's validation photographs."""
    # Rounded down: a threshold above the probability that it was read off would leave that one out.
    thresholds = [floor(value * 1e6) / 1e6 for value in conformal_thresholds(probabilities, labels)]
    settings = {"coverage": COVERAGE, "thresholds": thresholds}
    return settings, rounded(cross_fitted_coverage(probabilities, labels, lesions))


def write_sets(folder, config, settings, report):
    """Puts refitted sets into config.json, and what was measured into training/abstention.json."""
    config["abstention"]["conformal"] = settings
    write_config(folder, config)
    write_digests(folder)
    path = folder / "training" / "abstention.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"conformal": report}, indent=1) + "\n")
    print(f"sha256 {model_identity(folder)}")


def fit_abstention(options):
    """Fits what the options of `fit-abstention` describe."""
    torch.set_num_threads(options.threads)
    config, model = load_folder(options.model)
    if "validation" not in config["training"]:
        sys.exit(f"{options.model}: not calibrated yet; run evaluate --write first")
    model = model.to(memory_format=torch.channels_last)
    size = config["preprocessing"]["size"]
    stage = min(STAGE, len(model.named_stages()) - 1)
    records = read_records(options.data)
    cache = open_cache(records, options.data, config["preprocessing"], options.cache)
    validation = side_indices(records, options.split)
    if options.sets:
        own = [i for i in validation if records[i].source == HAM10000]
        probabilities = softmax(record_logits(config, model, cache, records, own) / config["temperature"])
        labels = np.array([records[i].label for i in own])
        settings, report = fit_sets(probabilities, labels, [records[i].lesion_id for i in own])
        print(json.dumps(report | settings, indent=1))
        if options.write:
            write_sets(options.model, config, settings, report)
        return
    training = drawn_for_space(records, side_indices(records, options.split, "training"))
    held = [records[i] for i in validation]
    labels = np.array([record.label for record in held])

    looked_at = held + [records[i] for i in training]
    with ProcessPoolExecutor(options.threads) as pool:
        paths = [record.path(options.data) for record in looked_at]
        rows = list(pool.map(partial(measured, size=size), paths, chunksize=32))
    # Photographs of few pixels are refused as blurred, whatever else they are.
    large = np.array([record.source != SMALL_SOURCE for record in looked_at])
    limits = quality_limits(
        [row for row, is_large in zip(rows, large) if is_large], np.array([r.source for r in looked_at])[large]
    )
    if options.limits:
        earlier = load_folder(options.limits)[0]["abstention"]["quality"]
        limits |= {name: earlier[name] for name in KEPT_LIMITS}
    print(limits, flush=True)
    paths, rows, sources = paths[: len(held)], rows[: len(held)], np.array([record.source for record in held])

    def stage_features(images):
        return pooled_features(config, model, images, stage=stage).numpy()

    features = pooled_features(config, model, [cache[i] for i in validation])
    known = stage_features([cache[i] for i in training]).astype(np.float64)
    space = feature_space(known, np.array([records[i].label for i in training]))
    inside = distances(stage_features([cache[i] for i in validation]), *space)
    by_quality = np.array([bool(quality_reasons(row, limits)) for row in rows])
    # The distance changes nothing for photographs that the limits of quality leave out.
    threshold = distance_threshold(inside[~by_quality], sources[~by_quality])

    metadata = torch.from_numpy(np.stack([record.metadata for record in held]))
    probabilities = softmax(head_logits(model, features, metadata) / config["temperature"])
    ours = sources == HAM10000
    by_distance = inside > threshold
    outer_tenth = round(float(np.quantile(inside[ours & ~by_quality], 1 - OUTER_SHARE)), 6)
    sets, coverage = fit_sets(
        probabilities[ours], labels[ours], [record.lesion_id for record in held if record.source == HAM10000]
    )
    report = {
        "validation": {
            source: shares_flagged(by_quality[sources == source], by_distance[sources == source])
            | {"in_outer_tenth": float((inside > outer_tenth)[sources == source].mean())}
            for source in sorted(set(sources))
        },
        "conformal": coverage,
        "odd_inputs": {},
    }
    for kind, images in odd_inputs(paths[:: max(1, len(paths) // ODD_COUNT)], size, options.others).items():
        constancy = [color_constancy(image, config["preprocessing"]["color_constancy"])[0] for image in images]
        outside = distances(stage_features(constancy), *space)
        flagged = np.array([bool(quality_reasons(measure(image), limits)) for image in images])
        report["odd_inputs"][kind] = {
            "n": len(images),
            "found_by_quality": float(flagged.mean()),
            "found_by_distance": float((outside > threshold).mean()),
            "found": float((flagged | (outside > threshold)).mean()),
            "distance_auroc": area_under_roc(outside, inside),
        }
    config["abstention"] = {
        "quality": limits,
        "distance": {
            "stage": stage,
            "threshold": round(threshold, 6),
            "outer_tenth": outer_tenth,
        },
        "conformal": sets,
    }
    report = rounded(report)
    print(json.dumps(report | {"config": config["abstention"]}, indent=1))
    if options.write:
        write(options.model, config, dict(zip(("means", "whitening"), space)), report)
