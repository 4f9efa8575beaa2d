"""Samples that a training epoch draws, and a model's answers to them."""

from collections import Counter

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

from dermafusion_training.data.augmentation import (
    MATCH_PROBABILITY,
    SMALLEST_SHARE,
    augment_image,
    augment_metadata,
    match_colors,
)
from dermafusion_training.data.dataset import HAM10000, SMALL_SOURCE
from dermafusion_training.model.config import CLASSES

# Cameras show a lesion at different scales. The wide range also teaches, at few pixels, lesions as large in pixels as
# they are in the finished network's input.
ZOOM_RANGE = (0.6, 1.7)
FULL_SIZE_ZOOM_RANGE = (0.75, 1.35)

SOURCE_WEIGHTS = {HAM10000: 2}  # most photographs that the model meets resemble it; the others count 1
CLASS_POWER = 0.5  # classes are drawn in proportion to this power of their size
SMALL_WEIGHT = 0.5  # of SMALL_SOURCE at more pixels than LARGEST_SMALL_SIZE
LARGEST_SMALL_SIZE = 160


def parse_epochs(text):
    """`160x4500*3,380x2000` means three epochs of 4500 images at 160 pixels, then one of 2000 at 380."""
    epochs = []
    for part in text.split(","):
        epoch, _, repeats = part.partition("*")
        size, images = map(int, epoch.split("x"))
        epochs += [(size, images)] * int(repeats or 1)
    return epochs


def batch_size_at(size):
    """Images a step: fewer at large sizes, to bound memory and keep the number of steps."""
    return 32 if size <= 224 else 24 if size <= 300 else 16


def smallest_share_at(size, smallest_share):
    """The share of samples that are shrunk to SMALLEST_COPY first; `smallest_share` holds above LARGEST_SMALL_SIZE."""
    return smallest_share if size > LARGEST_SMALL_SIZE else SMALLEST_SHARE


class Samples(Dataset):
    """Pairs of image uint8 [size, size, 3] and metadata float32 [4], with labels; augmented when it has a seed,
    a tuple of integers. At more pixels than LARGEST_SMALL_SIZE `smallest_share` of them is shrunk to SMALLEST_COPY."""

    def __init__(self, cache, records, indices, size, preprocessing, seed=None, smallest_share=SMALLEST_SHARE):
        self.cache, self.records, self.indices, self.size = cache, records, indices, size
        self.preprocessing, self.seed = preprocessing, seed
        self.smallest_share = smallest_share_at(size, smallest_share)
        if seed is not None:
            by_source = {}
            for index in indices:
                by_source.setdefault(records[index].source, []).append(index)
            self.sources = list(by_source.values())

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, position):
        index = self.indices[position]
        image, metadata = np.array(self.cache[index]), self.records[index].metadata
        if self.seed is not None:
            rng = np.random.default_rng((*self.seed, position))
            if rng.random() < MATCH_PROBABILITY:
                source = self.sources[rng.integers(len(self.sources))]
                image = match_colors(image, self.cache[source[rng.integers(len(source))]], rng.uniform(0.3, 1))
            full_size = self.size == self.preprocessing["size"]
            zoom_range = FULL_SIZE_ZOOM_RANGE if full_size else ZOOM_RANGE
            image = (augment_image(image, self.size, zoom_range, rng, self.smallest_share) + 0.5).astype(np.uint8)
            metadata = augment_metadata(metadata, rng)
        elif self.size != image.shape[0]:
            image = np.array(Image.fromarray(image).resize((self.size, self.size), Image.Resampling.BILINEAR))
        return torch.from_numpy(image), torch.from_numpy(metadata), self.records[index].label


def network_input(images, preprocessing, device):
    """Like `normalize`, to rounding: float32 [N, 3, H, W] with channels last, of a batch uint8 [N, H, W, 3]."""
    mean, std = (torch.tensor(preprocessing[name], device=device) * 255 for name in ("mean", "std"))
    return ((images.to(device, non_blocking=True) - mean) / std).permute(0, 3, 1, 2)


def class_shares(records, training, power=CLASS_POWER):
    """Shares of the classes among the samples, float64 [7]: a power of the size; 0 without a photograph."""
    sizes = np.bincount([records[i].label for i in training], minlength=len(CLASSES))
    powers = np.where(sizes > 0, np.maximum(sizes, 1) ** power, 0)
    return powers / powers.sum()


def photograph_weights(records, training, size=0, small_weight=SMALL_WEIGHT, class_power=CLASS_POWER):
    """Shares of the photographs among the samples, float64 [N]: classes by theirs, the sources of a class by the square
    root of their sizes, and the photographs of one class and source evenly.

    Most photographs of a class often come from one source. The root keeps the others from being drowned. `size` is that
    of the network's input; at more pixels than LARGEST_SMALL_SIZE SMALL_SOURCE counts `small_weight`.
    """
    weight_of = SOURCE_WEIGHTS | {SMALL_SOURCE: small_weight if size > LARGEST_SMALL_SIZE else 1}
    groups = [(records[i].label, records[i].source) for i in training]
    sizes = Counter(groups)
    shares = class_shares(records, training, class_power)
    roots = {group: size**0.5 * weight_of.get(group[1], 1) for group, size in sizes.items()}
    totals = Counter()
    for (label, _), root in roots.items():
        totals[label] += root
    weights = np.array([shares[group[0]] * roots[group] / totals[group[0]] / sizes[group] for group in groups])
    return weights / weights.sum()


def sample_epoch(records, training, images, seed, size=0, small_weight=SMALL_WEIGHT, class_power=CLASS_POWER):
    """Draws `images` indices by their weights at this size of the network's input."""
    weights = photograph_weights(records, training, size, small_weight, class_power)
    return np.random.default_rng(seed).choice(training, images, p=weights)


def capped_validation(records, validation, cap):
    """At most `cap` indices of each class, in order."""
    counts, kept = [0] * len(CLASSES), []
    for index in validation:
        counts[records[index].label] += 1
        if counts[records[index].label] <= cap:
            kept.append(index)
    return kept


def predict(model, samples, device, workers):
    """Logits float32 [N, 7] and labels [N] of every sample."""
    model.eval()
    logits, labels = [], []
    with torch.inference_mode():
        for images, metadata, label in DataLoader(samples, batch_size=32, num_workers=workers):
            images = network_input(images, samples.preprocessing, device)
            logits.append(model(images, metadata.to(device)).float().cpu())
            labels.append(label)
    return torch.cat(logits).numpy(), torch.cat(labels).numpy()
