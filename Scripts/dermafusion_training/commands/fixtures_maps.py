"""Dumps activation maps by autograd and by the PyPI package `grad-cam`, to compare the Swift engine with them.

Without an option: of the formula networks of EfficientNet, which needs the extra `gradcam`. With --architectures: of
those of MobileNetV3 and ResNet, by autograd alone. With --model: of a model folder's real weights and a picture of
ParityFixtures/images, by autograd alone. See the READMEs in ParityFixtures/gradcam and ParityFixtures/architectures.
"""

from pathlib import Path

import torch

from dermafusion_training.fixtures.formula_networks import dump_architectures, dump_formula_networks
from dermafusion_training.fixtures.gradcam import dump_model
from dermafusion_training.options import new_parser
from dermafusion_training.paths import FIXTURES, IMAGES


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--output", type=Path, help="a folder in the place of ParityFixtures/gradcam or /architectures")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--architectures", action="store_true")
    kind.add_argument("--model", type=Path, help="a model folder")
    parser.add_argument("--picture", type=Path, default=IMAGES / "phantom_melanoma.jpg")
    options = parser.parse_args()
    torch.set_num_threads(2)
    output = options.output or FIXTURES / ("architectures" if options.architectures else "gradcam")
    output.mkdir(parents=True, exist_ok=True)
    if options.model:
        dump_model(options.model, options.picture, output)
    elif options.architectures:
        dump_architectures(output)
    else:
        dump_formula_networks(output)
