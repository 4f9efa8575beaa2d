"""The network in 8 bits: the definition that the Swift engine reproduces to the bit.

A folder whose config.json says `"precision": "int8"` holds, of the convolutions that are quantised:

    NAME.weight            int8, timm's shape, -127...127, the batch norm folded in
    NAME.weight_scale      float32 [O]; weight[o] stands for weight_scale[o] * weight[o]
    NAME.bias              float32 [O]
    NAME.input_scale       float32 [1]; level v of the input, 0...255, stands for input_scale * (v - input_zero_point)
    NAME.input_zero_point  float32 [1], a whole number 0...255; 0 where the input comes from ReLU6

These are the last convolution of the map and those of each block, squeeze-excite's too; in a network with ReLU6 only
the blocks that expand. The input of a depthwise convolution has finer levels where ReLU6 does not limit it,
-2047...2047 without a zero point: they cost nothing, for its sums are of floats. So has that of squeeze-excite:

    NAME.se.input_scale    float32 [1], the step of those levels

In a 1x1 convolution neighbouring weights of one sign, 2i and 2i + 1 of an output, add up to at most 128 in magnitude:
then their products with two levels fit in 16 bits, in which some machines add them.

Scales are from 1e-12 to 1e12.

All other layers have the tensors of a folder without that line. The stem, and in a network with ReLU6 the block that
does not expand, compute on grids, the dense layers add up exact products in float64, and activations have a fixed order
(exact.py). The sums below are exact in float64, every other step is rounded once to float32, and halves go to the even
number.
"""

import torch
from torch import nn

from dermafusion_training.model.exact import ExactActivation, add_up_in_double, column, grid_step, put_on_grid

LARGEST_LEVEL = 255
LARGEST_FINE_LEVEL = 2047
LARGEST_WEIGHT = 127
LARGEST_PAIR = 128
QUANTIZED = "int8"


def fine_levels(x, scale):
    """The levels -2047...2047 of values, `scale` apart, as float32."""
    return (x * (1 / scale)).round().clamp(-LARGEST_FINE_LEVEL, LARGEST_FINE_LEVEL)


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

    def quantize(self, x, factors=None):
        """The levels of the input x times its factors, 1 / input_scale where none are given, as float32."""
        scaled = (x * (1 / self.input_scale if factors is None else factors)).double() + self.input_zero_point
        return scaled.round().clamp(0, LARGEST_LEVEL).float()

    def sums(self, levels):
        """The sums of products of whole numbers, with the bias as a whole number: exact, then float32."""
        weight = self.weight.double()
        bias = (self.bias.double() / (self.input_scale.double() * self.weight_scale.double())).round()
        bias -= self.input_zero_point.double() * weight.sum((1, 2, 3))
        return (self.convolve(levels.double(), weight, None) + column(bias)).float()

    def sum_scale(self):
        """The value of one step of a sum, float32 [O]."""
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


class QuantizedSqueezeExcite(nn.Module):
    """Squeeze-excite on fine levels, before a convolution that takes their products with the gate as its levels."""

    def __init__(self, block):
        super().__init__()
        self.conv_reduce = QuantizedConvolution(block.conv_reduce)
        self.conv_expand = QuantizedConvolution(block.conv_expand)
        self.act1, self.gate = ExactActivation(block.act1), ExactActivation(block.gate)
        self.register_buffer("input_scale", torch.ones(1))

    def forward(self, x, following):
        """The levels of the convolution that follows, of values x."""
        levels, scale = fine_levels(x, self.input_scale), self.input_scale.double()
        means = (levels.double().sum((2, 3), keepdim=True) * scale / levels[0, 0].numel()).float()
        gate = self.gate(self.conv_expand(self.act1(self.conv_reduce(means))))
        return following.quantize(levels, (gate.double() * scale / following.input_scale.double()).float())


class QuantizedMBConvBlock(nn.Module):
    """A block of EfficientNet or MobileNetV3, from values to values."""

    def __init__(self, block):
        super().__init__()
        self.has_skip = block.has_skip
        self.follows_relu6 = isinstance(block.bn1.act, nn.ReLU6)
        self.act = ExactActivation(block.bn1.act)
        self.expands = hasattr(block, "conv_pwl")
        self.conv_pw = QuantizedConvolution(block.conv_pw)
        self.conv_dw = QuantizedConvolution(block.conv_dw)
        if self.expands:
            self.conv_pwl = QuantizedConvolution(block.conv_pwl)
        self.se = None if isinstance(block.se, nn.Identity) else QuantizedSqueezeExcite(block.se)

    def forward(self, x):
        last = self.conv_pwl if self.expands else self.conv_pw
        if self.follows_relu6:
            levels = self.conv_pw.levels(self.conv_pw.quantize(x), self.conv_dw.input_scale)
            levels = self.conv_dw.levels(levels, last.input_scale)
        else:
            y = self.act(self.conv_pw(x)) if self.expands else x
            y = self.act(self.conv_dw.values(fine_levels(y, self.conv_dw.input_scale)))
            levels = last.quantize(y) if self.se is None else self.se(y, last)
        y = last.values(levels)
        return y + x if self.has_skip else y


class QuantizedConvolutionBlock(nn.Module):
    """A 1x1 convolution and its activation: the last stage of MobileNetV3."""

    def __init__(self, block):
        super().__init__()
        self.conv = QuantizedConvolution(block.conv)
        self.act = ExactActivation(block.bn1.act)

    def forward(self, x):
        return self.act(self.conv(x))


def quantizable_blocks(model):
    """(name, block) of the blocks of a float network that are quantised."""
    return [
        (name, block)
        for name, block in model.named_blocks()
        if hasattr(block, "conv_pwl") or not isinstance(block.bn1.act, nn.ReLU6)
    ]


def quantized_block(block):
    return QuantizedConvolutionBlock(block) if hasattr(block, "conv") else QuantizedMBConvBlock(block)


def make_quantized(model, config):
    """Turns an EfficientNet or a MobileNetV3 into the network in 8 bits, with tensors that wait to be loaded."""
    preprocessing = config["preprocessing"]
    limit = max(max(m, 1 - m) / s for m, s in zip(preprocessing["mean"], preprocessing["std"], strict=True))
    step = grid_step(6) if isinstance(model.bn1.act, nn.ReLU6) else None
    # As float32, in which the engine has it.
    put_on_grid(model.conv_stem, model.bn1, torch.tensor(limit).item(), rounds_input=True, output_step=step)
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            add_up_in_double(layer)
    quantizable = dict(quantizable_blocks(model))
    for name, block in model.named_blocks():
        stage, index = name.removeprefix("blocks.").split(".")
        if name in quantizable:
            model.blocks[int(stage)][int(index)] = quantized_block(block)
        else:
            put_on_grid(block.conv_dw, block.bn1, 6, output_step=step)
            put_on_grid(block.conv_pw, block.bn2, 6)
    model.bn1.act = ExactActivation(model.bn1.act)
    if model.last_name is None:
        add_up_in_double(model.conv_head)
        model.act2 = ExactActivation(model.act2)
    else:
        model.conv_head = QuantizedConvolution(model.conv_head)
        model.bn2 = ExactActivation(model.bn2.act)
    return model
