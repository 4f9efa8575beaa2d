"""Fits when a model says that it does not know, on its validation lesions: limits of image quality, the distance of
features from those of the training photographs, and conformal sets.

With --write, the constants go into the folder's config.json and model.safetensors, and what was measured into
<model>/training/abstention.json. Run it after evaluate, whose temperature the sets are made with.
"""

from pathlib import Path

from dermafusion_training.evaluation.abstention_fit import fit_abstention
from dermafusion_training.options import new_validation_parser


def main():
    parser = new_validation_parser(__doc__)
    parser.add_argument("--others", type=Path, help="a folder of pictures of something else, to report on")
    parser.add_argument("--limits", type=Path, help="a model folder whose limits of sharpness and colour are kept")
    parser.add_argument(
        "--sets", action="store_true", help="fit the sets alone, to another calibration, and keep all limits"
    )
    fit_abstention(parser.parse_args())
