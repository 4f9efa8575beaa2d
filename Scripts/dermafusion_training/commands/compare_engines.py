"""Times dermafusion against ONNX Runtime, OpenVINO and PyTorch on one exported model, alternately in one run.

Every engine is a process of its own that loads the model once and then computes when it is asked to, a few images a
round, so that a machine whose speed drifts is unfair to none. Prints Markdown. Nothing else should run meanwhile.

With --int8 and --images, our model in 8 bits runs too, beside ONNX Runtime's and OpenVINO's (NNCF) own forms of --model
in 8 bits, made from photographs below --images; --split names a table of those that were trained on.
"""

from pathlib import Path

from dermafusion_training.comparison.engines import compare_engines
from dermafusion_training.options import new_parser
from dermafusion_training.paths import WEIGHTS


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--model", type=Path, default=WEIGHTS, help="exported model folder")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--int8", type=Path, metavar="DIR", help="the same model in 8 bits")
    parser.add_argument("--images", type=Path, metavar="DIR", help="photographs, for the other engines' 8 bits")
    parser.add_argument("--split", type=Path, metavar="CSV", help="with the columns image_id and split")
    options = parser.parse_args()
    if (options.int8 is None) != (options.images is None):
        parser.error("--int8 and --images go together")
    int8 = None if options.int8 is None else (options.int8, options.images, options.split)
    print(compare_engines(options.model, options.threads, options.rounds, int8))
