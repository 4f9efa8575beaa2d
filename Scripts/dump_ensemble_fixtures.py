"""Dumps what an ensemble of two formula networks makes of a few pictures: see ParityFixtures/README.md."""

import numpy as np

from dermafusion.fixtures.ensemble import dump_ensemble
from dermafusion.options import new_parser

if __name__ == "__main__":
    new_parser(__doc__).parse_args()
    for prediction in dump_ensemble():
        print(prediction["file"], np.round(prediction["probabilities"], 3))
