"""Dumps small BMP, DICOM, WebP, TIFF, HEIC and AVIF files with the pixels that they must decode to.

Beside the files it writes `expected.json` (size and SHA-256 of the RGB bytes of each) and, for HEIC and AVIF, whose
pixels may differ by up to 3, the expected pixels as `NAME.expected.png`. Pixels are those of
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
    print(f"{dump_formats(parser.parse_args().output)} files")
