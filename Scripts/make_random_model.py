"""Makes the folder of an EfficientNet with random weights, for measuring speed where no trained one is at hand.

Its batch norms take their statistics from the drawn pictures of ParityFixtures: with those that they are born with,
activations fade or grow from block to block, and a network that computes with denormal numbers or with infinities is no
measure of one that was trained.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from export_model import export
from metadata import encode_metadata
from architecture import ARCHITECTURES
from model import build_config, build_model
from model_config import CLASSES
from preprocessing import preprocess

IMAGES = Path(__file__).resolve().parent.parent / "ParityFixtures" / "images"
SEED = 2026


def take_statistics(model, images, metadata):
    """Sets the statistics of every batch norm to those of the images [N, 3, size, size]."""
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = 1.0
    model.train()
    with torch.no_grad():
        model(images, metadata)
    model.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--architecture", choices=ARCHITECTURES, default="efficientnet_b4", metavar="NAME")
    parser.add_argument("--fusion", action="store_true", help="with the metadata fusion head")
    parser.add_argument("--image-size", type=int, default=380)
    parser.add_argument("--dtype", choices=["float16", "float32"], default="float16")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    options = parser.parse_args()
    torch.manual_seed(SEED)
    config = build_config(options.architecture, len(CLASSES), options.fusion, options.image_size)
    model = build_model(config)
    pictures = sorted(IMAGES.glob("phantom_*.jpg"))
    images = np.stack([preprocess(picture, config["preprocessing"])[0]["normalized"] for picture in pictures])
    metadata = np.stack([encode_metadata()[0]] * len(pictures))
    take_statistics(model, torch.from_numpy(images), torch.from_numpy(metadata))
    state = {name: tensor for name, tensor in model.state_dict().items() if not name.endswith(".num_batches_tracked")}
    print(f"{options.output}: {options.architecture}, sha256 {export(state, config, options.output, options.dtype)}")


if __name__ == "__main__":
    main()
