"""Dumps what Python makes of a formula network in 8 bits and of products in bfloat16, as Swift does to the bit."""

from pathlib import Path

from dermafusion_training.fixtures.quantized import dump_quantized
from dermafusion_training.options import new_parser
from dermafusion_training.paths import FIXTURES


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--output", type=Path, default=FIXTURES / "quantized.json")
    dump_quantized(parser.parse_args().output)
