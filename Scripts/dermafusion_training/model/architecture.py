"""The table of architectures: what each name means and how its network pads.

All networks are timm's. EfficientNet B0-B7, Lite0-Lite4 and their tf_ variants, MobileNetV3 and two ResNets can have
metadata, and all of these but ResNet can be made 8 bits of. timm's others are run by the program only.
"""

import contextlib
import difflib
import re

import torch

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

# timm's other networks that the program runs; Sources/NetworkModule/Families writes them.
TIMMS = re.compile(
    r"efficientnetv2_rw_[ts]|tf_efficientnetv2_(b[0-3]|s|m|l)|mobilenetv4_conv_(small|medium)"
    r"|resnet(18|26|34|50|101|152)d?|resnext(50_32x4d|101_32x[48]d)|seresnet(50|101|152)|wide_resnet(50|101)_2"
    r"|regnety_(002|004|006|008|008_tv|016|032|040|064|080|120|160)|densenet(121|161|169|201)"
    r"|convnext(v2)?_(atto|femto|pico|nano|tiny|small|base)"
    r"|vit_(tiny|small|base|large)_patch16_(224|384)|vit_(small|base)_patch32_224|vit_base_patch8_224"
    r"|deit_(tiny|small|base)_patch16_224|deit_base_patch16_384"
    r"|deit3_(small|medium|base|large)_patch16_224|deit3_(small|base|large)_patch16_384"
    r"|vit_(small|base|large)_(patch14_(reg4_)?dinov2|patch16_dinov3)|swin_(tiny|small|base)_patch4_window7_224"
)


def is_timms(name):
    """True for a network that the program runs and timm defines, not this package."""
    return name not in ARCHITECTURES and TIMMS.fullmatch(name) is not None


def has_positions(name):
    """True for a vision transformer that learns a position for each patch, and so has a size of its own."""
    return name.startswith(("vit_", "deit")) and not name.endswith("dinov3")


def poolings_of(name):
    """timm's `global_pool`s with which the network can be run, its own first."""
    if has_positions(name):
        return ["token", "avg"]
    return ["avg", "token"] if name.endswith("dinov3") else ["avg"]


@contextlib.contextmanager
def without_operators():
    """Imports torchvision also where it is for another build of torch and lacks its operators, which timm's networks do
    not need."""
    register = torch.library.register_fake

    def register_if_there(name, *arguments, **settings):
        def describe(function):
            with contextlib.suppress(RuntimeError):
                register(name, function, *arguments, **settings)
            return function

        is_torchvisions = isinstance(name, str) and name.startswith("torchvision::") and not arguments
        return describe if is_torchvisions else register(name, *arguments, **settings)

    torch.library.register_fake = register_if_there
    try:
        yield
    finally:
        torch.library.register_fake = register


def timm():
    """The module, imported when a network of its own is asked for: that takes seconds."""
    try:
        with without_operators():
            import timm
    except ImportError as error:
        raise ValueError(f"timm, which defines this network, cannot be imported: {error}") from error
    return timm


def padding_of(name, padding=None):
    """The padding of an architecture. Raises ValueError for an unknown name or a padding that it does not have.

    efficientnet_lite means TensorFlow's with or without tf_, unless `padding` says otherwise; timm's own is symmetric.
    """
    if name not in ARCHITECTURES and not is_timms(name):
        known = ARCHITECTURES + [other for other in timm().list_models() if is_timms(other)]
        nearest = difflib.get_close_matches(name, known, n=3, cutoff=0)
        raise ValueError(
            f"architecture {name!r}: not one of the networks that can be run; the nearest are {', '.join(nearest)}"
        )
    if name in EFFICIENTNETS or name.startswith("tf_"):
        return padding or ("same" if "lite" in name or name.startswith("tf_") else "symmetric")
    if padding not in (None, "symmetric"):
        raise ValueError(f"padding {padding!r}: {name} has symmetric padding only")
    return "symmetric"


def torchvision_epsilon(name):
    """The batch-norm epsilon of torchvision's network, which for some is not that of timm's."""
    return 1e-3 if name in MOBILENETS or name in ("efficientnet_b5", "efficientnet_b6", "efficientnet_b7") else 1e-5
