"""Makes a model folder in 8 bits from one of an EfficientNet or a MobileNetV3: half the size, and faster.

    python -m dermafusion_training quantize --model Weights --images photographs \\
      --split Weights/training/split.csv --output Weights-int8

The ranges of the activations come from photographs below the folder --images, as the network sees them. Take
photographs like those that the model will see, and none that it is measured on. With --split only those are taken that
the list has on the side "training".

model/quantized.py says what the folder holds. The temperature and the limits of abstention are those of --model, and so
is the list of what it was trained on. Its figures are not: measure the new model before you rely on it.
A README.md that is there already stays.
"""

import json
import shutil
import sys
from pathlib import Path

from safetensors.torch import load_file

from dermafusion_training.data.sample_images import choose_images, image_batches
from dermafusion_training.model.architecture import EFFICIENTNETS, MOBILENETS
from dermafusion_training.model.config import write_config
from dermafusion_training.model.ensemble import TRAINING_LIST
from dermafusion_training.model.export import DISCLAIMER
from dermafusion_training.model.folder import load_folder, model_identity, write_digests, write_weights
from dermafusion_training.model.quantization import quantized_tensors, replaced_tensors
from dermafusion_training.model.quantized import QUANTIZED
from dermafusion_training.options import new_parser


def parse_options():
    parser = new_parser(__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a model folder")
    parser.add_argument("--images", type=Path, required=True, metavar="DIR", help="with photographs at any depth")
    parser.add_argument("--split", type=Path, metavar="CSV", help="with the columns image_id and split")
    parser.add_argument("--count", type=int, default=96, help="photographs, chosen by chance (default: 96)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    options = parser.parse_args()
    if options.count < 1:
        parser.error(f"--count {options.count}: must be 1 or more")
    return options


def quantized_card(config, source, count):
    """The model card of a model that nobody has measured yet."""
    return (
        f"# {config['name']} {config['version']}\n\n"
        f"`{config['architecture']}` in 8 bits, made by `dermafusion_training quantize` from the model with the "
        f"SHA-256 {source} and the ranges of {count} photographs. Its accuracy was not measured.\n\n"
        f"{DISCLAIMER}\n"
    )


def quantize(options):
    config = json.loads((options.model / "config.json").read_text())
    if config["architecture"] not in EFFICIENTNETS + MOBILENETS or "precision" in config:
        raise ValueError(
            f"{options.model}: {config['architecture']}: must be an EfficientNet or a MobileNetV3 in float32"
        )
    config, model = load_folder(options.model)
    paths = choose_images(options.images, options.split, options.count, options.seed)
    print(f"{options.model}: ranges of {len(paths)} photographs", file=sys.stderr)
    tensors = load_file(options.model / "model.safetensors")
    for name in replaced_tensors(model):
        tensors.pop(name, None)
    tensors |= quantized_tensors(model, image_batches(config, paths))
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
        card.write_text(quantized_card(config, model_identity(options.model), len(paths)))
    print(f"{options.output}: {config['architecture']}, {QUANTIZED}, sha256 {model_identity(options.output)}")


def main():
    try:
        quantize(parse_options())
    except (ValueError, OSError) as error:
        sys.exit(f"quantize: {error}")
