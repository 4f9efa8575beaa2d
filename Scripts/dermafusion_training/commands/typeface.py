"""Writes the outlines that figures draw their captions with, Sources/Figures/Typeface+Tables.swift.

    python -m dermafusion_training typeface --fonts /usr/share/fonts/truetype/roboto/unhinted/RobotoTTF

The fonts are Debian's package fonts-roboto-unhinted; fonttools is in the optional requirements `figures`.
"""

from pathlib import Path

from dermafusion_training.figures.typeface import swift_source
from dermafusion_training.options import new_parser
from dermafusion_training.paths import ROOT

ORIGIN = [
    "Outlines of Roboto Regular and Roboto Medium, version 2.138, from Debian's fonts-roboto-unhinted 2:0~20170802-3.",
    "Copyright 2015 Google Inc., licensed under the Apache License, Version 2.0 (see LICENSE). Changed: of the fonts only",  # noqa: E501
    "these characters were taken, in another encoding.",
]


def main():
    parser = new_parser(__doc__)
    parser.add_argument(
        "--fonts", type=Path, required=True, help="folder with Roboto-Regular.ttf and Roboto-Medium.ttf"
    )
    parser.add_argument("--output", type=Path, default=ROOT / "Sources/Figures/Typeface+Tables.swift")
    options = parser.parse_args()
    source = swift_source(options.fonts / "Roboto-Regular.ttf", options.fonts / "Roboto-Medium.ttf", ORIGIN)
    options.output.write_text(source, encoding="utf-8")
