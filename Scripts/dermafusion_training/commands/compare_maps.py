"""Holds `dermafusion gradcam` against PyTorch on one model folder and one picture.

By autograd: every method and class at the end of every stage and at the last map, the signed maps, relative to the
largest magnitude of each. Prints the greatest difference from float64, and that of PyTorch's own float32 beside it:
where ReLU6 has an argument on a kink, or GradCAM++ comes near a pole, no float32 is nearer. Exit status 1 if a map
departs by more than 1e-4 and by more than ten times as much as PyTorch's own.

With --package: the maps that `--raw` writes, 0...1 at the network's size, against those of the PyPI package `grad-cam`
run in float64, the package's own float32 beside it; the tolerance is 1e-3. It needs the extra `gradcam`.
"""

import sys
from pathlib import Path

from dermafusion_training.comparison.gradcam import PACKAGE_TOLERANCE, TOLERANCE, gradcam_differences
from dermafusion_training.options import new_parser
from dermafusion_training.paths import IMAGES, PROGRAM, WEIGHTS


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--model", type=Path, default=WEIGHTS)
    parser.add_argument("--picture", type=Path, default=IMAGES / "phantom_melanoma.jpg")
    parser.add_argument("--program", default=str(PROGRAM))
    parser.add_argument("--package", action="store_true", help="compare with the PyPI package grad-cam")
    parser.add_argument("--layers", nargs="+", help="stage0 ... stage6 or conv_head; when left out, all")
    parser.add_argument("--age", type=float)
    parser.add_argument("--sex")
    parser.add_argument("--site")
    options = parser.parse_args()
    tolerance = PACKAGE_TOLERANCE if options.package else TOLERANCE
    departs = False
    print(f"{'layer':10}{'method':12}{'this engine':>12}{'PyTorch float32':>17}")
    for layer, method, own, peer in gradcam_differences(options):
        departs |= own > max(tolerance, 10 * peer)
        print(f"{layer:10}{method:12}{own:12.1e}{peer:17.1e}", flush=True)
    sys.exit(departs)
