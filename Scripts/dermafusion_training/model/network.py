"""The common part of all networks: stages, pooling, and a head that may take metadata.

Tensor names are timm's, so a timm state dict loads by name. The fusion head replaces timm's last linear layer in every
architecture. It takes what that layer would take, [N, C] after pooling: EfficientNet's pooled last map, MobileNetV3's
pooled last map after `conv_head` and its hard-swish, ResNet's pooled last map.
"""

import torch
from torch import nn

from dermafusion_training.model.fusion import FusionHead


class Network(nn.Module):
    """Images float32 [N, 3, H, W] and, with a fusion head, metadata float32 [N, 4], to logits [N, classes].

    It goes before timm's class in a class of both. A subclass has what differs from the methods here.
    """

    stem_name = "conv_stem"  # of the feature map after the stem
    last_name = None  # of the last feature map, where it comes after the stages
    classifier_name = "classifier"

    def add_head(self, pooled_size, classes, fusion, dropout):
        """Adds the classifier, or the fusion head where `fusion` holds its settings."""
        self.dropout = nn.Dropout(dropout)
        self.has_fusion = fusion is not None
        if self.has_fusion:
            self.fusion = FusionHead(pooled_size, classes, fusion, dropout)
        else:
            setattr(self, self.classifier_name, nn.Linear(pooled_size, classes))

    def named_stages(self):
        """(name, module) of every stage in order."""
        return [(f"blocks.{index}", stage) for index, stage in enumerate(self.blocks)]

    def stem(self, image):
        return self.bn1(self.conv_stem(image))

    def stage_output(self, image, stage):
        """The feature map at the end of a stage, counted from 0."""
        x = self.stem(image)
        for _, module in self.named_stages()[: stage + 1]:
            x = module(x)
        return x

    def features(self, image):
        """The last feature map, [N, C, H, W]."""
        return self.forward_features(image)

    def pool(self, feature_map):
        """The pooled features [N, C] of the last feature map, which the head takes."""
        return self.forward_head(feature_map, pre_logits=True)

    def head(self, pooled, metadata=None):
        """Logits [N, classes] of pooled features."""
        if self.has_fusion:
            return self.fusion(pooled, metadata)
        return getattr(self, self.classifier_name)(self.dropout(pooled))

    def forward(self, image, metadata=None):
        return self.head(self.pool(self.features(image)), metadata)

    def named_blocks(self):
        """(name, module) of every block in order."""
        for name, stage in self.named_stages():
            for index, block in enumerate(stage):
                yield f"{name}.{index}", block


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
