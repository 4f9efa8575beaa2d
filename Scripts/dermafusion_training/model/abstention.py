"""When a model should not answer: measures of an image, a distance of its features, and a set of classes.

The definitions that the Swift engine reproduces; the constants are the `abstention` object of config.json and the
tensors `abstention.*` of model.safetensors.
"""

from math import inf, sqrt

import numpy as np

BLOCK = 20  # pixels of a side of the blocks whose means show the coarse structure
SOFTENING = 5  # levels added to luma's standard deviation: rounding makes some variety in a picture without contrast
DARK_SHARE = 1000  # one pixel in so many is among the darkest
MEAN_WEIGHT = 4  # how much the mean colour counts against the contrast
GREENER = 8  # levels by which green exceeds red in a pixel that counts as green
REASONS = [
    "solid_color", "underexposed", "overexposed", "low_contrast", "no_lesion", "unlike_skin", "unusual_color",
    "blurred", "not_dermoscopic", "out_of_distribution",
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


def color_variety(pixels, luma, block_sums):
    """The number of colours that pixels int64 [H, W, 3] of equal luma have, at least 0.

    0 where luma tells the colour, as in grey, one channel, sepia and any tint; small in washed-out pictures. It is the
    mean square by which red - green and green - blue differ among pixels of equal luma, over mean luma and over the
    square root of the standard deviation, softened, of the luma of the blocks, whose sums are int64 [B, B, 3], times
    how far the darkest pixels are from white.
    """
    level = (luma >> 8).ravel()
    differences = [(pixels[..., c] - pixels[..., c + 1]).ravel() for c in (0, 1)]
    counts = np.bincount(level, minlength=256)
    # Whole numbers below 2^53, which float64 adds up exactly.
    sums = [np.bincount(level, d, minlength=256).astype(np.int64) for d in differences]
    squares = sum(int((d * d).sum()) for d in differences)
    between, darkest, dark_count = 0.0, 0, 0
    for value, (count, first, second) in enumerate(zip(counts.tolist(), *(s.tolist() for s in sums))):
        if count > 0:
            if dark_count * DARK_SHARE <= level.size:
                darkest = value
            dark_count += count
            between += float(first * first + second * second) / count
    within = max(float(squares) - between, 0.0) / level.size
    block_luma = (block_sums @ np.array([77, 150, 29])) >> 8
    count, total, total_of_squares = block_luma.size, int(block_luma.sum()), int((block_luma**2).sum())
    deviation = sqrt(float(count * total_of_squares - total * total)) / (count * BLOCK * BLOCK)
    brightness = float(int(luma.sum())) / luma.size / 256
    return within * (256 - darkest) / (brightness * sqrt(deviation + SOFTENING)) if brightness > 0 else 0.0


def warmth(block_sums):
    """The distance of an image from one with red and blue exchanged, about -5...5, by its blocks' sums int64 [B, B, 3].

    Positive where the middle third is redder than blue and its blue has more contrast than its red, because melanin
    absorbs blue most. Pen marks are blue too, but lie around the lesion.
    """
    side = len(block_sums)
    middle = slice(side // 3, side - side // 3)
    blocks = block_sums[middle, middle].reshape(-1, 3)
    red, green, blue = (int(value) for value in blocks.sum(0))
    if red + green + blue == 0:
        return 0.0
    red_squares, _, blue_squares = (int(value) for value in (blocks * blocks).sum(0))
    red_contrast = sqrt(float(len(blocks) * red_squares - red * red)) * blue
    blue_contrast = sqrt(float(len(blocks) * blue_squares - blue * blue)) * red
    contrasts = red_contrast + blue_contrast
    uneven = (red_contrast - blue_contrast) / contrasts if contrasts > 0 else 0.0
    return MEAN_WEIGHT * (float(red - blue) / (red + green + blue)) - uneven


def measure(resized):
    """The measures of uint8 [size, size, 3] before colour constancy, by name.

    brightness: mean luma, 0...255. contrast: standard deviation of the means of blocks about their plane, of the
    channel where it is greatest. sharpness: second differences over 2 pixels against those over 8; close to
    0 where blur hides all detail. structure: the share of luma's variance that the means of blocks explain.
    green: the share of pixels that are greener than red, which skin through a dermatoscope hardly ever is.
    color_variety and warmth: see there.
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
        "color_variety": color_variety(pixels, luma, sums[..., :3]),
        "warmth": warmth(sums[..., :3]),
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
    if measures["color_variety"] < limits.get("minimum_color_variety", -inf) or measures["warmth"] < limits.get(
        "minimum_warmth", -inf
    ):
        reasons.append("unusual_color")
    # Without something to see there is nothing that could be sharp.
    if stands_out and has_structure and measures["sharpness"] < limits["minimum_sharpness"]:
        reasons.append("blurred")
    return reasons


def result_reasons(warnings, measures, distance, score, settings):
    """Every reason of a result, in its order: from the preprocessing's warnings, and by the `abstention` object.
    `score` is that of dermoscopy_scores; None for a model that was not fitted for it."""
    reasons = [WARNING_REASONS[warning] for warning in warnings if warning in WARNING_REASONS]
    reasons += quality_reasons(measures, settings["quality"])
    if score is not None and score > settings["dermoscopy"]["threshold"]:
        reasons.append("not_dermoscopic")
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


def dermoscopy_scores(means, weights):
    """Likeness of pictures to those that no dermatoscope took, float64 [N], by the means [N, C] of the last maps of
    the stages that `abstention.dermoscopy` names, one stage after the other, and the tensor's weights [C]."""
    return means.astype(np.float64) @ weights.astype(np.float64)


def conformal_sets(probabilities, thresholds):
    """bool [N, classes]: classes whose probability reaches their threshold, and always the likeliest."""
    sets = probabilities >= np.asarray(thresholds)
    sets[np.arange(len(sets)), probabilities.argmax(1)] = True
    return sets
