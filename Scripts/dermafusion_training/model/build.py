"""The network that a config.json describes, and the config.json of a new model."""

from dermafusion_training.model.architecture import (
    EPSILONS,
    has_positions,
    is_timms,
    padding_of,
    poolings_of,
    timm,
)
from dermafusion_training.model.config import SEXES, SITES, default_fusion, default_preprocessing
from dermafusion_training.model.quantized import QUANTIZED, make_quantized
from dermafusion_training.model.timms import timm_network


def build_model(config, dropout=0.0):
    """The network of a config.json, whose padding and epsilon count whatever is usual for its name; random weights.

    A network of timm is timm's own.
    """
    name = config["architecture"]
    if is_timms(name):
        return other_network(config)
    padding, head = padding_of(name, config["padding"]), (len(config["classes"]), config["fusion"], dropout)
    model = timm_network(name, padding, config["batch_norm_epsilon"], *head)
    return make_quantized(model, config) if config.get("precision") == QUANTIZED else model


def other_network(config):
    """Another network of timm, which is handed metadata as the others are and has no use for it."""
    name, settings = config["architecture"], {}
    if len(poolings := poolings_of(name)) > 1:
        settings["global_pool"] = config.get("global_pool", poolings[0])
    if has_positions(name):
        settings["img_size"] = config["preprocessing"]["size"]
    network = timm().create_model(name, num_classes=len(config["classes"]), **settings)
    forward = network.forward
    network.forward = lambda image, metadata=None: forward(image)
    return network


def build_config(architecture, classes, fusion=True, size=380, name=None, version="1.0.0", padding=None):
    """The config.json of a new model; `classes` is its list of classes as config.json has it."""
    padding = padding_of(architecture, padding)
    return {
        "format_version": 1,
        "name": name or architecture,
        "version": version,
        "architecture": architecture,
        "padding": padding,
        "batch_norm_epsilon": EPSILONS[padding],
        "classes": list(classes),
        "temperature": 1.0,
        "preprocessing": default_preprocessing(size),
        "metadata": {"sexes": list(SEXES), "sites": list(SITES)},
        "fusion": default_fusion() if fusion else None,
        "training": {},
    }
