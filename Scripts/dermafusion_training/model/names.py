"""Tensors' names as libraries and people's own modules write them, and timm's names, which a model folder has.

A network is found by two tensors that every network of its kind has; what stands before both is the prefix of all.
"""

import re

import torch

from dermafusion_training.model.architecture import EFFICIENTNETS, MOBILENETS, RESNETS
from dermafusion_training.model.build import build_config
from dermafusion_training.model.folder import LAST_LAYERS, CheckpointError, expected_tensors, last_layer

# The first convolution and a later tensor: timm's EfficientNet, MobileNetV3 and V4, everyone's ResNet, timm's ResNet-D,
# RegNet, DenseNet, ConvNeXt, vision transformers and Swin, torchvision's.
ANCHORS = (
    ("conv_stem.weight", "blocks.0.0.conv_dw.weight"),
    ("conv_stem.weight", "blocks.0.0.conv.weight"),
    ("conv_stem.weight", "blocks.0.0.conv_exp.weight"),
    ("conv1.weight", "layer4.1.conv1.weight"),
    ("conv1.0.weight", "layer4.1.conv1.weight"),
    ("stem.conv.weight", "s1.b1.conv1.conv.weight"),
    ("features.conv0.weight", "features.denseblock1.denselayer1.conv1.weight"),
    ("stem.0.weight", "stages.0.blocks.0.conv_dw.weight"),
    ("patch_embed.proj.weight", "blocks.0.attn.qkv.weight"),
    ("patch_embed.proj.weight", "layers.0.blocks.0.attn.qkv.weight"),
    ("features.0.0.weight", "features.1.0.block.0.0.weight"),
    ("features.0.0.weight", "features.1.block.0.0.weight"),
)
# Names of heads besides the network; never a reason to refuse a checkpoint.
HEADS = re.compile(r"(classifier|fc|head|last_linear|linear|output|cls)\b")


# The last layer in timm's networks that have a tensor; `classifier` in the others.
LAST_LAYER_BESIDE = {
    "layer4.1.conv1.weight": "fc",
    "s1.b1.conv1.conv.weight": "head.fc",
    "stages.0.blocks.0.conv_dw.weight": "head.fc",
    "layers.0.blocks.0.attn.qkv.weight": "head.fc",
    "blocks.0.attn.qkv.weight": "head",
}


def prefixes_of(names):
    """The prefixes under which whole networks lie."""
    found = []
    for first, second in ANCHORS:
        for name in names:
            prefix = name.removesuffix(first)
            whole = name.endswith(first) and (not prefix or prefix.endswith("."))
            if whole and prefix + second in names and prefix not in found:
                found.append(prefix)
    return found


def first_convolution(state):
    """The name of the tensor that the image meets first; None where no known network has it."""
    return next((first for first, _ in ANCHORS if first in state and state[first].ndim == 4), None)


def average_among(found, state):
    """The prefix of the average, where the networks are one's weights and their average with the same tensors."""
    averages = [prefix for prefix in found if re.search(r"(^|[_.])(ema|average[ds]?|swa)\d*([_.]|$)", prefix)]
    names = [{name.removeprefix(prefix) for name in state if name.startswith(prefix)} for prefix in found]
    return averages[0] if len(found) == 2 and len(averages) == 1 and names[0] == names[1] else None


def take_off_prefix(state, checkpoint):
    """The one network among the tensors under timm's or torchvision's own names; the rest is ignored."""
    found = prefixes_of(state)
    if len(found) > 1:
        average = average_among(found, state)
        if average is None:
            shown = ", ".join(prefix or "(no prefix)" for prefix in found)
            raise CheckpointError(f"holds {len(found)} networks, under the prefixes {shown}; choose one by --take")
        found = [average]
    if not found or not found[0]:
        return without_others(state, checkpoint) if found else state
    prefix = found[0]
    checkpoint.prefixes.append(prefix)
    inside = {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}
    outside = [name for name in state if not name.startswith(prefix)]
    # A head of one's own beside a backbone: net.backbone.conv_stem.weight, net.head.weight.
    head = {name: state[name] for name in outside if HEADS.search(name) and is_layer(name, state)}
    if head and last_layer(inside) is None and not any(HEADS.match(name) and is_layer(name, inside) for name in inside):
        stem = min(head, key=len).rpartition(".")[0]
        for name in [name for name in head if name.rpartition(".")[0] == stem]:
            inside[f"head.{name.rpartition('.')[2]}"] = head.pop(name)
            outside.remove(name)
    ignore(outside, checkpoint)
    return inside


def without_others(state, checkpoint):
    """The tensors less those of a loss or a metric beside the network."""
    others = [name for name in state if re.match(r"(criterion|loss\w*|loss_fn|metrics?|\w+_metrics?)\.", name)]
    ignore(others, checkpoint)
    return {name: tensor for name, tensor in state.items() if name not in others}


def ignore(names, checkpoint):
    checkpoint.ignored += sorted({f"{name.split('.')[0]}.*" if "." in name else name for name in names})


def is_layer(name, state):
    """True if a tensor is the weight of a Linear or the bias beside one."""
    stem = name.rpartition(".")[0]
    weight = state.get(f"{stem}.weight")
    return weight is not None and weight.ndim == 2


def rename_torchvision(state, checkpoint):
    """timm's names in the place of torchvision's, for EfficientNet and MobileNetV3; ResNet's are the same."""
    if "features.0.0.weight" not in state:
        return state
    state = {name: tensor for name, tensor in state.items() if not name.endswith(".num_batches_tracked")}
    if "features.1.0.block.0.0.weight" in state:
        renamed, missed = torchvision_efficientnet(state)
    elif "features.1.block.0.0.weight" in state:
        renamed, missed = torchvision_mobilenet(state)
    else:
        return state
    if missed:
        raise CheckpointError(f"{missed[0]}: no tensor of torchvision's EfficientNet or MobileNetV3, as the others are")
    checkpoint.library = "torchvision"
    return renamed


NORM = ("weight", "bias", "running_mean", "running_var")


def convolution_and_norm(state, source, convolution, norm):
    """The tensors of torchvision's convolution and batch norm `source` under timm's two names."""
    tensors = {f"{convolution}.weight": f"{source}.0.weight"}
    tensors |= {f"{norm}.{part}": f"{source}.1.{part}" for part in NORM}
    return {target: name for target, name in tensors.items() if name in state}


def block_names(state, source, target):
    """The tensors of one block: expansion, depthwise, squeeze-excite and projection, not all of which are there."""
    parts = sorted(
        {int(match[1]) for name in state if (match := re.match(rf"{re.escape(source)}\.block\.(\d+)\.", name))}
    )
    squeezes = [part for part in parts if f"{source}.block.{part}.fc1.weight" in state]
    convolutions = [part for part in parts if part not in squeezes]
    if len(convolutions) == 3:
        names = (("conv_pw", "bn1"), ("conv_dw", "bn2"), ("conv_pwl", "bn3"))
    else:
        names = (("conv_dw", "bn1"), ("conv_pw", "bn2"))
    taken = {}
    for part, (convolution, norm) in zip(convolutions, names):
        taken |= convolution_and_norm(state, f"{source}.block.{part}", f"{target}.{convolution}", f"{target}.{norm}")
    for part in squeezes:
        for ours, theirs in (("conv_reduce", "fc1"), ("conv_expand", "fc2")):
            for kind in ("weight", "bias"):
                taken[f"{target}.se.{ours}.{kind}"] = f"{source}.block.{part}.{theirs}.{kind}"
    return taken


def renamed_by(state, taken):
    """(tensors under their new names, names that nobody asked for)."""
    used = set(taken.values())
    return {target: state[name] for target, name in taken.items() if name in state}, [n for n in state if n not in used]


def torchvision_efficientnet(state):
    stages = {int(match[1]) for name in state if (match := re.match(r"features\.(\d+)\.\d+\.block\.", name))}
    last = max(stages) + 1
    taken = convolution_and_norm(state, "features.0", "conv_stem", "bn1")
    taken |= convolution_and_norm(state, f"features.{last}", "conv_head", "bn2")
    for name in state:
        if match := re.match(r"features\.(\d+)\.(\d+)\.block\.", name):
            stage, index = int(match[1]), int(match[2])
            taken |= block_names(state, f"features.{stage}.{index}", f"blocks.{stage - 1}.{index}")
    taken |= {name: name for name in state if HEADS.match(name)}
    return renamed_by(state, taken)


# torchvision's MobileNetV3 numbers its blocks through; timm's stages have so many.
MOBILENET_STAGES = {11: (1, 2, 3, 2, 3), 15: (1, 2, 3, 4, 2, 3)}


def torchvision_mobilenet(state):
    count = max(int(match[1]) for name in state if (match := re.match(r"features\.(\d+)\.block\.", name)))
    stages = MOBILENET_STAGES.get(count)
    if stages is None:
        raise CheckpointError(f"has {count} blocks, and torchvision's MobileNetV3 has 11 or 15")
    taken = convolution_and_norm(state, "features.0", "conv_stem", "bn1")
    last = f"blocks.{len(stages)}.0"
    taken |= convolution_and_norm(state, f"features.{count + 1}", f"{last}.conv", f"{last}.bn1")
    number = 1
    for stage, blocks in enumerate(stages):
        for index in range(blocks):
            taken |= block_names(state, f"features.{number}", f"blocks.{stage}.{index}")
            number += 1
    taken |= {f"conv_head.{kind}": f"classifier.0.{kind}" for kind in ("weight", "bias")}
    taken |= {name: name for name in state if HEADS.match(name) and not name.startswith("classifier.0.")}
    renamed, missed = renamed_by(state, taken)
    if "conv_head.weight" in renamed:
        renamed["conv_head.weight"] = renamed["conv_head.weight"][:, :, None, None]
    return renamed, missed


def rename_head(state, checkpoint):
    """The last layer under timm's name where it is the one Linear of a Sequential or of another module."""
    target = next((layer for tensor, layer in LAST_LAYER_BESIDE.items() if tensor in state), "classifier")
    if last_layer(state) in (target, "fusion.classifier") or not prefixes_of(state):
        return state
    layers = sorted(
        {
            name.rpartition(".")[0]
            for name in state
            if name.endswith(".weight") and HEADS.search(name) and is_layer(name, state)
        }
    )
    if not layers:
        return state
    if len(layers) > 1:
        raise CheckpointError(
            f"the head has {len(layers)} Linear layers ({', '.join(layers)}): "
            "only one can take the place of the last layer"
        )
    checkpoint.head = layers[0]
    renamed = {f"{layers[0]}.{kind}": f"{target}.{kind}" for kind in ("weight", "bias")}
    return {renamed.get(name, name): tensor for name, tensor in state.items()}


def architectures_of(state, library=None):
    """The architectures whose tensors have the names and shapes of these, heads aside."""
    own = {name: tuple(tensor.shape) for name, tensor in state.items() if not is_of_head(name)}
    family = MOBILENETS if "conv_head.bias" in own else EFFICIENTNETS
    found = []
    for architecture in RESNETS if "layer4.1.conv1.weight" in own else family:
        if library == "torchvision" and (architecture.startswith("tf_") or "lite" in architecture):
            continue
        with torch.device("meta"):
            expected = expected_tensors(build_config(architecture, ["a", "b"], fusion=False, size=64))
        if own == {name: tuple(tensor.shape) for name, tensor in expected.items() if not is_of_head(name)}:
            found.append(architecture)
    return found


def is_of_head(name):
    return name.startswith((*(f"{layer}." for layer in LAST_LAYERS), "fusion."))
