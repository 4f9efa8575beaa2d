"""Fits how a model tells pictures that no dermatoscope took, on close-ups of skin beside the training's photographs.

The probe looks at the means of the channels of two stages. Its limit leaves out at most 1 % of each source's
photographs and of the melanomas, and 2 % of a source that is never trained on. With --write, its numbers go into the
folder's config.json and model.safetensors, and what was measured into <model>/training/abstention.json. Run it after
fit-abstention, which removes them.

With --limit-only the probe stays, and its limit rises as far as those shares demand of the photographs kept aside. A
model in 8 bits takes the probe of the model that it was made from (--probe), and needs a limit of its own.
"""

from pathlib import Path

from dermafusion_training.evaluation.dermoscopy_fit import fit_dermoscopy
from dermafusion_training.options import new_parser


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a model folder")
    parser.add_argument("--data", type=Path, required=True, help="folder of photographs, with metadata.csv")
    parser.add_argument("--split", type=Path, required=True, help="split.csv of the training run")
    parser.add_argument(
        "--close-ups",
        type=Path,
        required=True,
        metavar="DIR",
        help="photographs without a dermatoscope, at any depth, with metadata.csv (image_id, lesion_id)",
    )
    parser.add_argument(
        "--means",
        type=Path,
        required=True,
        metavar="FILE.npz",
        help="the stages' means of the pictures; made if it is not there, otherwise those in it are taken",
    )
    parser.add_argument("--limit-only", action="store_true", help="keep the folder's probe, and fit its limit alone")
    parser.add_argument("--probe", type=Path, metavar="DIR", help="with --limit-only: the probe of this folder instead")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write the results into the model folder")
    options = parser.parse_args()
    if options.probe and not options.limit_only:
        parser.error("--probe: only with --limit-only")
    fit_dermoscopy(options)
