"""Makes a model folder in 8 bits from one of an EfficientNet or a MobileNetV3: half the size, and faster.

    python -m dermafusion_training quantize --model Weights --images photographs \\
      --split Weights/training/split.csv --output Weights-int8

The ranges of the activations come from photographs below the folder --images, as the network sees them. Take
photographs like those that the model will see, and none that it is measured on. With --split only those are taken that
the list has on the side "training". With --ranges they are those of a folder that was made of the same network
before; this is enough where only the calibration or the limits of abstention changed.

model/quantized.py says what the folder holds. The temperature and the limits of abstention are those of --model, and so
is the list of what it was trained on. The limit for close-ups is not, because the means of a stage differ in 8 bits.
With --ranges it is that of the folder if both have the same probe. Otherwise there is none until
`fit-dermoscopy --limit-only --probe MODEL` has fitted one. The figures of --model are not those of the new model:
measure it before you rely on it.
A README.md that is there already stays.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

from dermafusion_training.data.sample_images import choose_images, image_batches
from dermafusion_training.model.architecture import EFFICIENTNETS, MOBILENETS
from dermafusion_training.model.config import write_config
from dermafusion_training.model.ensemble import TRAINING_LIST
from dermafusion_training.model.export import DISCLAIMER
from dermafusion_training.model.folder import (
    ABSTENTION_PREFIX,
    last_layer,
    load_folder,
    model_identity,
    write_digests,
    write_weights,
)
from dermafusion_training.model.quantization import quantized_tensors, replaced_tensors
from dermafusion_training.model.quantized import QUANTIZED
from dermafusion_training.options import new_parser


def parse_options():
    parser = new_parser(__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a model folder")
    ranges = parser.add_mutually_exclusive_group(required=True)
    ranges.add_argument("--images", type=Path, metavar="DIR", help="with photographs at any depth")
    ranges.add_argument("--ranges", type=Path, metavar="DIR", help="a folder in 8 bits of the same network")
    parser.add_argument("--split", type=Path, metavar="CSV", help="with the columns image_id and split")
    parser.add_argument("--count", type=int, default=96, help="photographs, chosen by chance (default: 96)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    options = parser.parse_args()
    if options.count < 1:
        parser.error(f"--count {options.count}: must be 1 or more")
    return options


def known_tensors(folder, tensors):
    """Name -> tensor of the layers in 8 bits of a folder, whose network must be the one that has the other `tensors`.

    Raises ValueError where another tensor than those of the last layer and of abstention differs.
    """
    known = load_file(folder / "model.safetensors")
    layers = {name: t for name, t in known.items() if name not in tensors or t.dtype == torch.int8}
    may_differ = (ABSTENTION_PREFIX, f"{last_layer(tensors)}.")
    for name in known.keys() - layers.keys():
        if not name.startswith(may_differ) and not torch.equal(known[name], tensors[name]):
            raise ValueError(f"{folder}: {name} differs: this is another network")
    return {name: tensor for name, tensor in layers.items() if not name.startswith(ABSTENTION_PREFIX)}


def settle_limit(config, tensors, options):
    """Gives the model a limit for close-ups that was fitted in 8 bits, or takes the float model's away.

    Returns what was done; None for a model without such a limit.
    """
    probe = f"{ABSTENTION_PREFIX}dermoscopy"
    if probe not in tensors:
        return None
    if options.ranges:
        limit = json.loads((options.ranges / "config.json").read_text()).get("abstention", {}).get("dermoscopy")
        known = load_file(options.ranges / "model.safetensors").get(probe)
        has_stages = limit and limit["stages"] == config["abstention"]["dermoscopy"]["stages"]
        if has_stages and known is not None and torch.equal(known, tensors[probe]):
            config["abstention"]["dermoscopy"] = limit
            return f"the limit for close-ups is that of {options.ranges}"
    del tensors[probe], config["abstention"]["dermoscopy"]
    return (
        "no limit for close-ups, because in 8 bits it needs one of its own; to fit it, run fit-dermoscopy --limit-only "
        f"--model {options.output} --probe {options.model} --write with --data, --split, --close-ups and --means"
    )


def quantized_card(config, source, origin):
    """The model card of a model that nobody has measured yet."""
    return (
        f"# {config['name']} {config['version']}\n\n"
        f"`{config['architecture']}` in 8 bits, made by `dermafusion_training quantize` from the model with the "
        f"SHA-256 {source} and {origin}. Its accuracy was not measured.\n\n"
        f"{DISCLAIMER}\n"
    )


def quantize(options):
    config = json.loads((options.model / "config.json").read_text())
    if config["architecture"] not in EFFICIENTNETS + MOBILENETS or "precision" in config:
        raise ValueError(
            f"{options.model}: {config['architecture']}: must be an EfficientNet or a MobileNetV3 in float32"
        )
    config, model = load_folder(options.model)
    tensors = load_file(options.model / "model.safetensors")
    for name in replaced_tensors(model):
        tensors.pop(name, None)
    if options.ranges:
        origin = f"the ranges of {options.ranges}"
        tensors |= known_tensors(options.ranges, tensors)
    else:
        paths = choose_images(options.images, options.split, options.count, options.seed)
        origin = f"the ranges of {len(paths)} photographs"
        print(f"{options.model}: {origin}", file=sys.stderr)
        tensors |= quantized_tensors(model, image_batches(config, paths))
    if done := settle_limit(config, tensors, options):
        print(f"{options.output}: {done}", file=sys.stderr)
    options.output.mkdir(parents=True, exist_ok=True)
    config |= {"name": f"{config['name']}-int8", "precision": QUANTIZED, "training": {}}
    write_config(options.output, config)
    write_weights(options.output, tensors)
    write_digests(options.output)
    if (options.model / TRAINING_LIST).is_file():
        (options.output / TRAINING_LIST).parent.mkdir(exist_ok=True)
        shutil.copyfile(options.model / TRAINING_LIST, options.output / TRAINING_LIST)
    card = options.output / "README.md"
    if not card.exists():
        card.write_text(quantized_card(config, model_identity(options.model), origin))
    print(f"{options.output}: {config['architecture']}, {QUANTIZED}, sha256 {model_identity(options.output)}")


def main():
    try:
        quantize(parse_options())
    except (ValueError, OSError) as error:
        sys.exit(f"quantize: {error}")
