"""Cross-validates the training: the figures of runs with `train --fold 1/N` to `N/N`, each on its own fold.

A fold's lesions were in no way part of its run. Every run also looks at the validation lesions, which none of them
saw: whether those are harder than the folds shows on the same weights. Probabilities are calibrated within each set,
on four fifths of its lesions at a time for the last fifth (cross-fitted). Prints JSON.
"""

import json
from pathlib import Path

from dermafusion_training.evaluation.cross_validation import cross_validate
from dermafusion_training.options import add_data_options, new_parser


def main():
    parser = new_parser(__doc__)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of `train`, its export in model/")
    add_data_options(parser, split=False)
    options = parser.parse_args()
    try:
        print(json.dumps(cross_validate(options.runs, options.data, options.cache, options.threads), indent=1))
    except ValueError as error:
        parser.error(str(error))
