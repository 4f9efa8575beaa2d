"""Random views of photographs, made a batch at a time where the network is trained.

On a GPU the processes that prepare views one by one are what limits a run. Here the photographs lie in the device's
memory as bytes, and every change is a tensor operation over the batch. The changes are those of data/augmentation.py
but for drawn hairs and JPEG, which have no such form. Noise is added in their place. Colours are balanced once more at
the end, as they are in every picture that the finished network sees.
"""

import math

import numpy as np
import torch
from torch.nn import functional as F

from dermafusion_training.data.augmentation import (
    BLUR_PROBABILITY,
    CUTOUT_PROBABILITY,
    CUTOUT_RANGE,
    MATCH_PROBABILITY,
    REDUCE_PROBABILITY,
    SHARPEN_PROBABILITY,
    SMALLEST_COPY,
    SMALLEST_REDUCED_SIZE,
    STRONG_RECOLOR_PROBABILITY,
    VIGNETTE_PROBABILITY,
    augment_metadata,
)
from dermafusion_training.training.samples import FULL_SIZE_ZOOM_RANGE, ZOOM_RANGE, smallest_share_at

REDUCED_GROUPS = 3  # sizes in a batch, because each size is a call of its own
LARGEST_NOISE = 0.02  # standard deviation, of 0...1
BINOMIAL = (1, 4, 6, 4, 1)


class Draws:
    """Random numbers for each of `count` images, shaped so that they multiply [N, 3, H, W]."""

    def __init__(self, count, generator):
        self.count, self.generator = count, generator

    def uniform(self, low=0.0, high=1.0):
        values = torch.rand(self.count, 1, 1, 1, generator=self.generator, device=self.generator.device)
        return values * (high - low) + low

    def log_uniform(self, low, high):
        return self.uniform(math.log(low), math.log(high)).exp()

    def happens(self, probability):
        return self.uniform() < probability

    def others(self):
        """A place in the batch for each image, every place once."""
        return torch.randperm(self.count, generator=self.generator, device=self.generator.device)


def reduce(images, draws, smallest_share):
    """Shrinks the first `smallest_share` of a batch to SMALLEST_COPY and REDUCE_PROBABILITY of the others to a few
    random sizes, and enlarges them again. The photographs stand in random order, so the first are any."""
    count, side = len(images), images.shape[-1]
    ends = [round(count * smallest_share)]
    reduced = (count - ends[0]) * REDUCE_PROBABILITY / REDUCED_GROUPS
    ends += [round(ends[0] + reduced * group) for group in range(1, REDUCED_GROUPS + 1)]
    drawn = draws.log_uniform(min(SMALLEST_REDUCED_SIZE, side), side).flatten()[:REDUCED_GROUPS]
    sizes = [min(SMALLEST_COPY, side), *(round(value) for value in drawn.tolist())]
    parts, start = [], 0
    for end, size in zip(ends, sizes, strict=False):
        if end > start:
            small = F.interpolate(images[start:end], (size, size), mode="bilinear", antialias=True)
            parts.append(F.interpolate(small, (side, side), mode="bilinear"))
            start = end
    return torch.cat([*parts, images[start:]])


def warp(images, size, zoom_range, draws):
    """Rotates, flips, shifts, stretches and zooms to `size` pixels; outside an image lies its mirror image."""
    angle, stretch = draws.uniform(0, 2 * math.pi).flatten(), draws.log_uniform(0.92, 1.08).flatten()
    flip = 1 - 2 * draws.happens(0.5).flatten().float()
    step = 1 / draws.log_uniform(*zoom_range).flatten()
    across = torch.stack([flip * stretch * angle.cos(), -angle.sin() / stretch])
    down = torch.stack([flip * stretch * angle.sin(), angle.cos() / stretch])
    shift = torch.stack([draws.uniform(-0.14, 0.14).flatten() for _ in range(2)])  # a side is 2 long
    rows = torch.stack([torch.cat([across * step, shift[:1]]), torch.cat([down * step, shift[1:]])])
    grid = F.affine_grid(rows.permute(2, 0, 1), (len(images), 3, size, size), align_corners=False)
    return F.grid_sample(images, grid, padding_mode="reflection", align_corners=False)


def sharpen_or_blur(images, draws):
    """Moves some images away from their blurred copy, and others towards it."""
    row = torch.tensor(BINOMIAL, dtype=images.dtype, device=images.device)
    kernel = (row[:, None] * row / row.sum() ** 2).expand(3, 1, 5, 5)
    blurred = F.conv2d(F.pad(images, (2, 2, 2, 2), mode="reflect"), kernel, groups=3)
    kind = draws.uniform()
    is_sharpened, is_blurred = kind < SHARPEN_PROBABILITY, kind > 1 - BLUR_PROBABILITY
    amount = torch.where(is_sharpened, draws.uniform(-1.2, -0.2), draws.uniform(0.3, 1) * is_blurred)
    return torch.lerp(images, blurred, amount).clamp(0, 1)


def match_colors(images, draws):
    """Moves mean and spread of the channels of some images towards those of another one of the batch."""
    mean, spread = images.mean((2, 3), keepdim=True), images.std((2, 3), keepdim=True) + 0.02
    others = draws.others()
    share = draws.uniform(0.3, 1) * draws.happens(MATCH_PROBABILITY)
    scale = 1 + share * (spread[others] / spread - 1).clamp(-0.5, 1)
    return ((images - mean) * scale + mean + share * (mean[others] - mean)).clamp(0, 1)


def recolor(images, draws):
    """Changes gamma, contrast, brightness, white balance and saturation, a little or much."""
    strong = draws.happens(STRONG_RECOLOR_PROBABILITY)

    def factor(much, little):
        return torch.where(strong, draws.log_uniform(1 / much, much), draws.log_uniform(1 / little, little))

    images = images.clamp(min=1e-4) ** factor(1.8, 1.33)
    images = (images - 0.5) * factor(1.38, 1.18) + 0.5 + draws.uniform(-0.06, 0.06)
    images = images * torch.cat([factor(1.19, 1.06) for _ in range(3)], 1)
    grey = images.mean(1, keepdim=True)
    return torch.lerp(grey, images, factor(1.8, 1.25)).clamp(0, 1)


def positions(size, device):
    """The places of pixels along an axis, -1...1."""
    return (torch.arange(size, device=device) + 0.5) / size * 2 - 1


def vignette(images, draws):
    """Darkens some images towards their corners, or cuts a black circle's outside off."""
    axis = positions(images.shape[-1], images.device)
    row, column = draws.uniform(-0.15, 0.15), draws.uniform(-0.15, 0.15)
    distance = ((axis - column) ** 2 + (axis[:, None] - row) ** 2).sqrt()
    shade = (draws.uniform(0.95, 1.35) - distance) / draws.log_uniform(0.02, 0.5) + 0.5
    shade = torch.maximum(shade.clamp(max=1), 1 - draws.uniform(0.3, 1))
    return images * torch.where(draws.happens(VIGNETTE_PROBABILITY), shade, 1)


def cut_out(images, draws):
    """Paints a random square of some images in the image's mean colour."""
    axis = positions(images.shape[-1], images.device)
    half = draws.uniform(*CUTOUT_RANGE)  # of the side, which is 2 long
    row, column = draws.uniform(-1, 1), draws.uniform(-1, 1)
    inside = ((axis - column).abs() < half) & ((axis[:, None] - row).abs() < half)
    hidden = inside & draws.happens(CUTOUT_PROBABILITY)
    return torch.where(hidden, images.mean((2, 3), keepdim=True), images)


def balance(images, p):
    """Shades of Gray without rounding: channels scaled until their p-norms are equal."""
    norms = (images.double().pow(p).mean((2, 3), keepdim=True) + 1e-12).pow(1 / p).float()
    return (images * norms.mean(1, keepdim=True) / norms).clamp(0, 1)


def augment(images, size, zoom_range, smallest_share, p, generator):
    """A random view of each image of float32 [N, 3, S, S], 0...1, at `size` pixels."""
    draws = Draws(len(images), generator)
    images = warp(reduce(images, draws, smallest_share), size, zoom_range, draws)
    images = recolor(match_colors(sharpen_or_blur(images, draws), draws), draws)
    images = cut_out(vignette(images, draws), draws)
    noise = torch.randn(images.shape, generator=generator, device=images.device)
    images = (images + noise * draws.uniform(0, LARGEST_NOISE)).clamp(0, 1)
    return balance(images, p)


class DeviceViews:
    """The photographs that a run may draw, uint8 [N, 3, S, S] in the device's memory: 0.4 MB each at 380 pixels."""

    def __init__(self, cache, records, training, preprocessing, device):
        self.records, self.preprocessing, self.device = records, preprocessing, device
        side = cache.shape[1]
        self.images = torch.empty((len(training), 3, side, side), dtype=torch.uint8, device=device)
        for place, index in enumerate(training):
            self.images[place] = torch.from_numpy(np.array(cache[index])).permute(2, 0, 1)
        self.place = {index: place for place, index in enumerate(training)}

    def batches(self, indices, size, batch_size, seed, smallest_share):
        """Yields the network's input, the metadata and the labels of whole batches of `indices`."""
        full_size = size == self.preprocessing["size"]
        zoom_range = FULL_SIZE_ZOOM_RANGE if full_size else ZOOM_RANGE
        rng = np.random.default_rng(seed)
        generator = torch.Generator(self.device)
        generator.manual_seed(int(rng.integers(2**62)))
        mean, std = (
            torch.tensor(self.preprocessing[name], device=self.device)[:, None, None] for name in ("mean", "std")
        )
        constancy = self.preprocessing["color_constancy"]
        for start in range(0, len(indices) - batch_size + 1, batch_size):
            drawn = indices[start : start + batch_size]
            records = [self.records[i] for i in drawn]
            images = self.images[torch.tensor([self.place[i] for i in drawn], device=self.device)].float() / 255
            share = smallest_share_at(size, smallest_share)
            views = augment(images, size, zoom_range, share, constancy["p"], generator)
            inputs = ((views - mean) / std).contiguous(memory_format=torch.channels_last)
            metadata = torch.from_numpy(np.stack([augment_metadata(record.metadata, rng) for record in records]))
            labels = torch.tensor([record.label for record in records])
            yield inputs, metadata.to(self.device), labels.to(self.device)
