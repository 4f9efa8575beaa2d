"""Arithmetic that gives the same bits on every machine: sums on grids, where they are exact, and activations in which
each operation is rounded to float32, in one order and without fused products.
"""

import math

import torch
from torch import nn

GRID_STEPS = 4096
LARGEST_SUM = 2.0**24


def column(values):
    """[C] as [C, 1, 1], which multiplies the channels of [N, C, H, W]."""
    return values.view(-1, 1, 1)


def grid_step(limit):
    """The smallest power of two of which 4096 reach `limit`."""
    return 2.0 ** math.ceil(math.log2(limit / GRID_STEPS))


def on_grid(x, step):
    """x, float32, rounded to multiples of `step`, powers of two, float64 [O, ...] or one; no zero is negative."""
    return ((x.double() / step).round() * step + 0.0).float()


def fitted(weight, bias, limit):
    """The weights [O, ...] and biases on the finest grids where sums over inputs up to `limit` are exact in float32."""
    input_step = grid_step(limit)
    steps = torch.full((len(bias),), 2.0**-24, dtype=torch.float64)
    totals, count = weight.double().abs().sum((1, 2, 3)), weight[0].numel()
    while True:
        sums = (totals / steps + count / 2) * (limit / input_step + 1) + bias.double().abs() / (steps * input_step) + 1
        if not (sums > LARGEST_SUM).any():
            return on_grid(weight, steps.view(-1, 1, 1, 1)), on_grid(bias, steps * input_step)
        steps = torch.where(sums > LARGEST_SUM, steps * 2, steps)


def put_on_grid(convolution, norm, limit, rounds_input=False, output_step=None):
    """Makes a convolution and its batch norm add up without rounding, in any order, with fused products or without.

    Inputs are multiples of grid_step(limit), rounded to them where `rounds_input`; outputs are rounded to multiples of
    `output_step` where there is one, which ReLU6 after it keeps.
    """

    def convolve(x):
        gain = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
        weight = (convolution.weight.double() * gain.view(-1, 1, 1, 1)).float()
        bias = (norm.bias.double() - norm.running_mean.double() * gain).float()
        weight, bias = fitted(weight, bias, limit)
        x = on_grid(x, grid_step(limit)) if rounds_input else x
        sums = convolution._conv_forward(x.double(), weight.double(), None) + column(bias.double())
        return (sums if output_step is None else on_grid(sums, output_step)).float()

    convolution.forward = convolve
    norm.forward = lambda x: norm.act(x)


def add_up_in_double(layer):
    """Makes a dense layer, or a 1x1 convolution of one pixel, add up in float64, where each product is exact."""

    def multiply(x):
        weight = layer.weight.double().flatten(1)
        return (x.double().flatten(1) @ weight.T + layer.bias.double()).float().view(-1, len(weight), *x.shape[2:])

    layer.forward = multiply


ROUNDING = 1.5 * 2.0**23  # x + ROUNDING has the whole number nearest to x in its lowest bits
MINUS_LOG2_E = -1.442695
LARGEST_EXPONENT = 60.0
# 2^f for f from -1/2 to 1/2, within 0.18 %: a small part of the step of 8 bits.
POWER = (1.0004432, 0.70344824, 0.23842886)


def one_plus_exponential(x):
    """1 + exp(-x) of float32 values."""
    exponent = (x * MINUS_LOG2_E).clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT)
    shifted = exponent + ROUNDING
    rest = exponent - (shifted - ROUNDING)
    power = (rest * POWER[2] + POWER[1]) * rest + POWER[0]
    return (power.view(torch.int32) + (shifted.view(torch.int32) << 23)).view(torch.float32) + 1


def hard_sigmoid(x):
    return (x + 3).clamp(0, 6) * (1 / 6)


ACTIVATIONS = {
    nn.ReLU: lambda x: x.clamp(min=0),
    nn.ReLU6: lambda x: x.clamp(0, 6),
    nn.SiLU: lambda x: x / one_plus_exponential(x),
    nn.Sigmoid: lambda x: 1 / one_plus_exponential(x),
    nn.Hardswish: lambda x: x * hard_sigmoid(x),
    nn.Hardsigmoid: hard_sigmoid,
}


class ExactActivation(nn.Module):
    """The activation of a module, in a fixed order."""

    def __init__(self, like):
        super().__init__()
        self.apply_to = ACTIVATIONS[type(like)]

    def forward(self, x):
        return self.apply_to(x)
