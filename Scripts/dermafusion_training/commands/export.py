"""Makes a model folder (config.json, model.safetensors, SHA256SUMS, README.md) from a checkpoint with timm's names.

    python -m dermafusion_training export --architecture resnet50 --checkpoint model_best.pth.tar \\
      --classes akiec,bcc,mel,nv --output MyModel

The checkpoint is a .safetensors file, or a .pth or .pt file with a state dict, as timm's train.py saves it for example.
An average of the weights (EMA) is taken where there is one. Standard error names what was taken. A file that asks for
more than tensors, plain values and argparse.Namespace is refused.

A state dict with `fusion.` tensors gets the metadata fusion head; any other gets a plain classifier.

--classes names the classes in the order of the outputs: ids with commas between them, or a .json file with a list of
ids or objects {"class": "mel", "name": "Melanoma", "malignancy": "malignant"}, with {"classes": such a list}, or with
{"mel": "Melanoma", ...}. The malignancy is malignant, pre-malignant or benign; it stands in all classes or in none. A
model without it has no risk. Without --classes the outputs are akiec, bcc, bkl, df, mel, nv, vasc.

A README.md that is there already stays, unless --card names another.
"""

import sys
from pathlib import Path

from dermafusion_training.model.architecture import ARCHITECTURES, EPSILONS
from dermafusion_training.model.build import build_config
from dermafusion_training.model.checkpoint import read_checkpoint
from dermafusion_training.model.classes import choose_classes
from dermafusion_training.model.export import DTYPES, check_last_layer, export
from dermafusion_training.model.folder import CheckpointError
from dermafusion_training.options import new_parser


def parse_options():
    parser = new_parser(__doc__)
    parser.add_argument("--architecture", choices=ARCHITECTURES, required=True, metavar="NAME")
    parser.add_argument("--checkpoint", type=Path, required=True, help=".pth, .pt or .safetensors")
    parser.add_argument("--num-classes", type=int, metavar="N", help="may be left out with --classes")
    parser.add_argument("--classes", metavar="IDS|FILE.json", help="in the order of the outputs")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--dtype", choices=DTYPES, default="float16")
    parser.add_argument("--name", help="the model's name (default: the architecture)")
    parser.add_argument("--version", default="1.0.0")
    parser.add_argument(
        "--padding", choices=EPSILONS,
        help="with its batch-norm epsilon; default: same for tf_* and every lite, symmetric for the others",
    )  # fmt: skip
    parser.add_argument("--image-size", type=int, default=380)
    parser.add_argument("--temperature", type=float, default=1.0, help="logits are divided by it")
    parser.add_argument("--mean", type=float, nargs=3, help="of each channel, 0...1 (default: ImageNet's)")
    parser.add_argument("--std", type=float, nargs=3, help="of each channel (default: ImageNet's)")
    parser.add_argument(
        "--color-constancy", choices=["shades_of_gray", "none"],
        help="default: shades_of_gray, as this package trains; none for a network that timm's train.py trained",
    )  # fmt: skip
    parser.add_argument("--constancy-p", type=int, default=6)
    parser.add_argument("--rounding", choices=["round", "truncate", "none"], default="round")
    parser.add_argument("--card", type=Path, help="a model card to use as README.md")
    options = parser.parse_args()
    # What dermafusion refuses to load is better refused here.
    ranges = {"image_size": (32, 2048), "temperature": (0.001, 1000), "constancy_p": (1, 100)}
    for name, (low, high) in ranges.items():
        if not low <= getattr(options, name) <= high:
            parser.error(f"--{name.replace('_', '-')} {getattr(options, name):g}: must be {low} to {high}")
    if options.num_classes is None and options.classes is None:
        parser.error("--num-classes or --classes is needed")
    if options.std and not min(options.std) > 0:
        parser.error(f"--std {min(options.std):g}: must be above 0")
    return options


def note(text):
    print(f"note: {text}", file=sys.stderr)


def note_what_may_surprise(options, checkpoint, classes):
    """Says on standard error what was taken, and what a user may have meant otherwise."""
    print(f"{options.checkpoint}: {checkpoint.description()}", file=sys.stderr)
    if options.architecture.startswith("efficientnet_lite") and options.padding is None:
        note(
            f"taken as TensorFlow's Lite (padding same), which timm calls tf_{options.architecture}; "
            f"timm's own {options.architecture} needs --padding symmetric"
        )
    trained_at = checkpoint.arguments.get("img_size") or (checkpoint.arguments.get("input_size") or [None])[-1]
    if trained_at and trained_at != options.image_size:
        note(f"the checkpoint was trained with images of {trained_at} pixels; --image-size is {options.image_size}")
    for name in ("mean", "std"):
        trained_with = checkpoint.arguments.get(name)
        if isinstance(trained_with, (list, tuple)) and trained_with and getattr(options, name) is None:
            values = " ".join(map(str, trained_with))
            note(f"the checkpoint was trained with --{name} {values}; without the option ImageNet's is taken")
    if checkpoint.arguments and options.color_constancy is None:
        note(
            "Shades of Gray balances the colours of each image, which timm's train.py does not: --color-constancy none"
        )
    if not all(isinstance(entry, dict) and "malignancy" in entry for entry in classes):
        note("the classes do not say which are malignant, so dermafusion gives no risk; a --classes FILE.json can")


def make_folder(options):
    classes = choose_classes(options.classes, options.num_classes)
    checkpoint = read_checkpoint(options.checkpoint)
    note_what_may_surprise(options, checkpoint, classes)
    check_last_layer(checkpoint.state, classes, options.checkpoint)
    fusion = any(name.startswith("fusion.") for name in checkpoint.state)
    config = build_config(
        options.architecture, classes, fusion, options.image_size, options.name, options.version, options.padding
    )
    config["temperature"] = options.temperature
    preprocessing = config["preprocessing"]
    preprocessing["mean"] = options.mean or preprocessing["mean"]
    preprocessing["std"] = options.std or preprocessing["std"]
    preprocessing["color_constancy"] = {
        "method": options.color_constancy or "shades_of_gray",
        "p": options.constancy_p,
        "rounding": options.rounding,
    }
    card = options.card.read_text() if options.card else None
    try:
        identity = export(checkpoint.state, config, options.output, options.dtype, card)
    except CheckpointError as error:
        raise CheckpointError(f"{options.checkpoint}: {error}") from None
    print(f"{options.output}: {config['architecture']}, {options.dtype}, sha256 {identity}")


def main():
    try:
        make_folder(parse_options())
    except (ValueError, OSError) as error:
        sys.exit(f"export: {error}")
