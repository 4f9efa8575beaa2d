"""MobileNetV3, small and large (Howard et al., 2019, tables 1 and 2)."""

from torch import nn

from dermafusion_training.model.layers import Row, activation, build_stages
from dermafusion_training.model.network import Network

HARD = "hard_swish"
STEM_CHANNELS = 16

# Stages: repeats, kernel size, stride, expansion, channels, activation, whether there is squeeze-excite.
STAGES = {
    "mobilenetv3_small_100": [
        [Row(1, 3, 2, 1, 16, "relu", True)],
        [Row(1, 3, 2, 4.5, 24, "relu", False), Row(1, 3, 1, 3.67, 24, "relu", False)],
        [Row(1, 5, 2, 4, 40, HARD, True), Row(2, 5, 1, 6, 40, HARD, True)],
        [Row(2, 5, 1, 3, 48, HARD, True)],
        [Row(3, 5, 2, 6, 96, HARD, True)],
        [Row(1, 1, 1, None, 576, HARD, False)],
    ],
    "mobilenetv3_large_100": [
        [Row(1, 3, 1, 1, 16, "relu", False)],
        [Row(1, 3, 2, 4, 24, "relu", False), Row(1, 3, 1, 3, 24, "relu", False)],
        [Row(3, 5, 2, 3, 40, "relu", True)],
        [Row(1, 3, 2, 6, 80, HARD, False), Row(1, 3, 1, 2.5, 80, HARD, False), Row(2, 3, 1, 2.3, 80, HARD, False)],
        [Row(2, 3, 1, 6, 112, HARD, True)],
        [Row(3, 5, 2, 6, 160, HARD, True)],
        [Row(1, 1, 1, None, 960, HARD, False)],
    ],
}
HEAD_CHANNELS = {"mobilenetv3_small_100": 1024, "mobilenetv3_large_100": 1280}


class MobileNetV3(Network):
    """The last map is that of the last stage; `conv_head`, which has a bias and no norm, follows the pooling."""

    def __init__(self, name, convention, classes, fusion=None, dropout=0.0):
        super().__init__()
        stages, head = STAGES[name], HEAD_CHANNELS[name]
        self.conv_stem = convention.convolution(3, STEM_CHANNELS, 3, 2)
        self.bn1 = convention.batch_norm(STEM_CHANNELS)
        self.act = activation(HARD)
        self.blocks = build_stages(convention, STEM_CHANNELS, stages, hard=True)
        self.conv_head = nn.Conv2d(stages[-1][-1].channels, head, 1)
        self.add_head(head, classes, fusion, dropout)

    def named_stages(self):
        return [(f"blocks.{index}", stage) for index, stage in enumerate(self.blocks)]

    def stem(self, image):
        return self.act(self.bn1(self.conv_stem(image)))

    def pool(self, feature_map):
        return self.act(self.conv_head(feature_map.mean((2, 3), keepdim=True))).flatten(1)
