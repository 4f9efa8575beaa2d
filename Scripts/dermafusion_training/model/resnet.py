"""ResNet-18 and ResNet-50 (He et al., 2016, table 1), with the stride in the 3x3 convolution, as timm has them."""

from torch import nn

from dermafusion_training.model.layers import activation
from dermafusion_training.model.network import Network

STEM_CHANNELS = 64
STAGE_CHANNELS = [64, 128, 256, 512]


def shortcut(convention, inputs, outputs, stride):
    """The shortcut of a block: a 1x1 convolution if the shape changes, otherwise nothing."""
    if stride == 1 and inputs == outputs:
        return None
    return nn.Sequential(convention.convolution(inputs, outputs, 1, stride), convention.batch_norm(outputs))


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    expansion = 1

    def __init__(self, convention, inputs, width, stride):
        super().__init__()
        self.conv1 = convention.convolution(inputs, width, 3, stride)
        self.bn1 = convention.batch_norm(width)
        self.conv2 = convention.convolution(width, width, 3)
        self.bn2 = convention.batch_norm(width)
        self.act = activation("relu")
        self.downsample = shortcut(convention, inputs, width, stride)

    def forward(self, x):
        y = self.act(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.act(y + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    """1x1 to the width, 3x3, 1x1 to four times the width, beside a shortcut."""

    expansion = 4

    def __init__(self, convention, inputs, width, stride):
        super().__init__()
        outputs = width * self.expansion
        self.conv1 = convention.convolution(inputs, width, 1)
        self.bn1 = convention.batch_norm(width)
        self.conv2 = convention.convolution(width, width, 3, stride)
        self.bn2 = convention.batch_norm(width)
        self.conv3 = convention.convolution(width, outputs, 1)
        self.bn3 = convention.batch_norm(outputs)
        self.act = activation("relu")
        self.downsample = shortcut(convention, inputs, outputs, stride)

    def forward(self, x):
        y = self.act(self.bn1(self.conv1(x)))
        y = self.act(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return self.act(y + (x if self.downsample is None else self.downsample(x)))


# Kind of block, and blocks of each stage.
LAYERS = {"resnet18": (BasicBlock, [2, 2, 2, 2]), "resnet50": (Bottleneck, [3, 4, 6, 3])}


class ResNet(Network):
    """Max pooling belongs to the stem; the last map is that of the last stage."""

    stem_name = "maxpool"
    classifier_name = "fc"

    def __init__(self, name, convention, classes, fusion=None, dropout=0.0):
        super().__init__()
        kind, counts = LAYERS[name]
        self.conv1 = convention.convolution(3, STEM_CHANNELS, 7, 2)
        self.bn1 = convention.batch_norm(STEM_CHANNELS)
        self.act1 = activation("relu")
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        inputs = STEM_CHANNELS
        for index, (width, count) in enumerate(zip(STAGE_CHANNELS, counts, strict=True), 1):
            blocks = []
            for number in range(count):
                blocks.append(kind(convention, inputs, width, 2 if number == 0 and index > 1 else 1))
                inputs = width * kind.expansion
            setattr(self, f"layer{index}", nn.Sequential(*blocks))
        self.add_head(inputs, classes, fusion, dropout)

    def named_stages(self):
        return [(f"layer{index}", getattr(self, f"layer{index}")) for index in range(1, 5)]

    def stem(self, image):
        return self.maxpool(self.act1(self.bn1(self.conv1(image))))
