"""EfficientNet, MobileNetV3 and ResNet: timm's own networks with what a Network has."""

import math

from torch import nn
from torch.nn import functional as F

from dermafusion_training.model.architecture import EFFICIENTNETS, RESNETS, timm
from dermafusion_training.model.network import Network


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


class EfficientNet(Network):
    """The last map comes after the stages."""

    last_name = "conv_head"

    def pool(self, feature_map):
        return feature_map.mean((2, 3))


class ResNet(Network):
    """Max pooling belongs to the stem."""

    stem_name = "maxpool"
    classifier_name = "fc"

    def named_stages(self):
        return [(f"layer{index}", getattr(self, f"layer{index}")) for index in range(1, 5)]

    def stem(self, image):
        return self.maxpool(self.act1(self.bn1(self.conv1(image))))


def kind_of(name):
    if name in EFFICIENTNETS:
        return EfficientNet
    return ResNet if name in RESNETS else Network


def timm_network(name, padding, epsilon, classes, fusion=None, dropout=0.0):
    """The network with a head of ours; random weights with which every layer counts."""
    if name in EFFICIENTNETS:
        name = ("tf_" if padding == "same" else "") + name.removeprefix("tf_")
    network = timm().create_model(name, num_classes=0, **({"zero_init_last": False} if name in RESNETS else {}))
    kind = kind_of(name)
    network.__class__ = type(kind.__name__, (kind, type(network)), {})
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eps = epsilon
        elif isinstance(module, timm().layers.Conv2dSame):
            module.__class__ = SameConv2d
    network.add_head(network.head_hidden_size, classes, fusion, dropout)
    return network
