"""Makes the tensors of a network in 8 bits from a float network: see quantized.py for what they mean."""

from dataclasses import dataclass, field

import numpy as np
import torch

from dermafusion_training.model.quantized import (
    LARGEST_FINE_LEVEL,
    LARGEST_LEVEL,
    LARGEST_PAIR,
    LARGEST_WEIGHT,
    quantizable_blocks,
)

# In steps of a layer's sums. A depthwise sum must stay within 2**24, where each whole number is a float32; a bias that
# is more is all that counts in its channel.
LARGEST_BIAS = 2**22
LEAST_SCALE = 1e-11  # the format takes scales of 1e-12 to 1e12
LARGEST_ROUNDED_PAIR = LARGEST_PAIR - 0.5  # a pair of weights before each is rounded


@dataclass
class Range:
    """The range of a module's input, as far as it was seen."""

    low: float = 0.0
    high: float = 0.0

    def observe(self, _, inputs):
        self.low = min(self.low, inputs[0].min().item())
        self.high = max(self.high, inputs[0].max().item())

    def fine_scale(self):
        return np.float32(max(-self.low, self.high, LEAST_SCALE) / LARGEST_FINE_LEVEL)


@dataclass
class Layer:
    """A convolution that is quantised, its batch norm or None, and its input."""

    name: str
    convolution: torch.nn.Module
    batch_norm: torch.nn.Module | None
    is_fine: bool = False
    input: Range = field(default_factory=Range)

    def tensors(self):
        """Name -> tensor of the layer in 8 bits."""
        weight, bias = folded(self.convolution, self.batch_norm)
        low, high = self.input.low, self.input.high
        scale = self.input.fine_scale() if self.is_fine else np.float32(max((high - low) / LARGEST_LEVEL, LEAST_SCALE))
        zero_point = 0 if self.is_fine else np.rint(-low / np.float64(scale))
        least_scale = bias.abs() / (float(scale) * LARGEST_BIAS)
        if weight[0].numel() == weight.shape[1]:
            least_scale = torch.maximum(least_scale, largest_pair(weight) / LARGEST_ROUNDED_PAIR)
        levels, weight_scale = quantized_weight(weight, least_scale)
        tensors = {
            "weight": levels,
            "weight_scale": weight_scale,
            "bias": bias.float(),
            "input_scale": torch.tensor([scale]),
            "input_zero_point": torch.tensor([float(zero_point)]),
        }
        return {f"{self.name}.{key}": tensor for key, tensor in tensors.items()}


def folded(convolution, batch_norm):
    """(weight, bias) float64 of a convolution with its batch norm, or with a bias of its own."""
    if batch_norm is None:
        return convolution.weight.double().detach(), convolution.bias.double().detach()
    factor = batch_norm.weight.double() / torch.sqrt(batch_norm.running_var.double() + batch_norm.eps)
    weight = convolution.weight.double() * factor[:, None, None, None]
    return weight.detach(), (batch_norm.bias.double() - batch_norm.running_mean.double() * factor).detach()


def largest_pair(weight):
    """[O] of a weight [O, I, 1, 1]: the largest magnitude of the sum of two neighbours 2i and 2i + 1 of one sign."""
    pairs = torch.nn.functional.pad(weight.flatten(1), (0, weight.shape[1] % 2)).unflatten(1, (-1, 2))
    return torch.maximum(pairs.clamp(min=0).sum(2), -pairs.clamp(max=0).sum(2)).amax(1)


def quantized_weight(weight, least_scale):
    """(levels int8, scale float32 [O]): the least scale of each output that the levels and `least_scale` allow."""
    scale = torch.maximum(weight.flatten(1).abs().amax(1) / LARGEST_WEIGHT, least_scale)
    scale = scale.clamp(min=LEAST_SCALE).float()
    levels = (weight / scale.double()[:, None, None, None]).round().clamp(-LARGEST_WEIGHT, LARGEST_WEIGHT)
    return levels.to(torch.int8), scale


def layers_of_block(name, block):
    """The convolutions of a block that are quantised."""
    if hasattr(block, "conv"):
        return [Layer(f"{name}.conv", block.conv, block.bn1)]
    is_fine = not isinstance(block.bn1.act, torch.nn.ReLU6)
    if hasattr(block, "conv_pwl"):
        layers = [
            Layer(f"{name}.conv_pw", block.conv_pw, block.bn1),
            Layer(f"{name}.conv_dw", block.conv_dw, block.bn2, is_fine),
            Layer(f"{name}.conv_pwl", block.conv_pwl, block.bn3),
        ]
    else:
        layers = [
            Layer(f"{name}.conv_dw", block.conv_dw, block.bn1, is_fine),
            Layer(f"{name}.conv_pw", block.conv_pw, block.bn2),
        ]
    if hasattr(block.se, "conv_reduce"):
        layers += [
            Layer(f"{name}.se.conv_reduce", block.se.conv_reduce, None),
            Layer(f"{name}.se.conv_expand", block.se.conv_expand, None),
        ]
    return layers


def layers_of(model):
    """The convolutions of a network that are quantised."""
    layers = [layer for name, block in quantizable_blocks(model) for layer in layers_of_block(name, block)]
    return layers if model.last_name is None else [*layers, Layer("conv_head", model.conv_head, model.bn2)]


def quantized_tensors(model, batches):
    """Name -> tensor of the layers that are quantised; `batches` of images float32 [N, 3, H, W] give their ranges."""
    layers = layers_of(model)
    gates = {name: Range() for name, module in model.named_modules() if hasattr(module, "conv_reduce")}
    observed = [(layer.convolution, layer.input) for layer in layers]
    observed += [(model.get_submodule(name), seen) for name, seen in gates.items()]
    handles = [module.register_forward_pre_hook(seen.observe) for module, seen in observed]
    with torch.inference_mode():
        for batch in batches:
            model.features(batch)
    for handle in handles:
        handle.remove()
    tensors = {name: tensor for layer in layers for name, tensor in layer.tensors().items()}
    return tensors | {f"{name}.input_scale": torch.tensor([seen.fine_scale()]) for name, seen in gates.items()}


def replaced_tensors(model):
    """The names of the float network's tensors that the network in 8 bits does not have."""
    batch_norms = {id(layer.batch_norm) for layer in layers_of(model) if layer.batch_norm is not None}
    names = {name for name, module in model.named_modules() if id(module) in batch_norms}
    return {name for name in model.state_dict() if name.rpartition(".")[0] in names}
