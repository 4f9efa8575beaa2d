"""Times dermafusion against ONNX Runtime, OpenVINO and PyTorch on one exported model, alternately in one run.

Every engine is a process of its own that loads the model once and then computes when it is asked to, a few images a
round, so that a machine whose speed drifts is unfair to none. Prints Markdown. Nothing else should run meanwhile.
"""

from pathlib import Path

from dermafusion.comparison.engines import compare_engines
from dermafusion.options import new_parser
from dermafusion.paths import WEIGHTS


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--model", type=Path, default=WEIGHTS, help="exported model folder")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    print(compare_engines(options.model, options.threads, options.rounds))


if __name__ == "__main__":
    main()
