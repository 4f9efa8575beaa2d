"""Models with random weights whose batch norms took statistics from pictures.

With the statistics that batch norms are born with, activations fade or grow from block to block. A network that
computes with denormal numbers or with infinities is no measure of one that was trained.
"""

import numpy as np
import torch

from dermafusion_training.data.metadata import encode_metadata
from dermafusion_training.data.preprocessing import preprocess
from dermafusion_training.model.build import build_config, build_model
from dermafusion_training.model.config import CLASSES
from dermafusion_training.model.export import export
from dermafusion_training.model.folder import tensors_of
from dermafusion_training.paths import IMAGES

SEED = 2026


def take_statistics(model, images, metadata):
    """Sets the statistics of every batch norm to those of the images [N, 3, size, size]."""
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = 1.0
    model.train()
    with torch.no_grad():
        model(images, metadata)
    model.eval()


def make_random_model(folder, architecture, fusion, size, dtype):
    """Writes the folder of a model; returns its identity."""
    torch.manual_seed(SEED)
    config = build_config(architecture, CLASSES, fusion, size)
    model = build_model(config)
    pictures = sorted(IMAGES.glob("phantom_*.jpg"))
    images = np.stack([preprocess(picture, config["preprocessing"])[0]["normalized"] for picture in pictures])
    metadata = np.stack([encode_metadata()[0]] * len(pictures))
    take_statistics(model, torch.from_numpy(images), torch.from_numpy(metadata))
    state = tensors_of(model)
    return export(state, config, folder, dtype)
