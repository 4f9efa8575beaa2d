"""The layers and blocks of EfficientNet, with timm's names. Layout is NCHW, weights OIHW."""

import math
from dataclasses import dataclass

from torch import nn
from torch.nn import functional as F

SQUEEZE_RATIO = 0.25
ACTIVATIONS = {"silu": nn.SiLU, "relu6": nn.ReLU6}


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

    def batch_norm(self, channels, act=None):
        """A batch norm and the activation of this name after it."""
        return NormActivation(channels, self.batch_norm_epsilon, nn.Identity() if act is None else activation(act))


class NormActivation(nn.BatchNorm2d):
    """A batch norm and its activation, `act`."""

    def __init__(self, channels, epsilon, act):
        super().__init__(channels, eps=epsilon)
        self.act = act

    def forward(self, x):
        return self.act(super().forward(x))


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


class SqueezeExcite(nn.Module):
    """Gates channels by sigmoid(expand(SiLU(reduce(mean over H, W))))."""

    def __init__(self, channels, reduced):
        super().__init__()
        self.conv_reduce = nn.Conv2d(channels, reduced, 1)
        self.act1 = activation("silu")
        self.conv_expand = nn.Conv2d(reduced, channels, 1)
        self.gate = nn.Sigmoid()

    def forward(self, x):
        return x * self.gate(self.conv_expand(self.act1(self.conv_reduce(x.mean((2, 3), keepdim=True)))))


def squeeze_excite(channels, reduced):
    return nn.Identity() if reduced is None else SqueezeExcite(channels, reduced)


class DepthwiseSeparableBlock(nn.Module):
    """Depthwise, squeeze-excite, project: a block that does not expand."""

    def __init__(self, convention, inputs, outputs, kernel_size, stride, act, reduced):
        super().__init__()
        self.has_skip = stride == 1 and inputs == outputs
        self.conv_dw = convention.convolution(inputs, inputs, kernel_size, stride, groups=inputs)
        self.bn1 = convention.batch_norm(inputs, act)
        self.se = squeeze_excite(inputs, reduced)
        self.conv_pw = convention.convolution(inputs, outputs, 1)
        self.bn2 = convention.batch_norm(outputs)

    def forward(self, x):
        y = self.se(self.bn1(self.conv_dw(x)))
        y = self.bn2(self.conv_pw(y))
        return x + y if self.has_skip else y


class InvertedResidualBlock(nn.Module):
    """Expand, depthwise, squeeze-excite, project."""

    def __init__(self, convention, inputs, expanded, outputs, kernel_size, stride, act, reduced):
        super().__init__()
        self.has_skip = stride == 1 and inputs == outputs
        self.conv_pw = convention.convolution(inputs, expanded, 1)
        self.bn1 = convention.batch_norm(expanded, act)
        self.conv_dw = convention.convolution(expanded, expanded, kernel_size, stride, groups=expanded)
        self.bn2 = convention.batch_norm(expanded, act)
        self.se = squeeze_excite(expanded, reduced)
        self.conv_pwl = convention.convolution(expanded, outputs, 1)
        self.bn3 = convention.batch_norm(outputs)

    def forward(self, x):
        y = self.bn1(self.conv_pw(x))
        y = self.se(self.bn2(self.conv_dw(y)))
        y = self.bn3(self.conv_pwl(y))
        return x + y if self.has_skip else y


@dataclass(frozen=True)
class Row:
    """A stage of equal blocks, of which only the first has the stride: depthwise separable where the expansion is 1,
    otherwise inverted residuals."""

    repeats: int
    kernel_size: int
    stride: int
    expansion: int
    channels: int
    act: str
    squeezes: bool


def build_block(convention, row, inputs, stride):
    reduced = round(inputs * SQUEEZE_RATIO) if row.squeezes else None
    shared = row.channels, row.kernel_size, stride, row.act, reduced
    if row.expansion == 1:
        return DepthwiseSeparableBlock(convention, inputs, *shared)
    return InvertedResidualBlock(convention, inputs, inputs * row.expansion, *shared)


def build_stages(convention, inputs, rows):
    built = []
    for row in rows:
        blocks = []
        for repeat in range(row.repeats):
            blocks.append(build_block(convention, row, inputs, row.stride if repeat == 0 else 1))
            inputs = row.channels
        built.append(nn.Sequential(*blocks))
    return nn.Sequential(*built)
