"""Drawn pictures that look somewhat like dermoscopy photographs, so that no photograph need be in the repository."""

from dataclasses import dataclass

import numpy as np
from PIL import Image


@dataclass(frozen=True)
class Phantom:
    """What sets one drawn lesion apart. Colours are RGB, 0...1; lengths are in half-heights of the picture."""

    seed: int
    skin: tuple = (0.86, 0.68, 0.60)
    rim: tuple = (0.62, 0.40, 0.28)
    center: tuple = (0.36, 0.21, 0.15)
    radius: float = 0.55
    aspect: float = 1.2
    irregularity: float = 0.06
    edge: float = 0.06
    network: float = 0.12
    dots: int = 30
    hairs: int = 6
    second_color: tuple | None = None


NEVUS = Phantom(seed=1, hairs=3, edge=0.09)
MELANOMA = Phantom(
    seed=2, rim=(0.45, 0.27, 0.20), center=(0.17, 0.12, 0.13), radius=0.66, aspect=1.3, irregularity=0.14,
    edge=0.035, network=0.22, dots=90, second_color=(0.42, 0.45, 0.55),
)  # fmt: skip
KERATOSIS = Phantom(
    seed=3, rim=(0.66, 0.50, 0.36), center=(0.52, 0.37, 0.26), radius=0.6, irregularity=0.1, edge=0.02,
    network=0.05, dots=160, hairs=2,
)  # fmt: skip
VASCULAR = Phantom(
    seed=4, rim=(0.72, 0.22, 0.24), center=(0.50, 0.08, 0.14), radius=0.42, aspect=1.05, irregularity=0.05,
    edge=0.05, network=0.0, dots=8, hairs=1, second_color=(0.40, 0.05, 0.20),
)  # fmt: skip
PALE_LESION = Phantom(
    seed=5, skin=(0.90, 0.74, 0.68), rim=(0.84, 0.62, 0.58), center=(0.80, 0.54, 0.52), radius=0.5,
    irregularity=0.12, edge=0.12, network=0.02, dots=14, hairs=3,
)  # fmt: skip
DARK_SKIN = Phantom(
    seed=6, skin=(0.47, 0.32, 0.24), rim=(0.33, 0.21, 0.15), center=(0.18, 0.11, 0.09), radius=0.5, hairs=9
)


def smooth_noise(rng, height, width, cells):
    """Noise float64 [height, width], about -1...1, that varies over 1 / `cells` of the height."""
    rows, columns = cells + 1, round(cells * width / height) + 1
    coarse = Image.fromarray(rng.uniform(-1, 1, (rows, columns)).astype(np.float32))
    return np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC), dtype=np.float64)


def smooth_step(x):
    """0 below -1, 1 above 1, smooth between."""
    t = ((x + 1) / 2).clip(0, 1)
    return t * t * (3 - 2 * t)


def lesion_distance(phantom, x, y, rng):
    """Distance to the lesion's border, float64 [H, W]: 0 at its centre, 1 on it."""
    turn = rng.uniform(0, np.pi)
    along, across = x * np.cos(turn) + y * np.sin(turn), -x * np.sin(turn) + y * np.cos(turn)
    angle = np.arctan2(across, along)
    border = np.ones_like(angle)
    for order in range(2, 9):
        amount = phantom.irregularity * rng.normal() / order**0.6
        border += amount * np.cos(order * angle + rng.uniform(0, 2 * np.pi))
    return np.hypot(along / phantom.aspect**0.5, across * phantom.aspect**0.5) / (phantom.radius * border)


def pigment_network(x, y, rng):
    """A warped honeycomb, 0...1 with 1 on its lines."""
    shift = [0.03 * smooth_noise(rng, *x.shape, 12) for _ in range(2)]
    u, v = (x + shift[0]) * 70, (y + shift[1]) * 70
    waves = [np.cos(u * np.cos(a) + v * np.sin(a)) for a in (0.0, 2 * np.pi / 3, 4 * np.pi / 3)]
    return smooth_step(-2.0 * sum(waves) / 3 - 0.2)


def draw_hair(picture, x, y, rng):
    """Darkens a thin curve across the picture, in place."""
    turn, offset, bend = rng.uniform(0, np.pi), rng.uniform(-0.9, 0.9), rng.normal(0, 0.25)
    along, across = x * np.cos(turn) + y * np.sin(turn), -x * np.sin(turn) + y * np.cos(turn)
    distance = np.abs(across - offset - bend * along**2)
    cover = (1 - smooth_step((distance - 0.006) / 0.004)) * rng.uniform(0.5, 0.85)
    cover *= along > rng.uniform(-1.5, -0.3)
    picture *= 1 - cover[..., None] * np.array([0.70, 0.75, 0.78])


def draw_phantom(phantom, width=600, height=450):
    """Draws uint8 [height, width, 3]."""
    rng = np.random.default_rng(phantom.seed)
    half = height / 2
    rows, columns = np.mgrid[0:height, 0:width]
    x, y = (columns - width / 2) / half, (rows - height / 2) / half

    picture = np.ones((height, width, 3)) * np.array(phantom.skin)
    for cells, strength in ((3, 0.035), (14, 0.02), (60, 0.02)):
        picture += (smooth_noise(rng, height, width, cells) * strength)[..., None] * np.array([0.7, 1.0, 1.0])

    distance = lesion_distance(phantom, x, y, rng)
    inside = 1 - smooth_step((distance - 1 + 0.1 * smooth_noise(rng, height, width, 12)) / (2.5 * phantom.edge))
    depth = smooth_step((0.55 - distance + 0.35 * smooth_noise(rng, height, width, 6)) / 0.5)
    color = np.array(phantom.rim) + depth[..., None] * (np.array(phantom.center) - np.array(phantom.rim))
    if phantom.second_color is not None:
        patch = smooth_step((smooth_noise(rng, height, width, 4) - 0.35) / 0.25)
        color += patch[..., None] * 0.8 * (np.array(phantom.second_color) - color)
    lines = pigment_network(x, y, rng) * smooth_step((distance - 0.35) / 0.4)
    color *= 1 - phantom.network * 2 * lines[..., None]
    for _ in range(phantom.dots):
        angle, away = rng.uniform(0, 2 * np.pi), phantom.radius * rng.uniform(0, 0.95) ** 0.6
        size = rng.uniform(0.008, 0.03)
        spot = np.hypot(x - away * np.cos(angle), y - away * np.sin(angle)) / size
        color *= 1 - 0.35 * (1 - smooth_step((spot - 1) / 0.5))[..., None]
    picture += inside[..., None] * (color - picture)

    for _ in range(phantom.hairs):
        draw_hair(picture, x, y, rng)
    for _ in range(5):  # bubbles in the immersion fluid
        size = rng.uniform(0.015, 0.05)
        away = np.hypot(x - rng.uniform(-1.2, 1.2), y - rng.uniform(-0.9, 0.9)) / size
        picture += (0.18 * np.exp(-(((away - 1) / 0.12) ** 2)))[..., None]
    picture *= (1 - 0.10 * np.hypot(x, y) ** 2)[..., None]
    picture += rng.normal(0, 0.008, picture.shape)
    return (picture.clip(0, 1) * 255 + 0.5).astype(np.uint8)
