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

All other layers are as in a folder without that line. The sums below are exact in float64, every other step is rounded
once to float32, and halves go to the even number.
"""

import torch
from torch import nn

from dermafusion_training.model.layers import InvertedResidualBlock

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


def quantizable_blocks(model):
    """(name, block) of the blocks of a float network that are quantised."""
    return [(name, block) for name, block in model.named_blocks() if isinstance(block, InvertedResidualBlock)]


def make_quantized(model):
    """Turns an EfficientNet-Lite into the network in 8 bits, with tensors that wait to be loaded."""
    for name, block in quantizable_blocks(model):
        stage, index = name.removeprefix("blocks.").split(".")
        model.blocks[int(stage)][int(index)] = QuantizedInvertedResidualBlock(block)
    model.conv_head = QuantizedConvolution(model.conv_head)
    model.bn2 = nn.Identity()
    return model
