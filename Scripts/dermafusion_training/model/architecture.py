"""The table of architectures: what each name means and how its network pads.

EfficientNet B0-B7, Lite0-Lite4 and their tf_ variants, MobileNetV3 and ResNet, under timm's names.
"""

import difflib

# Padding -> the batch-norm epsilon that goes with it. "same" is TensorFlow's: less before, more after. "symmetric" is
# PyTorch's.
EPSILONS = {"same": 1e-3, "symmetric": 1e-5}

EFFICIENTNETS = (
    [f"efficientnet_b{i}" for i in range(8)]
    + [f"tf_efficientnet_b{i}" for i in range(8)]
    + [f"efficientnet_lite{i}" for i in range(5)]
    + [f"tf_efficientnet_lite{i}" for i in range(5)]
)
MOBILENETS = ["mobilenetv3_small_100", "mobilenetv3_large_100"]
RESNETS = ["resnet18", "resnet50"]
ARCHITECTURES = EFFICIENTNETS + MOBILENETS + RESNETS


def padding_of(name, padding=None):
    """How an architecture pads. Raises ValueError for an unknown name or a padding that it does not have.

    efficientnet_lite means TensorFlow's with or without tf_, unless `padding` says otherwise; timm's own is symmetric.
    """
    if name not in ARCHITECTURES:
        nearest = difflib.get_close_matches(name, ARCHITECTURES, n=3, cutoff=0)
        raise ValueError(
            f"architecture {name!r}: not one of the {len(ARCHITECTURES)} networks that can be run; "
            f"the nearest are {', '.join(nearest)}"
        )
    if name in EFFICIENTNETS:
        return padding or ("same" if "lite" in name or name.startswith("tf_") else "symmetric")
    if padding not in (None, "symmetric"):
        raise ValueError(f"padding {padding!r}: {name} has symmetric padding only")
    return "symmetric"


def torchvision_epsilon(name):
    """The batch-norm epsilon of torchvision's network, which for some is not that of timm's."""
    return 1e-3 if name in MOBILENETS or name in ("efficientnet_b5", "efficientnet_b6", "efficientnet_b7") else 1e-5


def rounded_to_8(channels):
    """To the nearest multiple of 8 that is not below 90 %."""
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded
