"""Writes a model folder from a state dict with timm's names."""

from pathlib import Path

import torch

from dermafusion_training.model.config import class_ids, write_config
from dermafusion_training.model.folder import (
    LAST_LAYERS,
    CheckpointError,
    check_against,
    expected_tensors,
    last_layer,
    model_identity,
    some,
    write_digests,
    write_weights,
)

DTYPES = {"float16": torch.float16, "float32": torch.float32}

CARD_CLASSES = 20  # named in the card

DISCLAIMER = (
    "DermaFusion is a research and educational tool. It is NOT a medical device and has NOT been approved by the FDA "
    "or any regulatory authority. Results should NOT be used for self-diagnosis. Always consult a qualified "
    "dermatologist for skin concerns."
)


def check_last_layer(state, classes, source):
    """Raises CheckpointError unless the weights give a logit for each class; `source` begins the message."""
    layer = last_layer(state)
    if layer is None:
        raise CheckpointError(
            f"{source}: no last layer ({', '.join(LAST_LAYERS)}) among its {len(state)} tensors; "
            f"there are {some(state)}"
        )
    outputs = state[f"{layer}.weight"].shape[0]
    if outputs != len(classes):
        raise CheckpointError(f"{source}: {layer} has {outputs} outputs: must be {len(classes)}, one for each class")


def convert(state, dtype):
    """The tensors as `dtype`, in the order of their names; fails when one overflows it."""
    converted = {}
    for name in sorted(state):
        tensor = state[name].to(DTYPES[dtype]).contiguous()
        if not torch.isfinite(tensor).all():
            largest = state[name].abs().max().item()
            raise CheckpointError(f"{name}: {largest:g} overflows {dtype}; use --dtype float32")
        converted[name] = tensor
    return converted


def default_card(config, dtype):
    """The model card of an export nobody wrote a card for."""
    head = "with the metadata fusion head" if config["fusion"] else "without metadata"
    size = config["preprocessing"]["size"]
    ids = class_ids(config["classes"])
    shown = ", ".join(ids if len(ids) <= CARD_CLASSES else [*ids[:CARD_CLASSES], "..."])
    return (
        f"# {config['name']} {config['version']}\n\n"
        f"`{config['architecture']}` {head}, {len(config['classes'])} classes ({shown}), "
        f"{size}x{size} pixels, stored as {dtype}. Exported by `dermafusion_training export`.\n\n"
        f"Write here how it was trained, on what, and how well it does.\n\n{DISCLAIMER}\n"
    )


def export(state, config, folder, dtype="float16", card=None):
    """Writes the model folder. `state` must hold exactly the architecture's tensors. Returns its identity."""
    check_against(expected_tensors(config), state)
    tensors = convert(state, dtype)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_config(folder, config)
    write_weights(folder, tensors)
    write_digests(folder)
    if card is not None or not (folder / "README.md").exists():
        (folder / "README.md").write_text(card or default_card(config, dtype))
    return model_identity(folder)
