"""Dumps the pixels that the small files of ParityFixtures/formats must decode to, and writes those of DICOM.

Size and SHA-256 of the RGB bytes of each file are written to `expected.json`; for HEIC and AVIF, whose pixels may
differ by up to 3, the expected pixels as `NAME.expected.png`. Pixels are those of
`ImageOps.exif_transpose(Image.open(file)).convert("RGB")`, with 16-bit grey by its high byte; those of DICOM are the
array that was stored. Needs the extra `formats`.
"""

from pathlib import Path

from dermafusion_training.fixtures.formats import dump_formats
from dermafusion_training.options import new_parser
from dermafusion_training.paths import FIXTURES


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--output", type=Path, default=FIXTURES / "formats")
    print(f"{dump_formats(parser.parse_args().output)} images")
