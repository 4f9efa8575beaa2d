"""Makes a model folder whose weights are the mean of those of several.

Runs from the same weights often lie in one basin, whose middle is better than each (Wortsman et al., "Model soups",
2022). The models must agree in architecture, classes, preprocessing and temperature; what some of them are fitted to
abstain by is left out. Measure the result: the mean of runs that lie apart is of no use.
"""

import sys
from pathlib import Path

from dermafusion_training.model.export import export
from dermafusion_training.model.folder import load_folder
from dermafusion_training.options import fit_text, new_parser

VARYING = ("name", "version", "training", "abstention")  # keys of config.json in which the models may differ


def average(folders, output, name, version):
    """Writes the mean of the folders' weights; returns its identity. Raises ValueError where two do not go together."""
    models = [load_folder(folder) for folder in folders]
    configs = [{key: value for key, value in config.items() if key not in VARYING} for config, _ in models]
    for folder, config in zip(folders, configs, strict=True):
        for key in sorted(config.keys() | configs[0].keys()):
            if config.get(key) != configs[0].get(key):
                raise ValueError(f"{folder}: {key} is not that of {folders[0]}")
    states = [model.state_dict() for _, model in models]
    mean = {
        key: sum(state[key].double() for state in states) / len(states)
        for key in states[0]
        if not key.endswith("num_batches_tracked")
    }
    config = models[0][0] | {"name": name, "version": version, "training": {}}
    config.pop("abstention", None)
    return export(mean, config, output)


def main():
    parser = new_parser(__doc__)
    parser.add_argument("models", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--name", type=fit_text, default="average")
    parser.add_argument("--version", type=fit_text, default="1.0.0")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    if (options.output / "config.json").exists():
        parser.error(f"{options.output}: holds a model already")
    try:
        identity = average(options.models, options.output, options.name, options.version)
    except ValueError as error:
        sys.exit(f"Error: {error}")
    print(f"{options.output}: sha256 {identity}")
