"""EfficientNet of any architecture of `architecture.py`, with or without a metadata fusion head.

Tensor names are timm's, so a timm state dict loads by name. Layout is NCHW, weights OIHW.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from dermafusion.model.architecture import Architecture
from dermafusion.model.config import SEXES, SITES, class_names, default_fusion, default_preprocessing

SQUEEZE_RATIO = 0.25


class SameConv2d(nn.Conv2d):
    """A convolution with TensorFlow's SAME padding: ceil(size / stride) outputs, the odd zero after."""

    def _conv_forward(self, x, weight, bias):
        before_after = []
        for size in (x.shape[3], x.shape[2]):
            stride, window = self.stride[0], self.kernel_size[0]
            total = max((math.ceil(size / stride) - 1) * stride + window - size, 0)
            before_after += [total // 2, total - total // 2]
        left, right, top, bottom = before_after
        if left == right and top == bottom:
            return F.conv2d(x, weight, bias, self.stride, (top, left), 1, self.groups)
        return F.conv2d(F.pad(x, before_after), weight, bias, self.stride, 0, 1, self.groups)


def convolution(architecture, inputs, outputs, kernel_size, stride=1, groups=1):
    """A convolution without bias, padded as the architecture pads."""
    if architecture.padding == "same":
        return SameConv2d(inputs, outputs, kernel_size, stride, groups=groups, bias=False)
    return nn.Conv2d(inputs, outputs, kernel_size, stride, kernel_size // 2, groups=groups, bias=False)


def batch_norm(architecture, channels):
    return nn.BatchNorm2d(channels, eps=architecture.batch_norm_epsilon)


def activation(architecture):
    return nn.ReLU6(inplace=True) if architecture.lite else nn.SiLU(inplace=True)


class SqueezeExcite(nn.Module):
    """Gates channels by sigmoid(expand(SiLU(reduce(mean over H, W))))."""

    def __init__(self, channels, reduced):
        super().__init__()
        self.conv_reduce = nn.Conv2d(channels, reduced, 1)
        self.conv_expand = nn.Conv2d(reduced, channels, 1)

    def forward(self, x):
        gate = self.conv_expand(F.silu(self.conv_reduce(x.mean((2, 3), keepdim=True))))
        return x * gate.sigmoid()


def squeeze_excite(architecture, channels, block_inputs):
    return nn.Identity() if architecture.lite else SqueezeExcite(channels, round(block_inputs * SQUEEZE_RATIO))


class DepthwiseSeparableBlock(nn.Module):
    """Depthwise, squeeze-excite, project: the blocks of stage 0."""

    def __init__(self, architecture, inputs, outputs, kernel_size, stride):
        super().__init__()
        self.has_skip = stride == 1 and inputs == outputs
        self.conv_dw = convolution(architecture, inputs, inputs, kernel_size, stride, groups=inputs)
        self.bn1 = batch_norm(architecture, inputs)
        self.act = activation(architecture)
        self.se = squeeze_excite(architecture, inputs, inputs)
        self.conv_pw = convolution(architecture, inputs, outputs, 1)
        self.bn2 = batch_norm(architecture, outputs)

    def forward(self, x):
        y = self.se(self.act(self.bn1(self.conv_dw(x))))
        y = self.bn2(self.conv_pw(y))
        return x + y if self.has_skip else y


class InvertedResidualBlock(nn.Module):
    """Expand, depthwise, squeeze-excite, project: the blocks of the other stages."""

    def __init__(self, architecture, inputs, outputs, kernel_size, stride, expansion):
        super().__init__()
        expanded = inputs * expansion
        self.has_skip = stride == 1 and inputs == outputs
        self.conv_pw = convolution(architecture, inputs, expanded, 1)
        self.bn1 = batch_norm(architecture, expanded)
        self.conv_dw = convolution(architecture, expanded, expanded, kernel_size, stride, groups=expanded)
        self.bn2 = batch_norm(architecture, expanded)
        self.act = activation(architecture)
        self.se = squeeze_excite(architecture, expanded, inputs)
        self.conv_pwl = convolution(architecture, expanded, outputs, 1)
        self.bn3 = batch_norm(architecture, outputs)

    def forward(self, x):
        y = self.act(self.bn1(self.conv_pw(x)))
        y = self.se(self.act(self.bn2(self.conv_dw(y))))
        y = self.bn3(self.conv_pwl(y))
        return x + y if self.has_skip else y


class FusionHead(nn.Module):
    """Joins pooled image features [N, C] with metadata vectors [N, 4] (see data/metadata.py) to logits [N, classes]."""

    def __init__(self, pooled_size, classes, settings, dropout=0.0):
        super().__init__()
        epsilon = settings["layer_norm_epsilon"]
        metadata_size, hidden_size = settings["metadata_size"], settings["hidden_size"]
        encoded_size = 2 + settings["sex_embedding_size"] + settings["site_embedding_size"]
        self.sex_embedding = nn.Embedding(len(SEXES), settings["sex_embedding_size"])
        self.site_embedding = nn.Embedding(len(SITES), settings["site_embedding_size"])
        self.metadata_dense = nn.Linear(encoded_size, metadata_size)
        self.metadata_norm = nn.LayerNorm(metadata_size, eps=epsilon)
        self.hidden = nn.Linear(pooled_size + metadata_size, hidden_size)
        self.hidden_norm = nn.LayerNorm(hidden_size, eps=epsilon)
        self.classifier = nn.Linear(hidden_size, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, pooled, metadata):
        sex = self.sex_embedding(metadata[:, 2].long())
        site = self.site_embedding(metadata[:, 3].long())
        encoded = torch.cat([metadata[:, :2], sex, site], dim=1)
        encoded = F.silu(self.metadata_norm(self.metadata_dense(encoded)))
        joined = torch.cat([self.dropout(pooled), encoded], dim=1)
        hidden = F.silu(self.hidden_norm(self.hidden(joined)))
        return self.classifier(self.dropout(hidden))


class EfficientNet(nn.Module):
    """Images float32 [N, 3, H, W] and, with a fusion head, metadata float32 [N, 4], to logits [N, classes]."""

    def __init__(self, architecture, classes, fusion=None, dropout=0.0):
        super().__init__()
        stem = architecture.stem_channels()
        self.conv_stem = convolution(architecture, 3, stem, 3, 2)
        self.bn1 = batch_norm(architecture, stem)
        self.act = activation(architecture)
        channels, stages = stem, []
        for repeats, kernel_size, stride, expansion, outputs in architecture.stages():
            blocks = []
            for index in range(repeats):
                block_stride = stride if index == 0 else 1
                if expansion == 1:
                    block = DepthwiseSeparableBlock(architecture, channels, outputs, kernel_size, block_stride)
                else:
                    block = InvertedResidualBlock(architecture, channels, outputs, kernel_size, block_stride, expansion)
                blocks.append(block)
                channels = outputs
            stages.append(nn.Sequential(*blocks))
        self.blocks = nn.Sequential(*stages)
        head = architecture.head_channels()
        self.conv_head = convolution(architecture, channels, head, 1)
        self.bn2 = batch_norm(architecture, head)
        self.dropout = nn.Dropout(dropout)
        self.has_fusion = fusion is not None
        if self.has_fusion:
            self.fusion = FusionHead(head, classes, fusion, dropout)
        else:
            self.classifier = nn.Linear(head, classes)

    def stage_output(self, image, stage):
        """The feature map at the end of a stage, counted from 0."""
        return self.blocks[: stage + 1](self.act(self.bn1(self.conv_stem(image))))

    def features(self, image):
        """The last feature map, [N, C, ceil(H / 32), ceil(W / 32)], after its activation."""
        return self.act(self.bn2(self.conv_head(self.stage_output(image, len(self.blocks) - 1))))

    def forward(self, image, metadata=None):
        pooled = self.features(image).mean((2, 3))
        if self.has_fusion:
            return self.fusion(pooled, metadata)
        return self.classifier(self.dropout(pooled))

    def named_blocks(self):
        """(name, module) of every block in order: blocks.0.0, blocks.1.0, ..."""
        for stage_index, stage in enumerate(self.blocks):
            for block_index, block in enumerate(stage):
                yield f"blocks.{stage_index}.{block_index}", block


def build_config(architecture, classes, fusion=True, size=380, name=None, version="1.0.0", padding=None):
    """The config.json of a new model with `classes` classes."""
    details = Architecture.named(architecture, padding)
    return {
        "format_version": 1,
        "name": name or architecture,
        "version": version,
        "architecture": architecture,
        "padding": details.padding,
        "batch_norm_epsilon": details.batch_norm_epsilon,
        "classes": class_names(classes),
        "temperature": 1.0,
        "preprocessing": default_preprocessing(size),
        "metadata": {"sexes": list(SEXES), "sites": list(SITES)},
        "fusion": default_fusion() if fusion else None,
        "training": {},
    }


def symmetry_views(image):
    """The eight symmetries of square images [..., S, S]: 0 to 3 counterclockwise quarter turns, then those mirrored."""
    turned = [torch.rot90(image, turns, (-2, -1)) for turns in range(4)]
    return turned + [view.flip(-1) for view in turned]


def mean_logits(model, image, metadata, views=1):
    """Logits float32 [N, classes] of images [N, 3, S, S]: of one view, or the mean of eight, added up in float64."""
    if views == 1:
        return model(image, metadata)
    logits = [model(view, metadata).double() for view in symmetry_views(image)]
    return (sum(logits) / len(logits)).float()


def build_model(config, dropout=0.0):
    """The network that a config.json describes, with random weights."""
    return EfficientNet(Architecture.of(config), len(config["classes"]), config["fusion"], dropout)
