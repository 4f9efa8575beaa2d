"""Checkpoints in the form in which timm's train.py saves them, of networks with random weights, and what PyTorch makes
of pictures with them.
"""

import argparse

import numpy as np
import torch

from dermafusion_training.comparison.random_models import take_statistics
from dermafusion_training.data.preprocessing import preprocess
from dermafusion_training.model.build import build_config, build_model
from dermafusion_training.model.folder import last_layer

SPREAD = 2.0  # standard deviation of the logits over the pictures


def network_inputs(pictures, preprocessing):
    """Normalised pictures, float32 [N, 3, size, size]."""
    return torch.from_numpy(np.stack([preprocess(picture, preprocessing)[0]["normalized"] for picture in pictures]))


def random_network(architecture, class_count, size, seed, pictures, color_constancy=None):
    """A network whose batch norms and last layer are set by the pictures, so that its answers differ among them."""
    torch.manual_seed(seed)
    config = build_config(architecture, [f"c{index}" for index in range(class_count)], fusion=False, size=size)
    model = build_model(config)
    if color_constancy is not None:
        config["preprocessing"]["color_constancy"]["method"] = color_constancy
    images = network_inputs(pictures, config["preprocessing"])
    take_statistics(model, images, None)
    layer = model.get_submodule(last_layer(model.state_dict()))
    with torch.no_grad():
        logits = model(images)
        scale = SPREAD / logits.std(0)
        layer.weight *= scale[:, None]
        layer.bias.copy_(scale * (layer.bias - logits.mean(0)))
    return model


def logits_of(model, pictures, preprocessing):
    """Logits float32 [N, classes]."""
    with torch.inference_mode():
        return model(network_inputs(pictures, preprocessing), None).numpy()


def save_checkpoint(path, model, architecture, size, prefix=""):
    """Saves the network as the average of the weights (EMA), beside other weights that must not be taken."""
    average = model.state_dict()
    other = {name: torch.randn_like(value) if value.is_floating_point() else value for name, value in average.items()}
    arguments = argparse.Namespace(model=architecture, img_size=size, num_classes=None, opt="adamw", lr=5e-4, mean=None)
    torch.save(
        {
            "epoch": 7,
            "arch": architecture,
            "state_dict": {prefix + name: value for name, value in other.items()},
            "optimizer": {"state": {0: {"exp_avg": torch.zeros(2)}}, "param_groups": [{"lr": 5e-4, "params": [0]}]},
            "version": 2,
            "args": arguments,
            "amp_scaler": {"scale": 65536.0},
            "state_dict_ema": {prefix + name: value for name, value in average.items()},
            "metric": 0.5,
        },
        path,
    )
