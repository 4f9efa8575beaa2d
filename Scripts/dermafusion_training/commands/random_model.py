"""Makes the folder of a network with random weights, for measuring speed where no trained one is at hand.

Its batch norms take their statistics from the drawn pictures of ParityFixtures: with those that they are born with,
activations fade or grow from block to block, and a network that computes with denormal numbers or with infinities is no
measure of one that was trained.
"""

from pathlib import Path

from dermafusion_training.comparison.random_models import make_random_model
from dermafusion_training.model.architecture import ARCHITECTURES
from dermafusion_training.options import new_parser


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--architecture", choices=ARCHITECTURES, default="efficientnet_b4", metavar="NAME")
    parser.add_argument("--fusion", action="store_true", help="with the metadata fusion head")
    parser.add_argument("--image-size", type=int, default=380)
    parser.add_argument("--dtype", choices=["float16", "float32"], default="float16")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    options = parser.parse_args()
    identity = make_random_model(
        options.output, options.architecture, options.fusion, options.image_size, options.dtype
    )
    print(f"{options.output}: {options.architecture}, sha256 {identity}")
