"""Compares the program with PyTorch on random models of architectures that no shipped weights have.

For each architecture, with and without the metadata fusion head, it makes a model folder with random weights whose
batch norms took statistics from pictures, and compares the logits of `dermafusion classify` and the stages of
`dermafusion parity` with PyTorch's. Prints Markdown. Exit status 1 when a logit departs by more than 0.001 or a stage
departs. Scripts/check-architectures builds the program and calls this.
"""

import sys
from pathlib import Path

import torch

from dermafusion.comparison.architectures import check_architecture
from dermafusion.model.architecture import ARCHITECTURES, MOBILENETS, RESNETS
from dermafusion.options import new_parser
from dermafusion.paths import PROGRAM


def main():
    parser = new_parser(__doc__)
    parser.add_argument("architectures", nargs="*", metavar="NAME", help="default: every MobileNetV3 and ResNet")
    parser.add_argument("--program", type=Path, default=PROGRAM)
    parser.add_argument("--image-size", type=int, default=224)
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch")
    options = parser.parse_args()
    for name in options.architectures:
        if name not in ARCHITECTURES:
            parser.error(f"{name}: must be one of {', '.join(ARCHITECTURES)}")
    torch.set_num_threads(options.threads)
    print("| architecture | head | greatest difference of a logit | greatest logit | stages |\n|---|---|---|---|---|")
    all_agree = True
    for architecture in options.architectures or MOBILENETS + RESNETS:
        for fusion in (False, True):
            row, agrees = check_architecture(options.program, architecture, fusion, options.image_size)
            print(row, flush=True)
            all_agree &= agrees
    sys.exit(not all_agree)


if __name__ == "__main__":
    main()
