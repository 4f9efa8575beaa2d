"""Networks of timm with random weights that behave like trained ones, saved as timm saves them for the Hub, and what
PyTorch makes of photographs with them.

Statistics and the last layer are fitted to pictures: with those that a network is born with, activations fade or grow
from block to block, and all its answers are one.
"""

import copy
import io
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from dermafusion_training.model.architecture import without_operators

with without_operators():
    import timm
    from timm.data import create_transform, resolve_data_config
    from timm.models import save_for_hf

# timm's names, a line for each family of NetworkModule/Families.
NAMES = {
    "EfficientNet": "efficientnet_b0 tf_efficientnet_b1 tf_efficientnet_lite0",
    "EfficientNetV2": "efficientnetv2_rw_t efficientnetv2_rw_s tf_efficientnetv2_b0 tf_efficientnetv2_b1 "
    "tf_efficientnetv2_b2 tf_efficientnetv2_b3 tf_efficientnetv2_s tf_efficientnetv2_m tf_efficientnetv2_l",
    "MobileNetV3": "mobilenetv3_small_100 mobilenetv3_large_100",
    "ResNet": "resnet18 resnet26 resnet34 resnet50 resnet101 resnet152 resnet26d resnet50d resnet101d resnet152d "
    "resnext50_32x4d seresnet50 wide_resnet50_2",
    "RegNet": "regnety_002 regnety_004 regnety_006 regnety_008 regnety_016 regnety_032",
    "DenseNet": "densenet121",
    "MobileNetV4": "mobilenetv4_conv_small mobilenetv4_conv_medium",
    "ConvNeXt": "convnext_atto convnext_femto convnext_pico convnext_nano convnext_tiny convnext_small convnext_base "
    "convnextv2_atto convnextv2_femto convnextv2_pico convnextv2_nano convnextv2_tiny convnextv2_small convnextv2_base",
    "VisionTransformer": "vit_tiny_patch16_224 vit_small_patch16_224 vit_base_patch16_224 vit_large_patch16_224 "
    "vit_tiny_patch16_384 vit_small_patch16_384 vit_base_patch16_384 vit_base_patch32_224 deit_tiny_patch16_224 "
    "deit_small_patch16_224 deit_base_patch16_224 deit3_small_patch16_224 deit3_medium_patch16_224 "
    "deit3_base_patch16_224 vit_small_patch14_dinov2 vit_base_patch14_dinov2 vit_small_patch14_reg4_dinov2 "
    "vit_small_patch16_dinov3 vit_base_patch16_dinov3",
    "Swin": "swin_tiny_patch4_window7_224 swin_small_patch4_window7_224 swin_base_patch4_window7_224",
}

SEED = 2026
SPREAD = 2.0  # standard deviation of the logits over the pictures
CLASSES = ["a", "b", "c", "d", "e"]


def names():
    return [name for family in NAMES.values() for name in family.split()]


def load(photograph):
    return Image.open(io.BytesIO(Path(photograph).read_bytes())).convert("RGB")


class Network:
    """A network of timm in evaluation mode, with its own evaluation transform."""

    def __init__(self, name, pictures, class_count=len(CLASSES)):
        torch.manual_seed(SEED)
        self.model = timm.create_model(name, num_classes=class_count)
        self.transform = create_transform(**resolve_data_config({}, model=self.model), is_training=False)
        draw_parameters(self.model)
        fit(self.model, torch.stack([self.transform(load(picture)) for picture in pictures]))

    def save(self, folder, **settings):
        """Writes config.json and model.safetensors; `settings` are keys of config.json."""
        settings = {"label_names": CLASSES[: self.model.num_classes]} | settings
        save_for_hf(self.model, str(folder), model_config=settings, safe_serialization=True)

    def input(self, photograph):
        """Float32 [3, size, size]."""
        return self.transform(load(photograph))

    def logits(self, photograph):
        with torch.inference_mode():
            return self.model(self.input(photograph)[None])[0].numpy()

    def features(self, photograph):
        """The last layer's input; of MobileNetV3 the means of the last feature map."""
        with torch.inference_mode():
            last = self.model.forward_features(self.input(photograph)[None])
            if type(self.model).__name__ == "MobileNetV3" and hasattr(self.model.conv_head.bias, "shape"):
                return last[0].mean((-2, -1)).numpy()
            return self.model.forward_head(last, pre_logits=True)[0].numpy()

    def gradcam(self, photograph, layer, index, noise=0.0):
        """GradCAM's signed map [h, w] of a class at a module, by autograd in float64.

        `noise` is the standard deviation of relative changes of the parameters.
        """
        model, image = copy.deepcopy(self.model).double(), self.input(photograph)[None].double()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter *= 1 + noise * torch.randn_like(parameter)
        kept = []
        handle = model.get_submodule(layer).register_forward_hook(lambda _, __, output: kept.append(output))
        logits = model(image)
        handle.remove()
        (gradient,) = torch.autograd.grad(logits[0, index], kept[0])
        values, gradient = (self.on_grid(x)[0] for x in (kept[0], gradient))
        return (values * gradient.mean((-2, -1), keepdim=True)).sum(0).detach().numpy()

    def on_grid(self, x):
        """[N, C, H, W] of what a module gives: of tokens those on the grid, which come last."""
        if x.ndim == 3:
            side = int(x.shape[1] ** 0.5)
            x = x[:, -side * side :].reshape(len(x), side, side, -1)
        elif not isinstance(self.model, (timm.models.SwinTransformer, timm.models.Eva)):
            return x
        return x.permute(0, 3, 1, 2)


def draw_parameters(model):
    """Draws what timm sets to 0 or 1: gains, offsets, and scales of layers; and the weights of transformers.

    The last gains of residual branches, most of which timm sets to 0, stay small, as training leaves them: otherwise
    rounding grows a hundredfold in 50 layers.
    """
    small = set()
    for module in model.modules():
        if getattr(module, "has_skip", False):
            small.add([norm.weight for norm in module.modules() if isinstance(norm, torch.nn.BatchNorm2d)][-1])
    for name, parameter in model.named_parameters():
        with torch.no_grad():
            if parameter.ndim != 1 and hasattr(model, "patch_embed"):
                # A transformer is born with weights so small that all pictures look alike.
                parameter.normal_(0, (parameter[0].numel() if "weight" in name else 4) ** -0.5)
            if parameter.ndim != 1 and "grn" not in name:
                continue
            if name.endswith("bias"):
                parameter.normal_(0, 0.05)
            elif "grn" in name:
                parameter.uniform_(-0.5, 0.5)
            elif "gamma" in name or ".ls" in name:
                parameter.uniform_(0.1, 0.5)
            elif parameter in small or not parameter.any():
                parameter.uniform_(0.1, 0.3)
            else:
                parameter.uniform_(0.6, 1.4)


def fit(model, images):
    """Sets the statistics of every batch norm to those of the images, and the last layer so that the answers differ."""
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = 1.0
    # Dropout and stochastic depth stay as they are in evaluation.
    model.eval()
    norms = [module for module in model.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.train()
    with torch.no_grad():
        model(images)
        model.eval()
        layer = model.get_classifier()
        if not isinstance(layer, torch.nn.Linear):
            return
        logits = model(images)
        scale = SPREAD / logits.std(0).mean()
        layer.weight *= scale
        layer.bias.copy_(scale * (layer.bias - logits.mean(0)))


def greatest_difference(found, expected):
    """Relative to the greatest magnitude of what is expected."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    if found.shape != expected.shape:
        raise ValueError(f"{found.shape} for {expected.shape}")
    # Behind the last norm of a transformer no token but the first has a gradient, and the map is 0.
    return float(np.abs(found - expected).max() / (np.abs(expected).max() or 1))
