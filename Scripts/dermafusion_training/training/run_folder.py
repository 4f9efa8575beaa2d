"""The files of a training run's folder, and the checks before it goes on from there or from earlier weights."""

import csv
import json
import sys
from pathlib import Path

import torch

from dermafusion_training.data.dataset import side_names
from dermafusion_training.model.folder import model_identity


def keep_split(path, text, checkpoint_path):
    """Writes the data list; ends the program where a checkpoint was trained by another one, of other photographs."""
    if checkpoint_path.exists() and (not path.exists() or path.read_text() != text):
        sys.exit(f"{checkpoint_path}: trained on another split than that of the options and the data; empty its folder")
    path.write_text(text)


def check_initial_split(initial, split_path):
    """Ends the program where the weights to start from, or a teacher's, were trained on what this run keeps aside."""
    lists = (initial / "training" / "split.csv", initial.parent / "split.csv")
    known = next((path for path in lists if path.exists()), None)
    if known is None:
        print(f"note: {initial} has no data list; it must not know what this run keeps aside", file=sys.stderr)
        return
    for column, noun in (("image_id", "photographs"), ("lesion_id", "lesions")):
        aside = side_names(split_path, "validation", column) | side_names(split_path, "fold", column)
        seen = side_names(known, "training", column) & aside
        if seen:
            sys.exit(f"{initial}: trained on {len(seen)} {noun} that this run keeps aside ({known})")


def check_schedule(path, curves, epochs, may_change):
    """Ends the program where a checkpoint's epochs are not the first of the schedule, unless that is on purpose."""
    done = [(epoch["size"], epoch["images"]) for epoch in curves]
    if done != epochs[: len(done)] and not may_change:
        shown = ",".join(f"{size}x{images}" for size, images in done)
        sys.exit(f"{path}: its epochs {shown} are not the first of --epochs; empty the folder or use --change-schedule")


def write_recipe(path, options, first_epoch):
    """Adds to the list of runs: from which epoch on which options held."""
    runs = json.loads(path.read_text()) if path.exists() else []
    values = {name: value for name, value in vars(options).items() if not isinstance(value, Path)}
    if options.initial is not None:
        values["initial"] = model_identity(options.initial)
    if options.teachers is not None:
        values["teachers"] = [model_identity(folder) for folder in options.teachers]
    else:
        values = {name: value for name, value in values.items() if name not in ("teachers", "votes", "teacher_share")}
    path.write_text(json.dumps([*runs, {"first_epoch": first_epoch, **values}], indent=1) + "\n")


def write_curves(path, curves):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(curves[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(curves)


def save(path, value):
    """Writes beside and renames, so that an interruption leaves the old file whole."""
    torch.save(value, path.with_suffix(".unfinished"))
    path.with_suffix(".unfinished").rename(path)


def joined_recipe(folders):
    entries = []
    for run, folder in enumerate(folders, 1):
        entries += [entry | {"run": run} for entry in json.loads((folder / "recipe.json").read_text())]
    return entries


def joined_curves(folders):
    epochs = []
    for run, folder in enumerate(folders, 1):
        with open(folder / "curves.csv", newline="") as file:
            epochs += [{"run": run, **epoch} for epoch in csv.DictReader(file)]
    return epochs


def join_runs(folders, output):
    """Writes the runs' recipes, curves and data list into one folder. Raises ValueError where their splits differ."""
    splits = [(folder / "split.csv").read_bytes() for folder in folders]
    if any(split != splits[-1] for split in splits):
        raise ValueError("the runs' split.csv differ: a later run saw lesions that an earlier one kept aside")
    output.mkdir(parents=True, exist_ok=True)
    (output / "recipe.json").write_text(json.dumps(joined_recipe(folders), indent=1) + "\n")
    write_curves(output / "curves.csv", joined_curves(folders))
    (output / "split.csv").write_bytes(splits[-1])
