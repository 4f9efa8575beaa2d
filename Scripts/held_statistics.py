"""Training with batch norms that hold their statistics: cheaper, for each is folded into the convolution before it."""

import torch
from torch import nn


def fold(convolution, norm):
    """Makes `convolution` compute norm(convolution(x)) with the stored statistics, and `norm` pass its input on.

    Weights, scale and shift still learn: the fold is done anew in every forward pass, at the cost of the weights.
    """

    def folded(x):
        scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
        weight = convolution.weight * scale[:, None, None, None]
        return convolution._conv_forward(x, weight, norm.bias - norm.running_mean * scale)

    convolution.forward = folded
    norm.forward = lambda x: x


def hold_statistics(model):
    """Folds every batch norm of an EfficientNet (model.py) into the convolution that it follows."""
    for module in list(model.modules()):
        convolutions = [child for child in module.children() if isinstance(child, nn.Conv2d)]
        norms = [child for child in module.children() if isinstance(child, nn.BatchNorm2d)]
        if norms:
            for convolution, norm in zip(convolutions, norms, strict=True):
                fold(convolution, norm)
