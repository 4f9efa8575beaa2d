"""Dumps what Python makes of a formula network in 8 bits, with which the Swift engine agrees to the bit."""

from pathlib import Path

from dermafusion.fixtures.quantized import dump_quantized
from dermafusion.options import new_parser
from dermafusion.paths import FIXTURES

if __name__ == "__main__":
    parser = new_parser(__doc__)
    parser.add_argument("--output", type=Path, default=FIXTURES / "quantized.json")
    dump_quantized(parser.parse_args().output)
