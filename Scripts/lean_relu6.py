"""ReLU6 for training: less memory and time than PyTorch's, whose backward pass needs a copy of the argument."""

import torch
from torch import nn


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
