"""From a file to the network's input: the definition that the Swift engine reproduces.

Stages, in order: decoded, cropped, resized, constancy, normalized. All but the last are uint8 [H, W, 3] RGB; the
constants come from the `preprocessing` object of a model's config.json.
"""

import numpy as np
from PIL import Image, ImageOps

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


def resize(cropped, size):
    """Pillow's antialiased bilinear resize, uint8 [S, S, 3] to uint8 [size, size, 3]."""
    return np.array(Image.fromarray(cropped).resize((size, size), Image.Resampling.BILINEAR))


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


def normalize(image, mean, std):
    """Scales [H, W, 3] of 0...255 to float32 [3, H, W] = (v / 255 - mean) / std."""
    scaled = (image.astype(np.float64) / 255 - np.array(mean)) / np.array(std)
    return np.ascontiguousarray(scaled.transpose(2, 0, 1).astype(np.float32))


def preprocess(source, preprocessing):
    """Runs every stage on a path or binary file. Returns (arrays by stage name, warnings)."""
    stages = {"decoded": decode(source)}
    side = min(stages["decoded"].shape[:2])
    if side < SMALLEST_SIDE:
        raise ImageTooSmall(f"a side of {side} pixels: at least {SMALLEST_SIDE} are needed")
    warnings = ["small_image"] if side < SMALL_IMAGE_SIDE else []
    stages["cropped"] = crop_to_square(stages["decoded"])
    stages["resized"] = resize(stages["cropped"], preprocessing["size"])
    stages["constancy"], constancy_warnings = color_constancy(stages["resized"], preprocessing["color_constancy"])
    stages["normalized"] = normalize(stages["constancy"], preprocessing["mean"], preprocessing["std"])
    return stages, warnings + constancy_warnings
