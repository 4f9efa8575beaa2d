"""A model folder from a PyTorch state dict with timm's names: reading the checkpoint, writing the folder."""

from pathlib import Path

import torch
from safetensors.torch import load_file

from dermafusion.model.config import write_config
from dermafusion.model.folder import CheckpointError, check_against, expected_tensors, model_identity, write_weights

WRAPPERS = ("state_dict", "model_state_dict", "model_ema", "state_dict_ema", "model")
PREFIXES = ("module.", "_orig_mod.")
DTYPES = {"float16": torch.float16, "float32": torch.float32}

DISCLAIMER = (
    "DermaFusion is a research and educational tool. It is NOT a medical device and has NOT been approved by the FDA "
    "or any regulatory authority. Results should NOT be used for self-diagnosis. Always consult a qualified "
    "dermatologist for skin concerns."
)


def unwrap(checkpoint):
    """The state dict inside a checkpoint's usual wrappers, without its prefixes and counters."""
    while isinstance(checkpoint, dict):
        inner = next((checkpoint[key] for key in WRAPPERS if isinstance(checkpoint.get(key), dict)), None)
        if inner is None:
            break
        checkpoint = inner
    if not isinstance(checkpoint, dict) or not checkpoint:
        raise CheckpointError("the checkpoint holds no state dict")
    state = {}
    for name, tensor in checkpoint.items():
        while name.startswith(PREFIXES):
            name = name.split(".", 1)[1]
        if not isinstance(tensor, torch.Tensor):
            raise CheckpointError(f"{name}: not a tensor but {type(tensor).__name__}")
        if not name.endswith(".num_batches_tracked"):
            state[name] = tensor.detach().cpu()
    return state


def read_state_dict(path):
    """Reads a .safetensors file, or a .pth / .pt file that holds tensors and plain values only."""
    if not Path(path).is_file():
        raise CheckpointError(f"{path}: no such file")
    try:
        if Path(path).suffix == ".safetensors":
            checkpoint = load_file(path)
        else:
            checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        reason = "not a checkpoint, or one that holds more than tensors and plain values"
        raise CheckpointError(f"{path}: {reason}") from error
    return unwrap(checkpoint)


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
    return (
        f"# {config['name']} {config['version']}\n\n"
        f"`{config['architecture']}` {head}, {len(config['classes'])} classes ({', '.join(config['classes'])}), "
        f"{size}x{size} pixels, stored as {dtype}. Exported by `Scripts/export_model.py`.\n\n"
        f"How it was trained, on what and how well it does is for whoever trained it to write here.\n\n{DISCLAIMER}\n"
    )


def export(state, config, folder, dtype="float16", card=None):
    """Writes the model folder. `state` must hold exactly the architecture's tensors. Returns its identity."""
    check_against(expected_tensors(config), state)
    tensors = convert(state, dtype)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_config(folder, config)
    write_weights(folder, tensors)
    if card is not None or not (folder / "README.md").exists():
        (folder / "README.md").write_text(card or default_card(config, dtype))
    return model_identity(folder)
