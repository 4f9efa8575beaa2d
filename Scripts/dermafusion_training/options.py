"""Options that several commands share."""

import argparse
import json
from pathlib import Path

from dermafusion_training.model.config import fault_of


def new_parser(description):
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def fit_text(text):
    """The type of an option whose text goes into config.json."""
    if fault := fault_of(text):
        raise argparse.ArgumentTypeError(f"{json.dumps(text)}: {fault}")
    return text


def add_data_options(parser, split=True):
    """The options of a command that runs a model on the photographs of the training data."""
    parser.add_argument("--data", type=Path, required=True, help="folder of photographs, with metadata.csv")
    parser.add_argument("--cache", type=Path, required=True, help="folder for the preprocessed photographs")
    if split:
        parser.add_argument("--split", type=Path, required=True, help="split.csv of the training run")
    parser.add_argument("--threads", type=int, default=2)


def new_validation_parser(description):
    """The options of a command that evaluates a model folder on its validation photographs and may write into it."""
    parser = new_parser(description)
    parser.add_argument("--model", type=Path, required=True)
    add_data_options(parser)
    parser.add_argument("--write", action="store_true", help="write the results into the model folder")
    return parser
