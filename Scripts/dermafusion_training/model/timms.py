"""MobileNetV3 and ResNet: timm's own networks with what a Network has, among it a head that may take metadata."""

from torch import nn

from dermafusion_training.model.architecture import RESNETS, timm
from dermafusion_training.model.network import Network


class TimmNetwork(Network):
    """Goes before timm's class in a class of both; the last map is that of the last stage."""

    def features(self, image):
        return self.forward_features(image)

    def pool(self, feature_map):
        return self.forward_head(feature_map, pre_logits=True)


class ResNet(TimmNetwork):
    """Max pooling belongs to the stem."""

    stem_name = "maxpool"
    classifier_name = "fc"

    def named_stages(self):
        return [(f"layer{index}", getattr(self, f"layer{index}")) for index in range(1, 5)]

    def stem(self, image):
        return self.maxpool(self.act1(self.bn1(self.conv1(image))))


def timm_network(name, epsilon, classes, fusion=None, dropout=0.0):
    """The network with a head of ours; random weights with which every layer counts."""
    network = timm().create_model(name, num_classes=0, **({"zero_init_last": False} if name in RESNETS else {}))
    kind = ResNet if name in RESNETS else TimmNetwork
    network.__class__ = type(kind.__name__, (kind, type(network)), {})
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eps = epsilon
    network.add_head(network.head_hidden_size, classes, fusion, dropout)
    return network
