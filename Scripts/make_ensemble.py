"""Makes an ensemble's folder from model folders: their probabilities are averaged by weight (see ensemble.py).

    make_ensemble.py --member first=MODELS/first --member second=MODELS/second:2 --output Ensemble

A member is NAME=FOLDER or NAME=FOLDER:WEIGHT; the model is copied to NAME below the ensemble's folder, with the list of
what it was trained on.
"""

import argparse
import json
import math
import shutil
import sys
from pathlib import Path

from ensemble import MODEL_FILES, WEIGHTS, identity
from model_config import write_config

TRAINING_LIST = Path("training") / "split.csv"


def member(text):
    """(name, folder, weight) of a member as the command line gives it."""
    name, _, rest = text.partition("=")
    folder, colon, weight = rest.rpartition(":")
    if not colon:
        folder, weight = rest, "1"
    try:
        value = float(weight)
    except ValueError:
        value = math.nan
    if name in ("", ".", "..") or "/" in name or not folder or not WEIGHTS[0] <= value <= WEIGHTS[1]:
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be NAME=FOLDER or NAME=FOLDER:WEIGHT, the name without '/', "
            f"the weight in {WEIGHTS[0]:g}...{WEIGHTS[1]:g}"
        )
    return name, Path(folder), value


def make_ensemble(folder, members, name, version="1.0.0", temperature=1.0):
    """Writes the folder. Raises ValueError, naming the member, when one is no model or differs from the first."""
    first, names = None, set()
    for member_name, source, _ in members:
        if member_name in names:
            raise ValueError(f"{member_name}: two members have this name")
        names.add(member_name)
        for file in MODEL_FILES:
            if not (source / file).is_file():
                raise ValueError(f"{source}: the model folder lacks {file}")
        config = json.loads((source / "config.json").read_text())
        first = first or config
        for key in ("classes", "preprocessing"):
            if config[key] != first[key]:
                raise ValueError(f"{source}/config.json: {key} must be that of the first member")
    for member_name, source, _ in members:
        for file in (*MODEL_FILES, TRAINING_LIST):
            if (source / file).is_file():
                target = folder / member_name / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / file, target)
    config = {
        "format_version": 1,
        "name": name,
        "version": version,
        "temperature": temperature,
        "members": [{"folder": member_name, "weight": weight} for member_name, _, weight in members],
        "training": {},
    }
    write_config(folder, config)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--member", type=member, action="append", required=True, metavar="NAME=FOLDER[:WEIGHT]")
    parser.add_argument("--name", default="ensemble")
    parser.add_argument("--version", default="1.0.0")
    parser.add_argument("--temperature", type=float, default=1.0, help="of the vote, after those of the members")
    parser.add_argument("--output", type=Path, required=True)
    return parser.parse_args()


def main():
    options = parse_options()
    try:
        make_ensemble(options.output, options.member, options.name, options.version, options.temperature)
    except ValueError as error:
        sys.exit(f"Error: {error}")
    print(f"{options.output}: sha256 {identity(options.output)}")


if __name__ == "__main__":
    main()
