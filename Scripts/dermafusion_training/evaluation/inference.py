"""Outputs of a model for preprocessed photographs: pooled features, and logits with or without metadata."""

import numpy as np
import torch
from PIL import Image

from dermafusion_training.data.preprocessing import normalize

BATCH = 8


def shrink_and_enlarge(image, size):
    """uint8 [S, S, 3] as if it had come at `size` pixels."""
    small = Image.fromarray(image).resize((size, size), Image.Resampling.BILINEAR)
    return np.asarray(small.resize((image.shape[1], image.shape[0]), Image.Resampling.BILINEAR))


def pooled_features(config, model, images, shrink_to=None, stage=None):
    """The head's input, float32 [N, C], or the means of the map at the end of a stage, of constancy-stage images."""
    pooled = []
    for start in range(0, len(images), BATCH):
        batch = images[start : start + BATCH]
        if shrink_to is not None:
            batch = [shrink_and_enlarge(image, shrink_to) for image in batch]
        pixels = torch.from_numpy(np.stack([normalize(image, config["preprocessing"]) for image in batch]))
        with torch.inference_mode():
            pixels = pixels.contiguous(memory_format=torch.channels_last)
            if stage is None:
                pooled.append(model.pool(model.features(pixels)))
            else:
                pooled.append(model.stage_output(pixels, stage).mean((2, 3)))
    return torch.cat(pooled)


def head_logits(model, pooled, metadata):
    """Logits float64 [N, classes] of pooled features and, with a fusion head, metadata float32 [N, 4]."""
    with torch.inference_mode():
        return model.head(pooled, metadata).double().numpy()


def record_logits(config, model, cache, records, indices):
    """Logits float64 [N, classes] of the records at `indices`, with their metadata; `cache` has all photographs."""
    pooled = pooled_features(config, model, [cache[i] for i in indices])
    return head_logits(model, pooled, torch.from_numpy(np.stack([records[i].metadata for i in indices])))
