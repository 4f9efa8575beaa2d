"""The activation maps by PyTorch's autograd: what the Swift engine's own way back is held against."""

import numpy as np
import torch

from model_config import CLASSES

METHODS = ["gradcam", "hirescam", "gradcam++", "layercam", "eigencam"]


class Explained(torch.nn.Module):
    """A model with its metadata held fixed and a module whose output is the last feature map."""

    def __init__(self, model, vector):
        super().__init__()
        self.model = model
        self.metadata = torch.from_numpy(np.asarray(vector, np.float32))[None]
        self.last = torch.nn.Identity()

    def forward(self, image):
        pooled = self.last(self.model.features(image)).mean((2, 3))
        if self.model.has_fusion:
            return self.model.fusion(pooled, self.metadata.to(pooled.dtype))
        return self.model.classifier(pooled)

    def layers(self):
        stages = {f"stage{index}": stage for index, stage in enumerate(self.model.blocks)}
        return {**stages, "conv_head": self.last}


def first_component(a):
    """The package's projection with corrected sign, without the square matrices that its SVD makes of large maps."""
    rows = a.reshape(a.shape[0], -1).T
    rows = rows - rows.mean(0)
    projection = (rows @ np.linalg.svd(rows, full_matrices=False)[2][0]).reshape(a.shape[1:])
    return -projection if abs(projection.min()) > abs(projection.max()) else projection


def gradcam_plus_plus(a, g):
    alpha = g**2 / (2 * g**2 + a.sum((1, 2))[:, None, None] * g**3 + 1e-6)
    weights = (g.clamp(min=0) * torch.where(g != 0, alpha, 0)).sum((1, 2))
    return torch.einsum("c,chw->hw", weights, a)


def is_well_conditioned(result, a, g):
    """Whether gradients moved by what float32 rounds away give the same GradCAM++.

    Its weights have a pole where a channel's sum times the gradient is -2, which linear bottlenecks can reach.
    """
    generator = torch.Generator().manual_seed(1)
    for _ in range(4):
        noise = torch.rand(g.shape, generator=generator, dtype=g.dtype) * 2 - 1
        moved = gradcam_plus_plus(a, g + noise * 1e-5 * g.abs().max())
        if (moved - result).abs().max() > 1e-4 * result.abs().max():
            return False
    return True


def raw_maps(explained, image, layers=None, keeps_plus_plus=is_well_conditioned):
    """(layer, method, class) -> signed map [h, w] in the model's precision, by autograd; of all layers or of some."""
    kept = {}
    handles = []
    for name, layer in explained.layers().items():
        if layers is not None and name not in layers:
            continue

        def keep(module, inputs, output, name=name):
            kept[name] = output
            # A copy for those who go on, since activations work in place.
            return output + 0

        handles.append(layer.register_forward_hook(keep))
    logits = explained(image)[0]
    for handle in handles:
        handle.remove()
    maps = {}
    for index, label in enumerate(CLASSES):
        gradients = torch.autograd.grad(logits[index], list(kept.values()), retain_graph=True)
        for layer, g in zip(kept, gradients):
            g, a = g[0], kept[layer][0].detach()
            maps[layer, "gradcam", label] = torch.einsum("c,chw->hw", g.mean((1, 2)), a)
            maps[layer, "hirescam", label] = (g * a).sum(0)
            plus_plus = gradcam_plus_plus(a, g)
            if keeps_plus_plus(plus_plus, a, g):
                maps[layer, "gradcam++", label] = plus_plus
            maps[layer, "layercam", label] = (g.clamp(min=0) * a).sum(0)
    for layer, a in kept.items():
        maps[layer, "eigencam", "any"] = torch.from_numpy(first_component(a[0].detach().numpy()))
    return {key: value.numpy() for key, value in maps.items()}
