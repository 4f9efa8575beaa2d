"""When a model should not answer: measures of an image, a distance of its features, and a set of classes.

The definitions that the Swift engine reproduces; the constants are the `abstention` object of config.json and the
tensors `abstention.*` of model.safetensors.
"""

import numpy as np

BLOCK = 20  # pixels of a side of the blocks whose means show the coarse structure
GREENER = 8  # levels by which green exceeds red in a pixel that counts as green
REASONS = [
    "solid_color", "underexposed", "overexposed", "low_contrast", "no_lesion", "unlike_skin", "blurred",
    "out_of_distribution",
]  # fmt: skip
WARNING_REASONS = {"solid_color": "solid_color", "near_black": "underexposed"}
ROUNDING = (77**2 + 150**2 + 29**2) / 2  # what rounding to whole levels adds to the square of a second difference


def differences(luma, step):
    """Mean square of the second differences of `luma` [H, W] over `step` pixels, along rows and columns, without what
    rounding adds."""
    across = 2 * luma[:, step:-step] - luma[:, : -2 * step] - luma[:, 2 * step :]
    down = 2 * luma[step:-step] - luma[: -2 * step] - luma[2 * step :]
    total = int((across * across).sum()) + int((down * down).sum())
    return max(total / (across.size + down.size) - ROUNDING, 0.0)


def without_plane(means):
    """`means` [B, B] less the plane that fits it best: light that falls off to one side is no structure."""
    position = np.arange(len(means)) - (len(means) - 1) / 2
    norm = (position * position).sum() * len(means)
    slopes = (means * position[None, :]).sum() / norm, (means * position[:, None]).sum() / norm
    return means - means.mean() - slopes[0] * position[None, :] - slopes[1] * position[:, None]


def measure(resized):
    """The measures of uint8 [size, size, 3] before colour constancy, by name.

    brightness: mean luma, 0...255. contrast: standard deviation of the means of blocks about their plane, of the
    channel where it is greatest. sharpness: second differences over 2 pixels against those over 8; close to
    0 where blur hides all detail. structure: the share of luma's variance that the means of blocks explain.
    green: the share of pixels that are greener than red, which skin through a dermatoscope hardly ever is.
    """
    pixels = resized.astype(np.int64)
    luma = 77 * pixels[..., 0] + 150 * pixels[..., 1] + 29 * pixels[..., 2]  # 0...65280
    count = resized.shape[0] // BLOCK
    blocks = np.concatenate([pixels, luma[..., None]], axis=2)[: count * BLOCK, : count * BLOCK]
    sums = blocks.reshape(count, BLOCK, count, BLOCK, 4).sum(axis=(1, 3))
    means = sums / (BLOCK * BLOCK)
    contrast = max(np.sqrt((without_plane(means[..., c]) ** 2).mean()) for c in range(3))
    coarse, fine = differences(luma, 8), differences(luma, 2)
    variance = ((luma - luma.mean()) ** 2).mean()
    between = ((means[..., 3] - means[..., 3].mean()) ** 2).mean()
    return {
        "brightness": luma.mean() / 256,
        "contrast": contrast,
        "sharpness": fine / coarse if coarse > 0 else 0.0,
        "structure": between / variance if variance > 0 else 0.0,
        "green": (pixels[..., 1] > pixels[..., 0] + GREENER).mean(),
    }


def quality_reasons(measures, limits):
    """Why an image of these measures should not be judged, in the order of results."""
    reasons = []
    if measures["brightness"] < limits["minimum_brightness"]:
        reasons.append("underexposed")
    if measures["brightness"] > limits["maximum_brightness"]:
        reasons.append("overexposed")
    stands_out = measures["contrast"] >= limits["minimum_contrast"]
    has_structure = measures["structure"] >= limits["minimum_structure"]
    if not stands_out:
        reasons.append("low_contrast")
    if not has_structure:
        reasons.append("no_lesion")
    if measures["green"] > limits.get("maximum_green", 1.0):
        reasons.append("unlike_skin")
    # Without something to see there is nothing that could be sharp.
    if stands_out and has_structure and measures["sharpness"] < limits["minimum_sharpness"]:
        reasons.append("blurred")
    return reasons


def result_reasons(warnings, measures, distance, settings):
    """Every reason of a result, in its order: from the preprocessing's warnings, and by the `abstention` object."""
    reasons = [WARNING_REASONS[warning] for warning in warnings if warning in WARNING_REASONS]
    reasons += quality_reasons(measures, settings["quality"])
    if distance > settings["distance"]["threshold"]:
        reasons.append("out_of_distribution")
    return [reason for reason in REASONS if reason in reasons]


def distances(features, means, whitening):
    """Squared Mahalanobis distance float64 [N] of features [N, C] to the nearest class, per dimension.

    means [classes, C]; whitening [C, C] takes differences to where their covariance within classes is the identity.
    The features are the means of a map in the middle of the network, which still shows what an image is made of; the
    last map tells the classes apart and is blind to much else.
    """
    whitening = whitening.astype(np.float64)
    whitened, whitened_means = features.astype(np.float64) @ whitening.T, means.astype(np.float64) @ whitening.T
    squares = ((whitened[:, None] - whitened_means[None]) ** 2).sum(2)
    return squares.min(1) / features.shape[1]


def conformal_sets(probabilities, thresholds):
    """bool [N, classes]: classes whose probability reaches their threshold, and always the likeliest."""
    sets = probabilities >= np.asarray(thresholds)
    sets[np.arange(len(sets)), probabilities.argmax(1)] = True
    return sets
