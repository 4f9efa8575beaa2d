"""Makes a model folder (config.json, model.safetensors, SHA256SUMS, README.md) from a checkpoint with timm's names.

    python -m dermafusion_training export --architecture resnet50 --checkpoint model_best.pth.tar \\
      --classes akiec,bcc,mel,nv --output MyModel
    python -m dermafusion_training export --checkpoint FolderOfTimm --output MyModel

The checkpoint is a .safetensors file, or a .pth or .pt file with a state dict, as timm's train.py or Lightning saves it
for example. A prefix that all tensors share is taken off, and torchvision's names are read too. An average of the
weights (EMA) is taken where there is one, if it has all tensors; --take names the weights where a file holds several.
Standard error names what was taken. No code of the file runs.

The checkpoint may also be a folder that timm saved (config.json, model.safetensors or shards), or a file beside such a
config.json. The architecture, the classes and the transform of timm's evaluation are taken from there; the options take
precedence. The transform is also taken from a checkpoint's args where these tell interpolation or crop_pct. timm's
networks that this package cannot train have timm's transform of their name where nothing tells another.
--architecture is needed only where neither the file nor the tensors' shapes tell it.

A state dict with `fusion.` tensors gets the metadata fusion head; any other gets a plain classifier.

--classes names the classes in the order of the outputs: ids with commas between them, or a .json file with a list of
ids or objects {"class": "mel", "name": "Melanoma", "malignancy": "malignant"}, with {"classes": such a list}, or with
{"mel": "Melanoma", ...}. The malignancy is malignant, pre-malignant or benign; it stands in all classes or in none. A
model without it has no risk. Without --classes seven outputs are akiec, bcc, bkl, df, mel, nv, vasc. The one class of a
network with one output is that of its sigmoid: the model gets a second output of zeros, for the class "other". A
multi-label head, of which a configuration or the training's arguments tell, makes a multi-label model.

A README.md that is there already stays, unless --card names another. A folder that holds a model is not written to.
"""

import sys
from pathlib import Path

import torch

from dermafusion_training.model.architecture import (
    EFFICIENTNETS,
    EPSILONS,
    has_positions,
    is_timms,
    padding_of,
    poolings_of,
    timm,
    torchvision_epsilon,
)
from dermafusion_training.model.build import build_config
from dermafusion_training.model.checkpoint import read_checkpoint
from dermafusion_training.model.classes import choose_classes
from dermafusion_training.model.config import class_ids, default_preprocessing
from dermafusion_training.model.export import DTYPES, check_last_layer, export
from dermafusion_training.model.folder import CheckpointError, last_layer, positions_side
from dermafusion_training.model.heads import uses_binary_loss
from dermafusion_training.model.timm_folder import (
    CROP_MODES,
    CROP_PCT,
    INTERPOLATIONS,
    WEIGHTS,
    in_words,
    require_named_network,
    transform,
)
from dermafusion_training.options import fit_text, new_parser


def parse_options():
    parser = new_parser(__doc__)
    parser.add_argument("--architecture", metavar="NAME", help="timm's name, where the file does not tell it")
    parser.add_argument("--checkpoint", type=Path, required=True, help=".pth, .pt, .safetensors, or timm's folder")
    parser.add_argument("--take", metavar="KEY", help="which weights, where the file holds several: state_dict, net.")
    parser.add_argument("--num-classes", type=int, metavar="N", help="a check; the last layer tells it")
    parser.add_argument("--classes", metavar="IDS|FILE.json", help="in the order of the outputs")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--dtype", choices=DTYPES, default="float16")
    parser.add_argument("--name", type=fit_text, help="the model's name (default: the architecture)")
    parser.add_argument("--version", type=fit_text, default="1.0.0")
    parser.add_argument(
        "--padding", choices=EPSILONS,
        help="with its batch-norm epsilon; default: same for tf_* and every lite, symmetric for the others",
    )  # fmt: skip
    parser.add_argument("--image-size", type=int, help="default: the checkpoint's transform, else 380")
    parser.add_argument("--crop-mode", choices=CROP_MODES, help="how timm's evaluation crops")
    parser.add_argument("--crop-pct", type=float, help="of the shorter side, 0.1 to 1, as timm's evaluation has it")
    parser.add_argument("--interpolation", choices=INTERPOLATIONS, help="of the resizing (default: bilinear)")
    parser.add_argument("--temperature", type=float, default=1.0, help="logits are divided by it")
    parser.add_argument("--mean", type=float, nargs=3, help="of each channel, 0...1 (default: ImageNet's)")
    parser.add_argument("--std", type=float, nargs=3, help="of each channel (default: ImageNet's)")
    parser.add_argument(
        "--color-constancy", choices=["shades_of_gray", "none"],
        help="default: shades_of_gray, as this package trains; none with timm's transform",
    )  # fmt: skip
    parser.add_argument("--constancy-p", type=int, default=6)
    parser.add_argument("--rounding", choices=["round", "truncate", "none"], default="round")
    parser.add_argument("--card", type=Path, help="a model card to use as README.md")
    options = parser.parse_args()
    # A model that dermafusion refuses to load is better refused here.
    ranges = {"image_size": (32, 2048), "temperature": (0.001, 1000), "constancy_p": (1, 100), "crop_pct": (0.1, 1)}
    for name, (low, high) in ranges.items():
        value = getattr(options, name)
        if value is not None and not low <= value <= high:
            parser.error(f"--{name.replace('_', '-')} {value:g}: must be {low} to {high}")
    if options.std and not min(options.std) > 0:
        parser.error(f"--std {min(options.std):g}: must be above 0")
    return options


def note(text):
    print(f"note: {text}", file=sys.stderr)


def note_what_may_surprise(options, checkpoint, config):
    """Says on standard error what was taken, and what a user may have meant otherwise."""
    preprocessing = config["preprocessing"]
    print(f"transform: {in_words(preprocessing)}", file=sys.stderr)
    if config["architecture"].startswith("efficientnet_lite") and config["padding"] == "same" and not options.padding:
        note(
            f"taken as TensorFlow's Lite (padding same), which timm calls tf_{config['architecture']}; "
            f"timm's own {config['architecture']} needs --padding symmetric"
        )
    trained_at = checkpoint.arguments.get("img_size") or (checkpoint.arguments.get("input_size") or [None])[-1]
    size = preprocessing["size"]
    if trained_at and trained_at != size:
        note(f"the checkpoint was trained with images of {trained_at} pixels; --image-size is {size}")
    for name in ("mean", "std"):
        trained_with = checkpoint.arguments.get(name)
        if isinstance(trained_with, (list, tuple)) and trained_with and list(trained_with) != preprocessing[name]:
            if getattr(options, name) is None:
                values = " ".join(map(str, trained_with))
                note(f"the checkpoint was trained with --{name} {values}; without the option ImageNet's is taken")
    constancy = preprocessing["color_constancy"]["method"]
    if checkpoint.arguments and options.color_constancy is None and constancy != "none":
        note(
            "Shades of Gray balances the colours of each image, which timm's train.py does not: --color-constancy none"
        )
    if options.classes is None and not checkpoint.configuration and options.num_classes is None:
        note(
            f"the outputs are taken as {', '.join(class_ids(config['classes']))}, in this order; --classes names others"
        )
    if config.get("task"):
        note("a multi-label head: each class has a probability of its own, by a sigmoid; there are no sets of classes")
    elif checkpoint.output_count() == 1:
        named = class_ids(config["classes"])[0]
        note(f"one output: its sigmoid is the probability of {named}; a second output of zeros is added")
    elif uses_binary_loss(checkpoint.arguments):
        note(
            "trained with a binary cross-entropy: if several classes may be right at once (multi-label), these "
            "probabilities, which add up to 1, are wrong"
        )
    if not all(isinstance(entry, dict) and "malignancy" in entry for entry in config["classes"]):
        note("the classes do not say which are malignant, so dermafusion gives no risk; a --classes FILE.json can")


def pooling_of(checkpoint, architecture):
    """timm's `global_pool`, as the tensors, the configuration or the training tell it."""
    arguments = checkpoint.network_arguments()
    require_named_network(arguments)
    told = arguments.get("global_pool") or checkpoint.configuration.get("global_pool")
    poolings = poolings_of(architecture)
    if has_positions(architecture) and "fc_norm.weight" in checkpoint.state:
        told = "avg"
    if told not in (None, *poolings):
        raise CheckpointError(f"global_pool {told}: {architecture} can be run with {' or '.join(poolings)} only")
    return told or poolings[0]


def told_transform(checkpoint, architecture):
    """The transform that the checkpoint tells, or timm's own for a network of timm; otherwise None."""
    if checkpoint.configuration:
        return transform(checkpoint.configuration | (checkpoint.configuration.get("pretrained_cfg") or {}))
    # timm's train.py writes an empty interpolation where nobody gave one.
    told = {key: value for key, value in checkpoint.arguments.items() if value not in (None, [], "")}
    side = told.get("img_size")
    if is_timms(architecture):
        side = side or positions_side(checkpoint.state)
    elif "interpolation" not in told and "crop_pct" not in told:
        return None
    if side:
        told.setdefault("input_size", [3, side, side])
    return transform((timm().get_pretrained_cfg(architecture).to_dict() if is_timms(architecture) else {}) | told)


def preprocessing_of(options, checkpoint, architecture):
    """The `preprocessing` of config.json: what the options say, then the checkpoint, then this package's own."""
    preprocessing = default_preprocessing(380) | (told_transform(checkpoint, architecture) or {})
    if options.crop_mode or options.crop_pct:
        preprocessing |= {"crop_mode": preprocessing.get("crop_mode", "center")}
        preprocessing |= {"crop_pct": preprocessing.get("crop_pct", CROP_PCT)}
        preprocessing |= {"interpolation": preprocessing.get("interpolation", "bicubic")}
        preprocessing["color_constancy"] = {"method": "none"}
    said = {"size": options.image_size, "mean": options.mean, "std": options.std, "crop_mode": options.crop_mode}
    said |= {"crop_pct": options.crop_pct, "interpolation": options.interpolation}
    preprocessing |= {key: value for key, value in said.items() if value is not None}
    method = options.color_constancy or preprocessing["color_constancy"]["method"]
    preprocessing["color_constancy"] = {"method": method, "p": options.constancy_p, "rounding": options.rounding}
    return preprocessing


def classes_of(options, checkpoint):
    """The classes that the options name, otherwise those of timm's config.json."""
    if options.classes is None and options.num_classes is None and (classes := checkpoint.classes()):
        return classes
    return choose_classes(options.classes, options.num_classes, checkpoint.output_count())


def config_of(options, checkpoint):
    """The config.json of the model, all but its weights checked."""
    architecture = options.architecture or checkpoint.architecture()
    padding_of(architecture)  # before all else that a network which cannot be run breaks
    checkpoint.require_colors()
    padding = options.padding
    if checkpoint.configuration and padding is None and architecture in EFFICIENTNETS:
        padding = "same" if architecture.startswith("tf_") else "symmetric"  # as timm names them
    fusion = any(name.startswith("fusion.") for name in checkpoint.state)
    config = build_config(
        architecture, classes_of(options, checkpoint), fusion, 380, options.name, options.version, padding
    )
    if checkpoint.is_multi_label and checkpoint.output_count() != 1:
        config["task"] = "multilabel"
    pooling = pooling_of(checkpoint, architecture)
    if pooling != "avg" or has_positions(architecture):
        config["global_pool"] = pooling
    config["temperature"] = options.temperature
    config["preprocessing"] = preprocessing_of(options, checkpoint, architecture)
    if checkpoint.library == "torchvision":
        config["batch_norm_epsilon"] = torchvision_epsilon(architecture)
    return config


def add_zero_output(state):
    """Gives the last layer of one output a second whose logit is 0: a softmax over both is the first one's sigmoid."""
    layer = last_layer(state)
    for name in (f"{layer}.weight", f"{layer}.bias"):
        if name in state:
            state[name] = torch.cat([state[name], torch.zeros_like(state[name])])


def make_folder(options):
    requires_no_model(options.output)
    checkpoint = read_checkpoint(options.checkpoint, options.take)
    print(f"{options.checkpoint}: {checkpoint.description()}", file=sys.stderr)
    try:
        config = config_of(options, checkpoint)
    except CheckpointError as error:
        raise CheckpointError(f"{options.checkpoint}: {error}") from None
    note_what_may_surprise(options, checkpoint, config)
    if checkpoint.output_count() == 1:
        add_zero_output(checkpoint.state)
    check_last_layer(checkpoint.state, config["classes"], options.checkpoint)
    card = options.card.read_text() if options.card else None
    try:
        identity = export(checkpoint.state, config, options.output, options.dtype, card)
    except CheckpointError as error:
        raise CheckpointError(f"{options.checkpoint}: {error}") from None
    print(f"{options.output}: {config['architecture']}, {options.dtype}, sha256 {identity}")


def requires_no_model(folder):
    """Raises CheckpointError where a folder holds a model: its card would then describe other weights."""
    for name in ("config.json", *WEIGHTS):
        if (folder / name).exists():
            raise CheckpointError(f"{folder}: holds a model already ({name}); name a new folder")


def main():
    try:
        make_folder(parse_options())
    except (ValueError, OSError) as error:
        sys.exit(f"export: {error}")
