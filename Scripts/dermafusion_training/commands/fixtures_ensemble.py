"""Dumps what an ensemble of two formula networks makes of a few pictures: see ParityFixtures/README.md."""

import numpy as np

from dermafusion_training.fixtures.ensemble import dump_ensemble
from dermafusion_training.options import new_parser


def main():
    new_parser(__doc__).parse_args()
    for prediction in dump_ensemble():
        print(prediction["file"], np.round(prediction["probabilities"], 3))
