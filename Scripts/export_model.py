"""Makes a model folder (config.json, model.safetensors, README.md) from a PyTorch state dict with timm's names.

A state dict with `fusion.` tensors gets the metadata fusion head; any other is a plain classifier. The file may hold
the state dict itself or wrap it as {"state_dict": ...} or {"model": ...}, with or without a `module.` prefix.

A README.md that is there already stays, unless --card names another.
"""

import argparse
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

from architecture import ARCHITECTURES, EPSILONS
from model import build_config
from model_config import CLASSES, write_config
from model_folder import CheckpointError, check_against, expected_tensors, model_identity, write_weights

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


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--architecture", choices=ARCHITECTURES, required=True, metavar="NAME")
    parser.add_argument("--checkpoint", type=Path, required=True, help=".pth, .pt or .safetensors")
    parser.add_argument("--num-classes", type=int, required=True, metavar="N")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--dtype", choices=DTYPES, default="float16")
    parser.add_argument("--name", help="the model's name (default: the architecture)")
    parser.add_argument("--version", default="1.0.0")
    parser.add_argument(
        "--padding", choices=EPSILONS,
        help="with its batch-norm epsilon; default: symmetric for efficientnet_b*, same for tf_* and every lite",
    )  # fmt: skip
    parser.add_argument("--image-size", type=int, default=380)
    parser.add_argument("--temperature", type=float, default=1.0, help="logits are divided by it")
    parser.add_argument("--mean", type=float, nargs=3, help="of each channel, 0...1 (default: ImageNet's)")
    parser.add_argument("--std", type=float, nargs=3, help="of each channel (default: ImageNet's)")
    parser.add_argument("--color-constancy", choices=["shades_of_gray", "none"], default="shades_of_gray")
    parser.add_argument("--constancy-p", type=int, default=6)
    parser.add_argument("--rounding", choices=["round", "truncate", "none"], default="round")
    parser.add_argument("--card", type=Path, help="a model card to use as README.md")
    options = parser.parse_args()
    # What dermafusion refuses to load is better refused here.
    ranges = {"image_size": (32, 2048), "temperature": (0.001, 1000), "constancy_p": (1, 100)}
    for name, (low, high) in ranges.items():
        if not low <= getattr(options, name) <= high:
            parser.error(f"--{name.replace('_', '-')} {getattr(options, name):g}: must be {low} to {high}")
    if options.num_classes < 1:
        parser.error(f"--num-classes {options.num_classes}: must be at least 1")
    if options.std and not min(options.std) > 0:
        parser.error(f"--std {min(options.std):g}: must be above 0")
    return options


def note_what_may_surprise(options):
    """Says on standard error what the checkpoint can't tell and a user may have meant otherwise."""
    if options.architecture.startswith("efficientnet_lite") and options.padding is None:
        print(
            f"note: taken as TensorFlow's Lite (padding same), which timm calls tf_{options.architecture}; "
            f"timm's own {options.architecture} needs --padding symmetric",
            file=sys.stderr,
        )
    if options.num_classes != len(CLASSES):
        print(f"note: dermafusion classifies with models of its {len(CLASSES)} classes only", file=sys.stderr)


def main():
    options = parse_options()
    note_what_may_surprise(options)
    state = read_state_dict(options.checkpoint)
    fusion = any(name.startswith("fusion.") for name in state)
    config = build_config(
        options.architecture, options.num_classes, fusion, options.image_size, options.name, options.version,
        options.padding,
    )  # fmt: skip
    config["temperature"] = options.temperature
    preprocessing = config["preprocessing"]
    preprocessing["mean"] = options.mean or preprocessing["mean"]
    preprocessing["std"] = options.std or preprocessing["std"]
    preprocessing["color_constancy"] = {
        "method": options.color_constancy,
        "p": options.constancy_p,
        "rounding": options.rounding,
    }
    card = options.card.read_text() if options.card else None
    identity = export(state, config, options.output, options.dtype, card)
    print(f"{options.output}: {config['architecture']}, {options.dtype}, sha256 {identity}")


if __name__ == "__main__":
    try:
        main()
    except (CheckpointError, OSError) as error:
        sys.exit(f"export_model.py: {error}")
