"""Compares two model folders on the validation lesions: figures of each, their difference and its interval.

Both are calibrated on four fifths of the lesions at a time for the last fifth (cross-fitted), and lesions are drawn
with replacement, the same ones for both (paired bootstrap). Prints JSON; a difference is the second's less the first's.
"""

import json
from pathlib import Path

from dermafusion_training.evaluation.comparison import compare_models
from dermafusion_training.options import add_data_options, new_parser


def main():
    parser = new_parser(__doc__)
    parser.add_argument("first", type=Path, help="model folder")
    parser.add_argument("second", type=Path, help="model folder")
    add_data_options(parser)
    options = parser.parse_args()
    folders = (options.first, options.second)
    report = compare_models(folders, options.data, options.cache, options.split, options.threads)
    print(json.dumps(report, indent=1))
