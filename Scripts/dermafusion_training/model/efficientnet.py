"""EfficientNet B0-B7 and Lite0-Lite4, each scales of B0's stages."""

import math

from dermafusion_training.model.architecture import rounded_to_8
from dermafusion_training.model.layers import Row, build_stages
from dermafusion_training.model.network import Network

# Stages of EfficientNet-B0 (Tan & Le, 2019, table 1): repeats, kernel size, stride, expansion, channels.
STAGES = [
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
]
STEM_CHANNELS = 32
HEAD_CHANNELS = 1280

# Width and depth multipliers.
SCALES = {
    "b0": (1.0, 1.0), "b1": (1.0, 1.1), "b2": (1.1, 1.2), "b3": (1.2, 1.4),
    "b4": (1.4, 1.8), "b5": (1.6, 2.2), "b6": (1.8, 2.6), "b7": (2.0, 3.1),
    "lite0": (1.0, 1.0), "lite1": (1.0, 1.1), "lite2": (1.1, 1.2), "lite3": (1.2, 1.4), "lite4": (1.4, 1.8),
}  # fmt: skip


def scaled_stages(name):
    """The table of stages at an architecture's width and depth; Lite keeps the repeats of the first and the last."""
    width, depth = SCALES[name.rsplit("_", 1)[1]]
    lite = "lite" in name
    for index, (repeats, kernel_size, stride, expansion, channels) in enumerate(STAGES):
        if not (lite and index in (0, len(STAGES) - 1)):
            repeats = math.ceil(repeats * depth)
        act = "relu6" if lite else "silu"
        yield Row(repeats, kernel_size, stride, expansion, rounded_to_8(channels * width), act, squeezes=not lite)


class EfficientNet(Network):
    """Lite has ReLU6, no squeeze-excite, and B0's stem and head at every width."""

    last_name = "conv_head"

    def __init__(self, name, convention, classes, fusion=None, dropout=0.0):
        super().__init__()
        rows = list(scaled_stages(name))
        width = 1.0 if "lite" in name else SCALES[name.rsplit("_", 1)[1]][0]
        stem, head = rounded_to_8(STEM_CHANNELS * width), rounded_to_8(HEAD_CHANNELS * width)
        self.conv_stem = convention.convolution(3, stem, 3, 2)
        self.bn1 = convention.batch_norm(stem, rows[0].act)
        self.blocks = build_stages(convention, stem, rows)
        self.conv_head = convention.convolution(rows[-1].channels, head, 1)
        self.bn2 = convention.batch_norm(head, rows[0].act)
        self.add_head(head, classes, fusion, dropout)

    def features(self, image):
        """The last feature map, [N, C, ceil(H / 32), ceil(W / 32)], after its activation."""
        return self.bn2(self.conv_head(super().features(image)))
