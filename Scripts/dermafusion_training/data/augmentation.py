"""Random changes that a photograph's class must not depend on."""

import io
import math

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from dermafusion_training.model.config import SEXES, SITES

# Sharpness goes with source and so with class, so many samples lose a random amount.
REDUCE_PROBABILITY = 0.4
SMALLEST_REDUCED_SIZE = 130
# One source has photographs of so many pixels only, so others are shrunk as far about as often as it is drawn.
SMALLEST_COPY = 84
SMALLEST_SHARE = 0.3
CHROMA_BLUR_PROBABILITY = 0.2

# Cameras differ in these and so do sources, which the network must not tell the class from.
JPEG_PROBABILITY = 0.35
JPEG_QUALITY_RANGE = (35, 95)
SHARPEN_PROBABILITY = 0.15
BLUR_PROBABILITY = 0.1
VIGNETTE_PROBABILITY = 0.2
# Colours of a photograph of any source, and changes of colour beyond those among the photographs of one camera.
MATCH_PROBABILITY = 0.4
STRONG_RECOLOR_PROBABILITY = 0.5
HAIR_PROBABILITY = 0.1

# A hidden square makes the network look at more than the one most telling place (DeVries & Taylor, 2017).
CUTOUT_PROBABILITY = 0.35
CUTOUT_RANGE = (0.15, 0.4)  # of the side

# Shares of samples whose metadata is hidden, so that missing metadata is a case the network knows.
HIDE_ALL_PROBABILITY = 0.5
HIDE_ONE_PROBABILITY = 0.08
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


def degrade(image, largest, rng, smallest_share):
    """Shrinks a square Pillow image to at most `largest` pixels a side, often to a random size below that."""
    target = largest
    if rng.random() < smallest_share:
        target = min(largest, SMALLEST_COPY)
    elif rng.random() < REDUCE_PROBABILITY:
        target = round(log_uniform(rng, min(SMALLEST_REDUCED_SIZE, largest), largest))
    if target < image.width:
        image = image.resize((target, target), Image.Resampling.BILINEAR)
    if rng.random() < CHROMA_BLUR_PROBABILITY:
        image = blur_chroma(image, rng)
    return image


def mirror_around(image, margin):
    """A square Pillow image with `margin` more pixels on every side, which mirror it."""
    side = image.width
    result = Image.new(image.mode, (side + 2 * margin, side + 2 * margin))
    flipped = {
        (False, False): image,
        (True, False): image.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
        (False, True): image.transpose(Image.Transpose.FLIP_TOP_BOTTOM),
        (True, True): image.transpose(Image.Transpose.ROTATE_180),
    }
    for row in (-1, 0, 1):
        for column in (-1, 0, 1):
            result.paste(flipped[column != 0, row != 0], (margin + column * side, margin + row * side))
    return result


def warp(image, size, zoom, rng):
    """Rotates, flips, shifts and zooms a square Pillow image to `size` pixels; outside it lies its mirror image."""
    side = image.width
    margin = side // 2
    mirrored = mirror_around(image, margin)
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


def compress(image, rng):
    """A Pillow image after a JPEG of random quality."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=int(rng.integers(*JPEG_QUALITY_RANGE)), subsampling=int(rng.integers(0, 3)))
    return Image.open(file).convert("RGB")


def draw_hairs(image, rng):
    """Draws a few dark arcs on a Pillow image."""
    side, draw = image.width, ImageDraw.Draw(image)
    for _ in range(rng.integers(1, 9)):
        radius = side * log_uniform(rng, 0.3, 3)
        angle = rng.uniform(0, 360)
        x, y = rng.uniform(0, side, 2) + radius * np.array([math.cos(angle), math.sin(angle)])
        color = tuple(int(v) for v in rng.uniform(15, 90) * np.array([1, rng.uniform(0.7, 1), rng.uniform(0.5, 1)]))
        start = rng.uniform(0, 360)
        length = math.degrees(side * rng.uniform(0.3, 1) / radius)
        draw.arc(
            (x - radius, y - radius, x + radius, y + radius), start, start + length, color, int(rng.integers(1, 3))
        )
    return image


def vignette(image, rng):
    """Darkens float32 [S, S, 3] towards its corners, or cuts a black circle's outside off."""
    side = image.shape[0]
    axis = (np.arange(side, dtype=np.float32) + 0.5) / side * 2 - 1
    center_x, center_y = rng.uniform(-0.15, 0.15, 2)
    distance = np.sqrt((axis[None] - center_x) ** 2 + (axis[:, None] - center_y) ** 2)
    edge, width = rng.uniform(0.95, 1.35), log_uniform(rng, 0.02, 0.5)
    floor = 1 - rng.uniform(0.3, 1)
    shade = ((edge - distance) / width + 0.5).clip(floor, 1)
    return image * shade[..., None].astype(np.float32)


def color_statistics(image):
    """(mean [3], covariance [3, 3]) of the colours of uint8 [H, W, 3], of one pixel in 36."""
    pixels = image[::6, ::6].reshape(-1, 3).astype(np.float64)
    return pixels.mean(0), np.cov(pixels.T) + np.eye(3) * 4


def square_root(matrix):
    """The root of a symmetric positive definite matrix, and the root's inverse."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * values**0.5) @ vectors.T, (vectors * values**-0.5) @ vectors.T


def match_colors(image, other, share):
    """Moves the colours of uint8 [H, W, 3] towards those of another image, by `share` of 0...1: the linear map between
    two normal distributions that moves colours least (Pitie & Kokaram, 2007)."""
    (mean, covariance), (other_mean, other_covariance) = color_statistics(image), color_statistics(other)
    root, inverse = square_root(covariance)
    full = inverse @ square_root(root @ other_covariance @ root)[0] @ inverse
    matrix = ((1 - share) * np.eye(3) + share * full).astype(np.float32)
    target = ((1 - share) * mean + share * other_mean).astype(np.float32)
    moved = (image - mean.astype(np.float32)) @ matrix.T + target
    return moved.clip(0, 255).astype(np.uint8)


def recolor(image, rng):
    """Changes gamma, contrast, brightness, white balance and saturation of uint8 [H, W, 3], a little or much."""
    strong = rng.random() < STRONG_RECOLOR_PROBABILITY
    gamma, contrast, gain, saturation = (1.8, 1.38, 1.19, 1.8) if strong else (1.33, 1.18, 1.06, 1.25)
    levels = np.arange(256, dtype=np.float32) / 255
    curve = levels ** log_uniform(rng, 1 / gamma, gamma)
    curve = (curve - 0.5) * log_uniform(rng, 1 / contrast, contrast) + 0.5 + rng.uniform(-0.06, 0.06)
    table = np.stack([curve * log_uniform(rng, 1 / gain, gain) for _ in range(3)], axis=1)
    result = np.stack([table[image[..., c], c] for c in range(3)], axis=-1)
    grey = ((result[..., 0] + result[..., 1] + result[..., 2]) / 3)[..., None]
    return (grey + (result - grey) * np.float32(log_uniform(rng, 1 / saturation, saturation))).clip(0, 1) * 255


def cut_out(image, rng):
    """Paints a random square of float32 [S, S, 3] in the image's mean colour; its centre lies anywhere in the image."""
    side = image.shape[0]
    half = side * rng.uniform(*CUTOUT_RANGE) / 2
    row, column = rng.uniform(0, side, 2)
    rows = slice(max(0, round(row - half)), round(row + half))
    columns = slice(max(0, round(column - half)), round(column + half))
    image[rows, columns] = image.mean((0, 1))


def augment_image(image, size, zoom_range, rng, smallest_share=SMALLEST_SHARE):
    """Random views of uint8 [S, S, 3]: float32 [size, size, 3], 0...255. Of them `smallest_share` have no more detail
    than SMALLEST_COPY pixels a side show."""
    zoom = log_uniform(rng, *zoom_range)
    largest = min(image.shape[0], round(1.1 * size * zoom))
    view = warp(degrade(Image.fromarray(image), largest, rng, smallest_share), size, zoom, rng)
    kind = rng.random()
    if kind < SHARPEN_PROBABILITY:
        view = view.filter(ImageFilter.UnsharpMask(rng.uniform(0.8, 2.5), int(rng.uniform(30, 160)), 0))
    elif kind < SHARPEN_PROBABILITY + BLUR_PROBABILITY:
        view = view.filter(ImageFilter.GaussianBlur(rng.uniform(0.4, 1.5)))
    if rng.random() < HAIR_PROBABILITY:
        view = draw_hairs(view, rng)
    if rng.random() < JPEG_PROBABILITY:
        view = compress(view, rng)
    result = recolor(np.asarray(view), rng)
    if rng.random() < VIGNETTE_PROBABILITY:
        result = vignette(result, rng)
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
