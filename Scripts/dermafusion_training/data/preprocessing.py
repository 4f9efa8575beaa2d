"""From a file to the network's input: the definition that the Swift engine reproduces.

Stages, in order: decoded, cropped, resized, constancy, normalized. All but the last are uint8 [H, W, 3] RGB; the
constants come from the `preprocessing` object of a model's config.json.
"""

import math

import numpy as np
from PIL import Image, ImageOps

INTERPOLATIONS = {
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
SMALLEST_SIDE = 32
SMALL_IMAGE_SIDE = 100


class ImageTooSmall(ValueError):
    """An image with a side under SMALLEST_SIDE pixels."""


def decode(source):
    """Decodes `source` (a path or a binary file) upright.

    Returns uint8 [H, W, 3] RGB, alpha dropped. 16-bit grey is taken by its high byte, because Pillow's own
    conversion clips everything above 255 to white.
    """
    with Image.open(source) as opened:
        image = ImageOps.exif_transpose(opened)
        if image.mode.startswith("I"):
            grey = (np.asarray(image).astype(np.int64) >> 8).clip(0, 255).astype(np.uint8)
            return np.ascontiguousarray(np.repeat(grey[:, :, None], 3, axis=2))
        return np.array(image.convert("RGB"))


def crop_to_square(decoded):
    """Cuts the centre square, uint8 [S, S, 3] with S = min(H, W), out of uint8 [H, W, 3]."""
    height, width = decoded.shape[:2]
    side = min(height, width)
    left, top = (width - side) // 2, (height - side) // 2
    return np.ascontiguousarray(decoded[top : top + side, left : left + side])


def resize(cropped, size, interpolation="bilinear"):
    """Pillow's antialiased resize, uint8 [S, S, 3] to uint8 [size, size, 3]."""
    return np.array(Image.fromarray(cropped).resize((size, size), INTERPOLATIONS[interpolation]))


def reduce_to_square(decoded, preprocessing):
    """The stages cropped and resized, by the centre square or as timm's evaluation does."""
    size = preprocessing["size"]
    if "crop_mode" not in preprocessing:
        cropped = crop_to_square(decoded)
        return cropped, resize(cropped, size, preprocessing.get("interpolation", "bilinear"))
    sides = decoded.shape[:2]
    own = int((min(sides) if preprocessing["crop_mode"] == "center" else max(sides)) * preprocessing["crop_pct"])
    return timm_resized(decoded, preprocessing, max(own, 1)), timm_resized(decoded, preprocessing, size)


def timm_resized(decoded, preprocessing, size):
    """The output of timm's evaluation for uint8 [H, W, 3], before it normalises: uint8 [size, size, 3].

    The shorter side, both sides or the longer side are resized to floor(size / crop_pct); then the centre is cut out,
    and what is missing has the mean colour (`transforms_imagenet_eval`).
    """
    height, width = decoded.shape[:2]
    side = math.floor(size / preprocessing["crop_pct"])
    mode = preprocessing["crop_mode"]
    if mode == "squash":
        new = side, side
    elif mode == "border":
        ratio = max(height / side, width / side)
        new = max(round(width / ratio), 1), max(round(height / ratio), 1)
    else:
        long = int(side * max(width, height) / min(width, height))
        new = (side, long) if width <= height else (long, side)
    resized = np.array(Image.fromarray(decoded).resize(new, INTERPOLATIONS[preprocessing["interpolation"]]))
    square = np.empty((size, size, 3), np.uint8)
    square[:] = [min(max(round(255 * mean), 0), 255) for mean in preprocessing["mean"]]
    places = []
    for length in resized.shape[:2]:
        kept = min(length, size)
        places.append((slice(round((length - kept) / 2), round((length - kept) / 2) + kept), (size - kept) // 2, kept))
    (rows, top, height), (columns, left, width) = places
    square[top : top + height, left : left + width] = resized[rows, columns]
    return square


def minkowski_means(image, p):
    """The Minkowski p-mean of each channel of uint8 [H, W, 3]: float64 [3], 0...255.

    Summed over the 256 levels in ascending order, so that the result does not depend on how pixels are visited.
    """
    levels = np.arange(256, dtype=np.float64) ** p
    counts = np.stack([np.bincount(image[..., channel].ravel(), minlength=256) for channel in range(3)])
    totals = np.cumsum(counts * levels, axis=1)[:, -1]
    return (totals / (image.shape[0] * image.shape[1])) ** (1 / p)


def color_constancy(resized, settings):
    """Shades of Gray on uint8 [H, W, 3].

    Returns (image, warnings). The image is uint8 for the rounding `round` or `truncate`, and float64 0...255 for
    `none`. It is returned unchanged when there is no colour to correct, and the warnings say why.
    """
    if settings["method"] == "none":
        return resized, []
    means = minkowski_means(resized, settings["p"])
    flat = resized.reshape(-1, 3).astype(np.int64)
    warnings = []
    if (flat.max(axis=0) - flat.min(axis=0) < 2).all():
        warnings.append("solid_color")
    if (means < 1.0).any():
        warnings.append("near_black")
    if warnings:
        return resized, warnings
    gains = means.sum() / 3 / means
    table = np.arange(256, dtype=np.float64)[:, None] * gains
    if settings["rounding"] != "none":
        table = np.floor(table + (0.5 if settings["rounding"] == "round" else 0.0))
    table = table.clip(0, 255)
    if settings["rounding"] != "none":
        table = table.astype(np.uint8)
    return np.stack([table[resized[..., channel], channel] for channel in range(3)], axis=-1), []


def normalize(image, preprocessing):
    """Scales [H, W, 3] of 0...255 to float32 [3, H, W] = (v / 255 - mean) / std.

    For timm's evaluation each operation is rounded to float32, as torchvision does.
    """
    kind = np.float32 if "crop_mode" in preprocessing else np.float64
    mean, std = (np.array(preprocessing[name], kind) for name in ("mean", "std"))
    scaled = (image.astype(kind) / kind(255) - mean) / std
    return np.ascontiguousarray(scaled.transpose(2, 0, 1).astype(np.float32))


def preprocess(source, preprocessing):
    """Runs every stage on a path or binary file. Returns (arrays by stage name, warnings)."""
    stages = {"decoded": decode(source)}
    side = min(stages["decoded"].shape[:2])
    if side < SMALLEST_SIDE:
        raise ImageTooSmall(f"a side of {side} pixels: at least {SMALLEST_SIDE} are needed")
    warnings = ["small_image"] if side < SMALL_IMAGE_SIDE else []
    stages["cropped"], stages["resized"] = reduce_to_square(stages["decoded"], preprocessing)
    stages["constancy"], constancy_warnings = color_constancy(stages["resized"], preprocessing["color_constancy"])
    stages["normalized"] = normalize(stages["constancy"], preprocessing)
    return stages, warnings + constancy_warnings
