"""The layers and blocks that EfficientNet and MobileNetV3 share. Layout is NCHW, weights OIHW."""

import math
from dataclasses import dataclass

from torch import nn
from torch.nn import functional as F

from dermafusion_training.model.architecture import rounded_to_8

SQUEEZE_RATIO = 0.25
ACTIVATIONS = {"silu": nn.SiLU, "relu": nn.ReLU, "relu6": nn.ReLU6, "hard_swish": nn.Hardswish}


@dataclass(frozen=True)
class Convention:
    """The common properties of all convolutions of a network."""

    padding: str
    batch_norm_epsilon: float

    def convolution(self, inputs, outputs, kernel_size, stride=1, groups=1):
        """A convolution without bias."""
        if self.padding == "same":
            return SameConv2d(inputs, outputs, kernel_size, stride, groups=groups, bias=False)
        return nn.Conv2d(inputs, outputs, kernel_size, stride, kernel_size // 2, groups=groups, bias=False)

    def batch_norm(self, channels):
        return nn.BatchNorm2d(channels, eps=self.batch_norm_epsilon)


class SameConv2d(nn.Conv2d):
    """A convolution with TensorFlow's SAME padding: ceil(size / stride) outputs, the odd zero after."""

    def padded(self, x):
        """(x, rows and columns of zeros still to be added around it): the odd zeros are added here."""
        before_after = []
        for size in (x.shape[3], x.shape[2]):
            stride, window = self.stride[0], self.kernel_size[0]
            total = max((math.ceil(size / stride) - 1) * stride + window - size, 0)
            before_after += [total // 2, total - total // 2]
        left, right, top, bottom = before_after
        return (x, (top, left)) if left == right and top == bottom else (F.pad(x, before_after), (0, 0))

    def _conv_forward(self, x, weight, bias):
        x, padding = self.padded(x)
        return F.conv2d(x, weight, bias, self.stride, padding, 1, self.groups)


def activation(name):
    return ACTIVATIONS[name](inplace=True)


@dataclass(frozen=True)
class Gate:
    """The squeeze-excite of a block: the width between its layers, and whether it is MobileNetV3's hard kind."""

    reduced: int
    hard: bool


class SqueezeExcite(nn.Module):
    """Gates channels by sigmoid(expand(SiLU(reduce(mean over H, W)))).

    The hard kind has ReLU in place of SiLU and min(max(x + 3, 0), 6) / 6 in place of sigmoid.
    """

    def __init__(self, channels, gate):
        super().__init__()
        self.conv_reduce = nn.Conv2d(channels, gate.reduced, 1)
        self.act1 = activation("relu" if gate.hard else "silu")
        self.conv_expand = nn.Conv2d(gate.reduced, channels, 1)
        self.gate = nn.Hardsigmoid() if gate.hard else nn.Sigmoid()

    def forward(self, x):
        return x * self.gate(self.conv_expand(self.act1(self.conv_reduce(x.mean((2, 3), keepdim=True)))))


def squeeze_excite(channels, gate):
    return nn.Identity() if gate is None else SqueezeExcite(channels, gate)


class DepthwiseSeparableBlock(nn.Module):
    """Depthwise, squeeze-excite, project: a block that does not expand."""

    def __init__(self, convention, inputs, outputs, kernel_size, stride, act, gate):
        super().__init__()
        self.has_skip = stride == 1 and inputs == outputs
        self.conv_dw = convention.convolution(inputs, inputs, kernel_size, stride, groups=inputs)
        self.bn1 = convention.batch_norm(inputs)
        self.act = activation(act)
        self.se = squeeze_excite(inputs, gate)
        self.conv_pw = convention.convolution(inputs, outputs, 1)
        self.bn2 = convention.batch_norm(outputs)

    def forward(self, x):
        y = self.se(self.act(self.bn1(self.conv_dw(x))))
        y = self.bn2(self.conv_pw(y))
        return x + y if self.has_skip else y


class InvertedResidualBlock(nn.Module):
    """Expand, depthwise, squeeze-excite, project."""

    def __init__(self, convention, inputs, expanded, outputs, kernel_size, stride, act, gate):
        super().__init__()
        self.has_skip = stride == 1 and inputs == outputs
        self.conv_pw = convention.convolution(inputs, expanded, 1)
        self.bn1 = convention.batch_norm(expanded)
        self.conv_dw = convention.convolution(expanded, expanded, kernel_size, stride, groups=expanded)
        self.bn2 = convention.batch_norm(expanded)
        self.act = activation(act)
        self.se = squeeze_excite(expanded, gate)
        self.conv_pwl = convention.convolution(expanded, outputs, 1)
        self.bn3 = convention.batch_norm(outputs)

    def forward(self, x):
        y = self.act(self.bn1(self.conv_pw(x)))
        y = self.se(self.act(self.bn2(self.conv_dw(y))))
        y = self.bn3(self.conv_pwl(y))
        return x + y if self.has_skip else y


class ConvolutionBlock(nn.Module):
    """A 1x1 convolution, batch norm and activation: the last stage of MobileNetV3."""

    def __init__(self, convention, inputs, outputs, act):
        super().__init__()
        self.conv = convention.convolution(inputs, outputs, 1)
        self.bn1 = convention.batch_norm(outputs)
        self.act = activation(act)

    def forward(self, x):
        return self.act(self.bn1(self.conv(x)))


@dataclass(frozen=True)
class Row:
    """Equal blocks that follow one another; only the first has the stride. Without an expansion they are 1x1
    convolutions, with the expansion 1 depthwise separable, else inverted residuals."""

    repeats: int
    kernel_size: int
    stride: int
    expansion: float | None
    channels: int
    act: str
    squeezes: bool


def build_block(convention, row, inputs, stride, hard):
    if row.expansion is None:
        return ConvolutionBlock(convention, inputs, row.channels, row.act)
    expanded = rounded_to_8(inputs * row.expansion)
    gate = None
    if row.squeezes:
        gate = Gate(rounded_to_8(expanded * SQUEEZE_RATIO) if hard else round(inputs * SQUEEZE_RATIO), hard)
    shared = row.channels, row.kernel_size, stride, row.act, gate
    if row.expansion == 1:
        return DepthwiseSeparableBlock(convention, inputs, *shared)
    return InvertedResidualBlock(convention, inputs, expanded, *shared)


def build_stages(convention, inputs, stages, hard=False):
    """The stages of a network from the rows of each; `hard` is the kind of squeeze-excite."""
    built = []
    for rows in stages:
        blocks = []
        for row in rows:
            for repeat in range(row.repeats):
                blocks.append(build_block(convention, row, inputs, row.stride if repeat == 0 else 1, hard))
                inputs = row.channels
        built.append(nn.Sequential(*blocks))
    return nn.Sequential(*built)
