"""Evaluates a model folder on the validation lesions, through the full preprocessing, and calibrates it.

HAM10000's validation photographs are looked at three ways: with their metadata, without any, and with the metadata but
shrunk to 150 pixels first. Those of other sources are looked at one source at a time, with and without metadata. The
calibration is fitted on HAM10000 alone. What is cross-fitted (calibrated on four fifths of the lesions for the last
fifth) is the mean over several ways of dealing them out. With
--write, the temperature and a bias for each class go into the model, the figures into its config.json and, all of
them, into <model>/training/figures.json, with the reliability diagram beside them. The calibration of a model that was
calibrated before is taken off first, by the bias in its figures.json. Its sets are fitted to the probabilities, so run
fit-abstention --sets after it.
"""

from dermafusion_training.evaluation.calibration import MISSED_MELANOMA
from dermafusion_training.evaluation.validation import evaluate
from dermafusion_training.options import new_validation_parser


def main():
    parser = new_validation_parser(__doc__)
    parser.add_argument(
        "--melanoma-weight",
        type=float,
        default=MISSED_MELANOMA,
        metavar="W",
        help="of a melanoma beside another lesion in the fit of the biases (default: %(default)s)",
    )
    options = parser.parse_args()
    if not 0 < options.melanoma_weight < float("inf"):
        parser.error(f"--melanoma-weight {options.melanoma_weight}: must be more than 0")
    evaluate(options)
