"""Makes a model folder (config.json, model.safetensors, README.md) from a PyTorch state dict with timm's names.

A state dict with `fusion.` tensors gets the metadata fusion head; any other is a plain classifier. The file may hold
the state dict itself or wrap it as {"state_dict": ...} or {"model": ...}, with or without a `module.` prefix.

A README.md that is there already stays, unless --card names another.
"""

import sys
from pathlib import Path

from dermafusion.model.architecture import ARCHITECTURES, EPSILONS
from dermafusion.model.config import CLASSES
from dermafusion.model.export import DTYPES, export, read_state_dict
from dermafusion.model.folder import CheckpointError
from dermafusion.model.network import build_config
from dermafusion.options import new_parser


def parse_options():
    parser = new_parser(__doc__)
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
