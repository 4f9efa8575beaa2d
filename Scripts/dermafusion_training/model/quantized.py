"""The network in 8 bits: the definition that the Swift engine reproduces to the bit.

A folder whose config.json says `"precision": "int8"` holds, of the last convolution and of the three convolutions of
each block that expands:

    NAME.weight            int8, timm's shape, -127...127, the batch norm folded in
    NAME.weight_scale      float32 [O]; weight[o] stands for weight_scale[o] * weight[o]
    NAME.bias              float32 [O]
    NAME.input_scale       float32 [1]; level v of the input, 0...255, stands for input_scale * (v - input_zero_point)
    NAME.input_zero_point  float32 [1], a whole number 0...255; 0 where the input comes from ReLU6

In a 1x1 convolution neighbouring weights of one sign, 2i and 2i + 1 of an output, add up to at most 128 in magnitude:
then their products with two levels fit in 16 bits, in which some machines add them.

Scales are from 1e-12 to 1e12.

All other layers have the tensors of a folder without that line. The stem and the block that does not expand compute on
grids (`put_on_grid`), the dense layers add up exact products in float64. The sums below are exact in float64, every
other step is rounded once to float32, and halves go to the even number.
"""

import math

import torch
from torch import nn

from dermafusion_training.model.layers import DepthwiseSeparableBlock, InvertedResidualBlock

LARGEST_LEVEL = 255
LARGEST_WEIGHT = 127
LARGEST_PAIR = 128
QUANTIZED = "int8"


def column(values):
    """[C] as [C, 1, 1], which multiplies the channels of [N, C, H, W]."""
    return values.view(-1, 1, 1)


class QuantizedConvolution(nn.Module):
    """A convolution of levels; `like` is the float convolution whose shape, stride and padding it has."""

    def __init__(self, like):
        super().__init__()
        outputs = like.weight.shape[0]
        self.convolve = like._conv_forward
        self.register_buffer("weight", torch.zeros(like.weight.shape, dtype=torch.int8))
        self.register_buffer("weight_scale", torch.ones(outputs))
        self.register_buffer("bias", torch.zeros(outputs))
        self.register_buffer("input_scale", torch.ones(1))
        self.register_buffer("input_zero_point", torch.zeros(1))

    def quantize(self, x):
        """The levels of the input x, as float32."""
        scaled = (x * (1 / self.input_scale)).double() + self.input_zero_point
        return scaled.round().clamp(0, LARGEST_LEVEL).float()

    def sums(self, levels):
        """The sums of products of whole numbers, with the bias as a whole number: exact, then float32."""
        weight = self.weight.double()
        bias = (self.bias.double() / (self.input_scale.double() * self.weight_scale.double())).round()
        bias -= self.input_zero_point.double() * weight.sum((1, 2, 3))
        return (self.convolve(levels.double(), weight, None) + column(bias)).float()

    def sum_scale(self):
        """What one step of a sum stands for, float32 [O]."""
        return (self.input_scale.double() * self.weight_scale.double()).float()

    def values(self, levels):
        """The output of levels of the input."""
        return self.sums(levels) * column(self.sum_scale())

    def levels(self, levels, output_scale):
        """The output's levels, `output_scale` apart, of levels of the input."""
        factor = (self.sum_scale().double() / output_scale.double()).float()
        return (self.sums(levels) * column(factor)).clamp(0, LARGEST_LEVEL).round()

    def forward(self, x):
        return self.values(self.quantize(x))


class QuantizedInvertedResidualBlock(nn.Module):
    """An inverted residual with ReLU6 and without squeeze-excite, from values to values."""

    def __init__(self, block):
        super().__init__()
        self.has_skip = block.has_skip
        self.conv_pw = QuantizedConvolution(block.conv_pw)
        self.conv_dw = QuantizedConvolution(block.conv_dw)
        self.conv_pwl = QuantizedConvolution(block.conv_pwl)

    def forward(self, x):
        levels = self.conv_pw.levels(self.conv_pw.quantize(x), self.conv_dw.input_scale)
        levels = self.conv_dw.levels(levels, self.conv_pwl.input_scale)
        y = self.conv_pwl.values(levels)
        return y + x if self.has_skip else y


GRID_STEPS = 4096
LARGEST_SUM = 2.0**24


def grid_step(limit):
    """The smallest power of two of which 4096 reach `limit`."""
    return 2.0 ** math.ceil(math.log2(limit / GRID_STEPS))


def on_grid(x, step):
    """x, float32, rounded to multiples of the power of two `step`, a number or float64 [O, ...]."""
    return ((x.double() / step).round() * step).float()


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
    norm.forward = lambda x: x


def quantizable_blocks(model):
    """(name, block) of the blocks of a float network that are quantised."""
    return [(name, block) for name, block in model.named_blocks() if isinstance(block, InvertedResidualBlock)]


def make_quantized(model, config):
    """Turns an EfficientNet-Lite into the network in 8 bits, with tensors that wait to be loaded."""
    preprocessing = config["preprocessing"]
    limit = max(max(m, 1 - m) / s for m, s in zip(preprocessing["mean"], preprocessing["std"], strict=True))
    step = grid_step(6)
    # As float32, in which the engine has it.
    put_on_grid(model.conv_stem, model.bn1, torch.tensor(limit).item(), rounds_input=True, output_step=step)
    for _, block in model.named_blocks():
        if isinstance(block, DepthwiseSeparableBlock):
            put_on_grid(block.conv_dw, block.bn1, 6, output_step=step)
            put_on_grid(block.conv_pw, block.bn2, 6)
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            layer.forward = lambda x, layer=layer: (x.double() @ layer.weight.double().T + layer.bias.double()).float()
    for name, block in quantizable_blocks(model):
        stage, index = name.removeprefix("blocks.").split(".")
        model.blocks[int(stage)][int(index)] = QuantizedInvertedResidualBlock(block)
    model.conv_head = QuantizedConvolution(model.conv_head)
    model.bn2 = nn.Identity()
    return model
