"""The table of EfficientNet architectures: B0-B7, Lite0-Lite4 and their tf_ variants, each scales of B0's stages."""

import math
from dataclasses import dataclass, replace

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

ARCHITECTURES = (
    [f"efficientnet_b{i}" for i in range(8)]
    + [f"tf_efficientnet_b{i}" for i in range(8)]
    + [f"efficientnet_lite{i}" for i in range(5)]
    + [f"tf_efficientnet_lite{i}" for i in range(5)]
)


# The batch-norm epsilon that goes with each padding: TensorFlow's and PyTorch's.
EPSILONS = {"same": 1e-3, "symmetric": 1e-5}


@dataclass(frozen=True)
class Architecture:
    """What sets one architecture apart from another."""

    width: float
    depth: float
    lite: bool
    padding: str  # "same" (TensorFlow's: less before, more after) or "symmetric"
    batch_norm_epsilon: float

    @staticmethod
    def named(name, padding=None):
        """Looks `name` up. Lite means TensorFlow's with or without tf_, unless `padding` says otherwise; timm's own
        efficientnet_lite is symmetric. Raises ValueError for an unknown name."""
        base = name.removeprefix("tf_")
        if base not in ARCHITECTURES:
            raise ValueError(f"architecture {name!r}: must be one of {', '.join(ARCHITECTURES)}")
        width, depth = SCALES[base.removeprefix("efficientnet_")]
        lite = "lite" in base
        padding = padding or ("same" if lite or name.startswith("tf_") else "symmetric")
        return Architecture(width, depth, lite, padding, EPSILONS[padding])

    @staticmethod
    def of(config):
        """That of a config.json, whose padding and epsilon count whatever is usual for the name."""
        named = Architecture.named(config["architecture"], config["padding"])
        return replace(named, batch_norm_epsilon=config["batch_norm_epsilon"])

    def channels(self, base):
        """`base` times the width, to a multiple of 8 that is not below 90 % of it."""
        scaled = base * self.width
        rounded = max(8, int(scaled + 4) // 8 * 8)
        return rounded + 8 if rounded < 0.9 * scaled else rounded

    def stem_channels(self):
        return STEM_CHANNELS if self.lite else self.channels(STEM_CHANNELS)

    def head_channels(self):
        return HEAD_CHANNELS if self.lite else self.channels(HEAD_CHANNELS)

    def stages(self):
        """The table of stages at this width and depth; Lite keeps the repeats of the first and the last."""
        last = len(STAGES) - 1
        for index, (repeats, kernel_size, stride, expansion, channels) in enumerate(STAGES):
            if not (self.lite and index in (0, last)):
                repeats = math.ceil(repeats * self.depth)
            yield repeats, kernel_size, stride, expansion, self.channels(channels)
