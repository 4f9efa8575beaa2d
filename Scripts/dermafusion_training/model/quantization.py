"""Makes the tensors of a network in 8 bits from a float network: see quantized.py for what they mean."""

from dataclasses import dataclass

import numpy as np
import torch

from dermafusion_training.model.quantized import LARGEST_LEVEL, LARGEST_PAIR, LARGEST_WEIGHT, quantizable_blocks

# In steps of a layer's sums. A depthwise sum must stay within 2**24, where each whole number is a float32; a bias that
# is more is all that counts in its channel.
LARGEST_BIAS = 2**22
LEAST_SCALE = 1e-11  # the format takes scales of 1e-12 to 1e12
LARGEST_ROUNDED_PAIR = LARGEST_PAIR - 0.5  # a pair of weights before each is rounded


@dataclass
class Layer:
    """A convolution that is quantised, its batch norm and the range of its input seen so far."""

    name: str
    convolution: torch.nn.Module
    batch_norm: torch.nn.Module
    low: float = 0.0
    high: float = 0.0

    def observe(self, _, inputs):
        self.low = min(self.low, inputs[0].min().item())
        self.high = max(self.high, inputs[0].max().item())

    def tensors(self):
        """Name -> tensor of the layer in 8 bits."""
        weight, bias = folded(self.convolution, self.batch_norm)
        input_scale = np.float32(max((self.high - self.low) / LARGEST_LEVEL, LEAST_SCALE))
        least_scale = bias.abs() / (float(input_scale) * LARGEST_BIAS)
        if weight[0].numel() == weight.shape[1]:
            least_scale = torch.maximum(least_scale, largest_pair(weight) / LARGEST_ROUNDED_PAIR)
        levels, scale = quantized_weight(weight, least_scale)
        tensors = {
            "weight": levels,
            "weight_scale": scale,
            "bias": bias.float(),
            "input_scale": torch.tensor([input_scale]),
            "input_zero_point": torch.tensor([float(np.rint(-self.low / np.float64(input_scale)))]),
        }
        return {f"{self.name}.{key}": tensor for key, tensor in tensors.items()}


def folded(convolution, batch_norm):
    """(weight, bias) float64 of a convolution with its batch norm."""
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


def layers_of(model):
    """The convolutions of an EfficientNet-Lite that are quantised."""
    pairs = (("conv_pw", "bn1"), ("conv_dw", "bn2"), ("conv_pwl", "bn3"))
    layers = [
        Layer(f"{name}.{convolution}", getattr(block, convolution), getattr(block, batch_norm))
        for name, block in quantizable_blocks(model)
        for convolution, batch_norm in pairs
    ]
    return [*layers, Layer("conv_head", model.conv_head, model.bn2)]


def quantized_tensors(model, batches):
    """Name -> tensor of the layers that are quantised; `batches` of images float32 [N, 3, H, W] give their ranges."""
    layers = layers_of(model)
    handles = [layer.convolution.register_forward_pre_hook(layer.observe) for layer in layers]
    with torch.inference_mode():
        for batch in batches:
            model.features(batch)
    for handle in handles:
        handle.remove()
    return {name: tensor for layer in layers for name, tensor in layer.tensors().items()}


def replaced_tensors(model):
    """The names of the float network's tensors that the network in 8 bits does not have."""
    batch_norms = {id(layer.batch_norm) for layer in layers_of(model)}
    names = {name for name, module in model.named_modules() if id(module) in batch_norms}
    return {name for name in model.state_dict() if name.rpartition(".")[0] in names}
