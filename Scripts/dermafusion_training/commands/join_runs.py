"""Joins the recipes and curves of the training runs that a model comes from, as its folder has them.

Writes into --output recipe.json, whose entries have a key `run`, curves.csv with a column `run`, both counted from 1,
and the runs' split.csv.
"""

from pathlib import Path

from dermafusion_training.options import new_parser
from dermafusion_training.training.run_folder import join_runs


def main():
    parser = new_parser(__doc__)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folders that `train` wrote, in order")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    try:
        join_runs(options.runs, options.output)
    except ValueError as error:
        parser.error(str(error))
