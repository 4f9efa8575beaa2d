"""Checks the program end to end on models whose classes are not HAM10000's seven.

For eight classes (those of ISIC 2019) and for two, it makes checkpoints with random weights as timm's train.py saves
them, exports them by export_model.py, and runs info, classify, gradcam, parity, evaluate, report, bench and doctor on
the models and on an ensemble of two. Every output must have the model's own names, the logits must be within 0.001 of
PyTorch's, and there must be no risk where the model does not say what is malignant. Prints Markdown. Exit status 1 when
a check fails. Scripts/check-classes builds the program and calls this.
"""

import sys
import tempfile
from pathlib import Path

from dermafusion.comparison.class_cases import CASES
from dermafusion.comparison.own_classes import check_case
from dermafusion.options import new_parser
from dermafusion.paths import PROGRAM


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--program", type=Path, default=PROGRAM)
    options = parser.parse_args()
    problems = []
    print("| model | checks | failed | greatest difference of a logit |\n|---|---|---|---|")
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            for name, check in check_case(options.program.resolve(), case, Path(folder)):
                row = f"| {name} | {check.count} | {len(check.problems)} | {check.greatest_difference:.1e} |"
                print(row, flush=True)
                problems += [f"{name}: {problem}" for problem in check.problems]
    sys.exit("\n".join(problems) if problems else 0)


if __name__ == "__main__":
    main()
