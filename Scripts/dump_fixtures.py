"""Dumps what Python computes at every stage, for the Swift engine to be held against: see ParityFixtures/README.md.

Without --model only the stages and the metadata are dumped; with it, logits too and, of a model, activations and
activation maps.
"""

import argparse
import hashlib
import json
import platform
import shutil
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import PIL
import torch
from PIL import features

from ensemble import identity, is_ensemble, load_ensemble
from fixture_images import fixture_files, refused_files
from metadata import encode_metadata
from model import mean_logits
from model_config import SITES, default_preprocessing
from model_folder import load_feature_space, load_folder
from network_fixtures import floats, judge, predict, record_activations, record_maps, sampled
from preprocessing import preprocess

INTEGER_STAGES = ["decoded", "cropped", "resized", "constancy"]

# Images whose whole arrays are kept, so that the first differing value can be shown, not only its row.
WHOLE_ARRAYS = {"phantom_nevus.jpg": ["resized", "constancy"], "jpeg_420.jpg": ["decoded", "resized"],
                "png_rgb16.png": ["decoded"], "tall_40x700.png": ["resized", "constancy"]}  # fmt: skip

# Images shown to other preprocessing than the model's: (rounding, p, size).
VARIANT_IMAGES = ["phantom_melanoma.jpg", "gradient.png"]
VARIANTS = [("truncate", 6, 380), ("none", 6, 380), ("round", 1, 224), ("round", 6, 260)]

VIEWED_IMAGES = ["phantom_nevus.jpg", "odd_457x383.jpg", "noise.png"]
ACTIVATION_IMAGES = ["phantom_nevus.jpg", "phantom_melanoma.jpg", "noise.png"]

METADATA_CASES = [
    (55, "male", "back"), (0, "female", "face"), (1, "female", "scalp"), (35.5, "male", "chest"),
    (100, "female", "lower extremity"), (101, "male", "ear"), (130, "female", "neck"), (85, "male", "upper extremity"),
    (None, None, None), (None, "male", "abdomen"), (60, None, "hand"), (45, "female", None), (None, None, "foot"),
    (70, None, None), (None, "female", None), (50, "unknown", "unknown"), (20, "male", "genital"),
    (65, "female", "acral"), (75, "male", "trunk"), (33, "female", "unknown"), (-3, "male", "back"),
    (131, "male", "back"), (400, "female", "face"), (50, "other", "back"), (50, "male", "elbow"),
]  # fmt: skip


def row_checksums(image):
    """CRC-32 of each row's bytes, uint32 [H]."""
    return np.array([zlib.crc32(row.tobytes()) for row in image], dtype="<u4")


class Dump:
    """Collects the manifest and writes the files beside it."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.checksums = []
        self.checksum_count = 0

    def image(self, name, contents, preprocessing):
        """Writes one picture and describes its stages. Returns (manifest entry, arrays by stage)."""
        path = self.folder / "images" / name
        path.write_bytes(contents)
        stages, warnings = preprocess(path, preprocessing)
        entry = {"file": f"images/{name}", "warnings": warnings, "stages": []}
        for stage in INTEGER_STAGES:
            array = stages[stage]
            checksums = row_checksums(array)
            described = {
                "name": stage,
                "shape": list(array.shape),
                "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
                "rowChecksumOffset": self.checksum_count,
                "array": None,
            }
            self.checksums.append(checksums)
            self.checksum_count += len(checksums)
            if stage in WHOLE_ARRAYS.get(name, []):
                described["array"] = f"arrays/{path.stem}.{stage}.npy"
                np.save(self.folder / described["array"], array)
            entry["stages"].append(described)
        entry["normalized"] = sampled(stages["normalized"])
        return entry, stages

    def write_checksums(self):
        np.save(self.folder / "row_checksums.npy", np.concatenate(self.checksums))


def describe_variant(folder, name, rounding, p, size):
    """The constancy stage of a picture under another preprocessing than the model's."""
    preprocessing = default_preprocessing(size)
    preprocessing["color_constancy"] |= {"rounding": rounding, "p": p}
    stages, _ = preprocess(folder / "images" / name, preprocessing)
    integers = stages["constancy"].dtype == np.uint8
    return {
        "file": f"images/{name}",
        "preprocessing": preprocessing,
        "constancySHA256": hashlib.sha256(stages["constancy"].tobytes()).hexdigest() if integers else None,
        "normalized": sampled(stages["normalized"]),
    }


def describe_metadata(age, sex, site):
    case = {"age": age, "sex": sex, "site": site, "vector": None, "missing": None, "error": None}
    try:
        vector, missing = encode_metadata(age, sex, site)
    except ValueError as error:
        return case | {"error": str(error)}
    return case | {"vector": floats(vector), "missing": missing}


def spread_metadata(index):
    """Two patients for the picture of this index: one with something missing, one without."""
    sites = [site for site in SITES if site != "unknown"]
    known = (5 * (index % 21), "female" if index % 2 else "male", sites[index % len(sites)])
    hidden = [(None, None, None), (None, known[1], known[2]), (known[0], None, known[2]), (known[0], known[1], None)]
    return [known, hidden[index % 4]]


def versions():
    return {
        "python": platform.python_version(),
        "pillow": PIL.__version__,
        "libjpeg": f"libjpeg-turbo {features.version_feature('libjpeg_turbo')}",
        "numpy": np.__version__,
        "torch": torch.__version__,
    }


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent.parent / "ParityFixtures")
    parser.add_argument("--model", type=Path, help="a model folder, Weights/ say, or an ensemble's")
    return parser.parse_args()


def main():
    options = parse_options()
    folder = options.output
    preprocessing, model_entry, model, logits_of, space = default_preprocessing(), None, None, None, None
    if options.model:
        if is_ensemble(options.model):
            config, ensemble = load_ensemble(options.model)
            logits_of = ensemble.mean_logits
        else:
            config, model = load_folder(options.model)
            logits_of = partial(mean_logits, model)
            space = load_feature_space(options.model) if "abstention" in config else None
        preprocessing = config["preprocessing"]
        model_entry = {"name": config["name"], "version": config["version"], "sha256": identity(options.model)}

    for name in ("images", "arrays"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    dump = Dump(folder)
    manifest = {"formatVersion": 1, "versions": versions(), "model": model_entry, "preprocessing": preprocessing}
    lists = ["images", "refused", "variants", "metadata", "predictions", "activations", "maps"]
    manifest |= {name: [] for name in lists}
    for index, (name, contents) in enumerate(fixture_files()):
        entry, stages = dump.image(name, contents, preprocessing)
        normalized = stages["normalized"]
        manifest["images"].append(entry)
        if logits_of is None:
            continue
        for age, sex, site in spread_metadata(index):
            vector, _ = encode_metadata(age, sex, site)
            pair = {"file": entry["file"], "age": age, "sex": sex, "site": site, "vector": floats(vector)}
            prediction = pair | predict(config, logits_of, normalized, vector)
            if space is not None:
                judged = judge(config, model, space, stages, entry["warnings"], prediction["probabilities"])
                prediction["abstention"] = judged
            manifest["predictions"].append(prediction)
        if name in VIEWED_IMAGES:
            seen = predict(config, logits_of, normalized, vector, views=8)
            manifest["predictions"].append(pair | {"views": 8} | seen)
        if model is not None and name in ACTIVATION_IMAGES:
            blocks = record_activations(model, normalized)
            manifest["activations"].append({"file": entry["file"], "blocks": blocks})
            manifest["maps"].append(pair | record_maps(model, normalized, vector))
    for name, contents, rule in refused_files():
        (folder / "images" / name).write_bytes(contents)
        manifest["refused"].append({"file": f"images/{name}", "rule": rule})
    for name in VARIANT_IMAGES:
        manifest["variants"] += [describe_variant(folder, name, *variant) for variant in VARIANTS]
    manifest["metadata"] = [describe_metadata(*case) for case in METADATA_CASES]
    dump.write_checksums()
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1, allow_nan=False) + "\n")
    counts = {name: len(value) for name, value in manifest.items() if isinstance(value, list)}
    print(f"{folder}: {counts}, {sum(p.stat().st_size for p in folder.rglob('*')) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
