"""Photographs for training: their records, the split by lesion, and the cache of preprocessed photographs."""

import csv
import hashlib
import io
import json
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from dermafusion_training.data.metadata import encode_row
from dermafusion_training.data.preprocessing import preprocess
from dermafusion_training.model.config import CLASSES

# From the best copy of a photograph to the worst: its own pixels, rebuilt chroma, its centre shrunk, all of it shrunk.
FOLDERS = ["full600x450", "fused600x450", "crop224", "low200x150"]
ORIGINALS = FOLDERS[0]
HAM10000 = "ham10000"  # the source of photographs whose table names none
SMALL_SOURCE = "bcn84"  # its photographs have 84 pixels a side
TWINS = Path(__file__).with_name("twin_lesions.csv")


@dataclass(frozen=True)
class Record:
    """One photograph: where its best copy is, what it shows and what is known of the patient."""

    image_id: str
    lesion_id: str
    folder: str
    label: int
    metadata: np.ndarray  # float32 [4], see data/metadata.py
    source: str = HAM10000

    def path(self, data):
        return Path(data) / self.folder / f"{self.image_id}.jpg"


def read_records(data):
    """Reads metadata.csv under the folder `data`, in its order, each photograph once.

    Where the table has a column `source`, a photograph lies in the folder of its source's name. Otherwise the table is
    HAM10000's, and the best copy in FOLDERS is taken. A photograph that shows a lesion of another source again, as its
    column `same_lesion` says, has that lesion's name, so that both stay on one side.
    """
    data = Path(data)
    held = {folder: {path.stem for path in (data / folder).glob("*.jpg")} for folder in FOLDERS}
    records = []
    with open(data / "metadata.csv", newline="") as file:
        for row in csv.DictReader(file):
            source = row.get("source", HAM10000)
            copies = (folder for folder in FOLDERS if row["image_id"] in held[folder])
            folder = source if "source" in row else next(copies, None)
            if folder is None:
                raise FileNotFoundError(f"{row['image_id']}: in none of the folders of {data}")
            label = CLASSES.index(row["dx"])
            lesion = row.get("same_lesion") or row["lesion_id"]
            records.append(Record(row["image_id"], lesion, folder, label, encode_row(row), source))
    return records


def read_twins(path=TWINS):
    """Pairs of lesion_ids that HAM10000 gives to one lesion, as far as somebody looked."""
    with open(path, newline="") as file:
        return [(row["lesion_id"], row["other_lesion_id"]) for row in csv.DictReader(file)]


def read_copies(path, records):
    """Groups of lesion_ids whose photographs are near copies, from the table of `duplicates --format csv` over them."""
    lesions = {(record.folder, record.image_id): record.lesion_id for record in records}
    groups = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            image = Path(row["image"])
            if lesion := lesions.get((image.parent.name, image.stem)):
                groups.setdefault(row["group"], set()).add(lesion)
    return [group for group in groups.values() if len(group) > 1]


def split_by_lesion(records, fraction, seed, fold=None, twins=(), listed=None):
    """Deals each class's lesions out; the photographs of a lesion stay together.

    Lesions in `listed`, a side for each lesion_id, stay on their side, and only the others are dealt.

    Returns indices into `records` by side: "training", "validation" (`fraction` of the lesions, the same ones with and
    without a fold), for `fold` (number from 0, of how many) "fold": one even part of the lesions that would
    otherwise be trained on, and "duplicate": what would be kept aside, but is trained on under another name in
    `twins`, groups of lesion_ids.
    """
    lesions, listed = {}, listed or {}
    for record in records:
        lesions.setdefault(record.label, set()).add(record.lesion_id)
    side_of = {}
    for label in sorted(lesions):
        ordered = sorted(lesions[label])
        random.Random(f"{seed}-{label}").shuffle(ordered)
        dealt = [lesion for lesion in ordered if lesion not in listed]
        aside = round(fraction * len(dealt))
        side_of |= dict.fromkeys(dealt[:aside], "validation") | dict.fromkeys(dealt[aside:], "training")
        side_of |= {lesion: listed[lesion] for lesion in ordered if lesion in listed}
        if fold is not None:
            number, count = fold
            trained = [lesion for lesion in ordered if side_of[lesion] == "training"]
            side_of |= dict.fromkeys(trained[number::count], "fold")
    for group in twins:
        names = [name for name in group if name in side_of]
        if "training" in (side_of[name] for name in names):
            side_of |= {name: "duplicate" for name in names if side_of[name] != "training"}
    sides = {side: [] for side in dict.fromkeys(["training", "validation", *side_of.values()])}
    for index, record in enumerate(records):
        sides[side_of[record.lesion_id]].append(index)
    return sides


def split_list(records, split):
    """The data list, split.csv: every photograph with its lesion, class, copy used and side of the split."""
    sides = {index: side for side, indices in split.items() for index in indices}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["image_id", "lesion_id", "dx", "folder", "split"])
    for index, record in enumerate(records):
        writer.writerow([record.image_id, record.lesion_id, CLASSES[record.label], record.folder, sides[index]])
    return file.getvalue()


def listed_sides(path):
    """The side of each lesion_id in a data list, split.csv."""
    with open(path, newline="") as file:
        return {row["lesion_id"]: row["split"] for row in csv.DictReader(file)}


def side_names(path, side, column="image_id"):
    """The image_ids, or the lesion_ids, on one side of a data list, split.csv."""
    with open(path, newline="") as file:
        return {row[column] for row in csv.DictReader(file) if row["split"] == side}


def side_indices(records, path, side="validation"):
    """Indices of the records on one side of a data list."""
    kept = side_names(path, side)
    return [i for i, record in enumerate(records) if record.image_id in kept]


def preprocessed(path, preprocessing):
    """The photograph after colour constancy, uint8 [size, size, 3]."""
    return preprocess(path, preprocessing)[0]["constancy"]


def cache_name(records, preprocessing):
    """The name of the file for these photographs, in this order, and for what is done to them."""
    key = [
        preprocessing["size"],
        preprocessing["color_constancy"],
        [[record.image_id, record.folder] for record in records],
    ]
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    return f"constancy{preprocessing['size']}-{digest[:12]}.npy"


def open_cache(records, data, preprocessing, folder, workers=2):
    """Every photograph after colour constancy, uint8 [N, size, size, 3] in the order of `records`, mapped from disk.

    Made at the first call for these records and this preprocessing (see cache_name); keep `folder` out of the
    repository, for it holds photographs.
    """
    size = preprocessing["size"]
    path = Path(folder) / cache_name(records, preprocessing)
    if not path.exists():
        print(f"preprocessing {len(records)} photographs into {path}", file=sys.stderr)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished.npy")
        shape = (len(records), size, size, 3)
        cache = np.lib.format.open_memmap(unfinished, mode="w+", dtype=np.uint8, shape=shape)
        paths = [record.path(data) for record in records]
        with ProcessPoolExecutor(workers) as pool:
            function = partial(preprocessed, preprocessing=preprocessing)
            for index, image in enumerate(pool.map(function, paths, chunksize=32)):
                cache[index] = image
        cache.flush()
        unfinished.rename(path)
    return np.load(path, mmap_mode="r")
