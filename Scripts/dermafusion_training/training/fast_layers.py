"""Layers that make training cheaper.

Batch norms that hold their statistics are folded into the convolutions before them. LeanReLU6 keeps no copy of its
argument, which PyTorch's ReLU6 needs for its backward pass.
"""

import itertools

import torch
from torch import nn


def fold(convolution, norm):
    """Makes `convolution` compute norm(convolution(x)) with the stored statistics, and `norm` its activation alone.

    Weights, scale and shift still learn: the fold is done anew in every forward pass, at the cost of the weights.
    """

    def folded(x):
        scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
        weight = convolution.weight * scale[:, None, None, None]
        return convolution._conv_forward(x, weight, norm.bias - norm.running_mean * scale)

    convolution.forward = folded
    act = getattr(norm, "act", nn.Identity())
    norm.forward = lambda x: act(x)


def hold_statistics(model):
    """Folds every batch norm of a network into the convolution before it."""
    for module in list(model.modules()):
        for convolution, norm in itertools.pairwise(module.children()):
            if isinstance(convolution, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
                fold(convolution, norm)


class Clamp6(torch.autograd.Function):
    """min(max(x, 0), 6) in place; the slope is 1 where the result lies between the bounds."""

    @staticmethod
    def forward(context, x):
        context.mark_dirty(x.clamp_(0, 6))
        context.save_for_backward(x)
        return x

    @staticmethod
    def backward(context, gradient):
        (result,) = context.saved_tensors
        # In another layout than that of the result it takes several times as long.
        gradient = gradient.contiguous(memory_format=torch.channels_last)
        return torch.ops.aten.hardtanh_backward(gradient, result, 0.0, 6.0)


class LeanReLU6(nn.Module):
    def forward(self, x):
        return Clamp6.apply(x)


def make_relu6_lean(model):
    """Puts a LeanReLU6 in the place of every ReLU6 of a model."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.ReLU6):
                setattr(module, name, LeanReLU6())
