"""Dumps what Python computes at every stage, to compare the Swift engine with it: see ParityFixtures/README.md.

Without --model only the stages and the metadata are dumped; with it, logits too and, of a model, activations and
activation maps.
"""

from pathlib import Path

from dermafusion_training.fixtures.manifest import dump_fixtures
from dermafusion_training.options import new_parser
from dermafusion_training.paths import FIXTURES


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--output", type=Path, default=FIXTURES)
    parser.add_argument("--model", type=Path, help="a model folder, Weights/ say, or an ensemble's")
    options = parser.parse_args()
    print(dump_fixtures(options.output, options.model))
