"""Random changes that a photograph's class must not depend on."""

import math

import numpy as np
from PIL import Image

from dermafusion.model.config import SEXES, SITES

# Sharpness goes with class in this data (rare classes came in more pixels), so most samples lose a random amount.
REDUCE_PROBABILITY = 0.8
SMALLEST_REDUCED_SIZE = 120
CHROMA_BLUR_PROBABILITY = 0.3

# A hidden square makes the network look at more than the one most telling place (DeVries & Taylor, 2017).
CUTOUT_PROBABILITY = 0.5
CUTOUT_RANGE = (0.15, 0.4)  # of the side

# Shares of samples whose metadata is hidden, so that missing metadata is a case the network knows.
HIDE_ALL_PROBABILITY = 0.10
HIDE_ONE_PROBABILITY = 0.06
AGE_NOISE = 0.02  # of 100 years; ages are recorded in steps of five


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def blur_chroma(image, rng):
    """Keeps a Pillow image's luma and blurs its chroma, as strong chroma subsampling does."""
    luma, *chroma = image.convert("YCbCr").split()
    small = max(8, int(image.width * rng.uniform(0.2, 0.7)))
    chroma = [
        plane.resize((small, small), Image.Resampling.BILINEAR).resize(image.size, Image.Resampling.BILINEAR)
        for plane in chroma
    ]
    return Image.merge("YCbCr", [luma, *chroma]).convert("RGB")


def degrade(image, largest, rng):
    """Shrinks a square Pillow image to at most `largest` pixels a side, often to a random size below that."""
    target = largest
    if rng.random() < REDUCE_PROBABILITY:
        target = round(log_uniform(rng, min(SMALLEST_REDUCED_SIZE, largest), largest))
    if target < image.width:
        image = image.resize((target, target), Image.Resampling.BILINEAR)
    if rng.random() < CHROMA_BLUR_PROBABILITY:
        image = blur_chroma(image, rng)
    return image


def warp(image, size, zoom, rng):
    """Rotates, flips, shifts and zooms a square Pillow image to `size` pixels; outside it lies its mirror image."""
    side = image.width
    margin = side // 2
    mirrored = Image.fromarray(np.pad(np.asarray(image), ((margin, margin), (margin, margin), (0, 0)), "symmetric"))
    angle = rng.uniform(0, 2 * math.pi)
    step = side / size / zoom  # source pixels a pixel of the result
    stretch = log_uniform(rng, 0.92, 1.08)
    flip = -1 if rng.random() < 0.5 else 1
    a, b = flip * step * stretch * math.cos(angle), -step / stretch * math.sin(angle)
    d, e = flip * step * stretch * math.sin(angle), step / stretch * math.cos(angle)
    center_x = margin + side * (0.5 + rng.uniform(-0.07, 0.07))
    center_y = margin + side * (0.5 + rng.uniform(-0.07, 0.07))
    half = size / 2
    coefficients = (a, b, center_x - (a + b) * half, d, e, center_y - (d + e) * half)
    return mirrored.transform((size, size), Image.Transform.AFFINE, coefficients, Image.Resampling.BILINEAR)


def recolor(image, rng):
    """Changes gamma, contrast, brightness, white balance and saturation of uint8 [H, W, 3] a little."""
    levels = np.arange(256, dtype=np.float32) / 255
    curve = levels ** log_uniform(rng, 0.75, 1.33)
    curve = (curve - 0.5) * log_uniform(rng, 0.85, 1.18) + 0.5 + rng.uniform(-0.06, 0.06)
    table = np.stack([curve * log_uniform(rng, 0.94, 1.06) for _ in range(3)], axis=1)
    result = np.stack([table[image[..., c], c] for c in range(3)], axis=-1)
    grey = result.mean(axis=-1, keepdims=True)
    return (grey + (result - grey) * np.float32(log_uniform(rng, 0.8, 1.25))).clip(0, 1) * 255


def cut_out(image, rng):
    """Paints a random square of float32 [S, S, 3] in the image's mean colour; its centre lies anywhere in the image."""
    side = image.shape[0]
    half = side * rng.uniform(*CUTOUT_RANGE) / 2
    row, column = rng.uniform(0, side, 2)
    rows = slice(max(0, round(row - half)), round(row + half))
    columns = slice(max(0, round(column - half)), round(column + half))
    image[rows, columns] = image.mean((0, 1))


def augment_image(image, size, zoom_range, rng):
    """Random views of uint8 [S, S, 3]: float32 [size, size, 3], 0...255."""
    zoom = log_uniform(rng, *zoom_range)
    largest = min(image.shape[0], round(1.1 * size * zoom))
    result = recolor(np.asarray(warp(degrade(Image.fromarray(image), largest, rng), size, zoom, rng)), rng)
    if rng.random() < CUTOUT_PROBABILITY:
        cut_out(result, rng)
    return result


def augment_metadata(metadata, rng):
    """Jitters the age of float32 [4] and hides some of it, all at once or one by one."""
    result = metadata.copy()
    if result[1] == 0:
        result[0] = np.clip(result[0] + rng.normal(0, AGE_NOISE), 0, 1)
    hide_all = rng.random() < HIDE_ALL_PROBABILITY
    hide = [hide_all or rng.random() < HIDE_ONE_PROBABILITY for _ in range(3)]
    if hide[0]:
        result[0], result[1] = 0, 1
    if hide[1]:
        result[2] = SEXES.index("unknown")
    if hide[2]:
        result[3] = SITES.index("unknown")
    return result
