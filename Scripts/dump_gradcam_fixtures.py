"""Dumps activation maps by autograd and by the PyPI package `grad-cam`, for the Swift engine to be held against.

Without --model, of the formula networks. With --model, of a model folder's real weights and a picture of
ParityFixtures/images, by autograd alone. See ParityFixtures/gradcam/README.md.
"""

from pathlib import Path

import torch

from dermafusion.fixtures.formula_networks import dump_formula_networks
from dermafusion.fixtures.gradcam import dump_model
from dermafusion.options import new_parser
from dermafusion.paths import FIXTURES, IMAGES


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--output", type=Path, default=FIXTURES / "gradcam")
    parser.add_argument("--model", type=Path, help="a model folder, whose maps are dumped instead of the formula's")
    parser.add_argument("--picture", type=Path, default=IMAGES / "phantom_melanoma.jpg")
    options = parser.parse_args()
    torch.set_num_threads(2)
    options.output.mkdir(parents=True, exist_ok=True)
    if options.model:
        dump_model(options.model, options.picture, options.output)
    else:
        dump_formula_networks(options.output)


if __name__ == "__main__":
    main()
