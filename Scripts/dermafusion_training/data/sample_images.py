"""Photographs of a folder, chosen by chance, as a network sees them: what ranges of activations are taken from."""

import csv
import random

import numpy as np
import torch

from dermafusion_training.data.preprocessing import normalize, preprocess

SUFFIXES = {".jpg", ".jpeg", ".png", ".ppm"}
BATCH = 8


def choose_images(folder, split, count, seed):
    """Paths of `count` photographs below a folder, fewer where there are fewer; with `split`, a table with the columns
    image_id and split, only those on its side "training"."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    if split is not None:
        with open(split, newline="") as file:
            trained = {row["image_id"] for row in csv.DictReader(file) if row["split"] == "training"}
        paths = [path for path in paths if path.stem in trained]
    if not paths:
        raise ValueError(f"{folder}: no photographs ({', '.join(sorted(SUFFIXES))}) that may be taken")
    random.Random(seed).shuffle(paths)
    return paths[:count]


def image_batches(config, paths, size=BATCH):
    """Batches float32 [N, 3, S, S] of the images at `paths`."""
    for start in range(0, len(paths), size):
        stages = [preprocess(path, config["preprocessing"])[0] for path in paths[start : start + size]]
        yield torch.from_numpy(np.stack([normalize(stage["constancy"], config["preprocessing"]) for stage in stages]))
