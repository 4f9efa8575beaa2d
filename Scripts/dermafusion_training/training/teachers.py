"""Targets that other models have a part in (Hinton et al., "Distilling the knowledge in a neural network", 2015)."""

import numpy as np
import torch
from torch.nn import functional as F

from dermafusion_training.model.folder import load_folder
from dermafusion_training.training.fast_layers import hold_statistics

# A network's answers at two sizes differ, and their mean is better than either: each batch
# is shown to its teacher at one of these, at most at its own.
SIZES = (224, 256, 288, 320, 380)


class Teachers:
    """Model folders, one of which answers each batch; drawn by `votes`, which add up to 1.

    `begin` says what is drawn from, once for each epoch: a run that goes on draws as one that was not interrupted.
    """

    def __init__(self, folders, votes, device):
        self.models = [load_folder(folder)[1].to(device, memory_format=torch.channels_last) for folder in folders]
        for model in self.models:
            hold_statistics(model)
        self.votes = votes

    def begin(self, seed, epoch):
        self.rng = np.random.default_rng((seed, epoch, len(self.models)))

    def answers(self, images, metadata):
        """Probabilities float32 [N, classes] of one teacher at one size."""
        size = int(self.rng.choice(SIZES))
        if size < images.shape[-1]:
            images = F.interpolate(images, (size, size), mode="bilinear", antialias=True)
            images = images.contiguous(memory_format=torch.channels_last)
        model = self.models[self.rng.choice(len(self.models), p=self.votes)]
        with torch.no_grad():
            return F.softmax(model(images, metadata).float(), dim=1)
