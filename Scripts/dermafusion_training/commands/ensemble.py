"""Makes an ensemble's folder from model folders: their probabilities are averaged by weight (see model/ensemble.py).

    python -m dermafusion_training ensemble --member first=MODELS/first --member second=MODELS/second:2 --output Vote

A member is NAME=FOLDER or NAME=FOLDER:WEIGHT; the model is copied to NAME below the ensemble's folder, with the list of
what it was trained on.
"""

import argparse
import math
import sys
from pathlib import Path

from dermafusion_training.model.ensemble import WEIGHTS, identity, make_ensemble
from dermafusion_training.options import fit_text, new_parser


def member(text):
    """(name, folder, weight) of a member as the command line gives it."""
    name, _, rest = text.partition("=")
    folder, colon, weight = rest.rpartition(":")
    if not colon:
        folder, weight = rest, "1"
    try:
        value = float(weight)
    except ValueError:
        value = math.nan
    if name in ("", ".", "..") or "/" in name or not folder or not WEIGHTS[0] <= value <= WEIGHTS[1]:
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be NAME=FOLDER or NAME=FOLDER:WEIGHT, the name without '/', "
            f"the weight in {WEIGHTS[0]:g}...{WEIGHTS[1]:g}"
        )
    return name, Path(folder), value


def parse_options():
    parser = new_parser(__doc__)
    parser.add_argument("--member", type=member, action="append", required=True, metavar="NAME=FOLDER[:WEIGHT]")
    parser.add_argument("--name", type=fit_text, default="ensemble")
    parser.add_argument("--version", type=fit_text, default="1.0.0")
    parser.add_argument("--temperature", type=float, default=1.0, help="of the vote, after those of the members")
    parser.add_argument("--output", type=Path, required=True)
    return parser.parse_args()


def main():
    options = parse_options()
    try:
        make_ensemble(options.output, options.member, options.name, options.version, options.temperature)
    except ValueError as error:
        sys.exit(f"Error: {error}")
    print(f"{options.output}: sha256 {identity(options.output)}")
