"""Shows what more photographs bring, and what each source.

A linear classifier on ImageNet's features is fitted on a quarter, a half and all of the training lesions, and on all
but those of each source, and judged on those kept aside. Prints JSON. Needs the PyPI package of the ImageNet weights.
"""

import json

from dermafusion_training.evaluation.learning_curve import learning_curve
from dermafusion_training.options import add_data_options, new_parser
from dermafusion_training.training.pretrained import PACKAGES


def main():
    parser = new_parser(__doc__)
    add_data_options(parser)
    parser.add_argument("--architecture", choices=PACKAGES, default="efficientnet_lite2")
    parser.add_argument("--size", type=int, default=224, help="pixels that the network looks at")
    print(json.dumps(learning_curve(parser.parse_args()), indent=1))
