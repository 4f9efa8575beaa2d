"""The classes of a model: the `classes` list of config.json and the option --classes.

An entry is a string, the class's id, or an object {"class": id, "name": name, "malignancy": malignancy}. An id alone is
its own name. `malignancy` is one of MALIGNANCIES and stands in all entries or in none; without it a model has no risk.
"""

import json
from pathlib import Path

from dermafusion_training.model.config import CLASSES, fault_of

NAMES = {
    "akiec": "Actinic keratoses",
    "bcc": "Basal cell carcinoma",
    "bkl": "Benign keratosis-like lesions",
    "df": "Dermatofibroma",
    "mel": "Melanoma",
    "nv": "Melanocytic nevi",
    "vasc": "Vascular lesions",
}
MALIGNANCIES = ("malignant", "pre-malignant", "benign")
KNOWN_MALIGNANCIES = dict.fromkeys(CLASSES, "benign") | {
    "mel": "malignant",
    "bcc": "malignant",
    "akiec": "pre-malignant",
}
COUNT = (2, 1000)  # least and greatest
OTHER = "other"  # any class but that of a network with one output


class ClassesError(ValueError):
    """Classes that no model can have; the message is one line that names the value and the rule."""


def entry_of(item, place):
    """An item of the list as an entry. Raises ClassesError, which names its place."""
    if isinstance(item, str):
        item = {"class": item}
    if not isinstance(item, dict):
        raise ClassesError(f"{place} {json.dumps(item)}: must be a string or an object with the key class")
    for key in item:
        if key not in ("class", "name", "malignancy"):
            raise ClassesError(f"{place}: key {key!r}: must be one of class, name, malignancy")
    if "class" not in item:
        raise ClassesError(f"{place}: the key class is missing")
    entry = {"class": item["class"], "name": item.get("name", item["class"])}
    for key, value in entry.items():
        fault = fault_of(value) if isinstance(value, str) else "must be a string that is not empty"
        if fault:
            raise ClassesError(f"{place}: {key} {json.dumps(value)}: {fault}")
    if "malignancy" in item:
        if item["malignancy"] not in MALIGNANCIES:
            raise ClassesError(
                f"{place}: malignancy {json.dumps(item['malignancy'])}: must be one of {', '.join(MALIGNANCIES)}"
            )
        entry["malignancy"] = item["malignancy"]
    return entry


def named_and_other(item, source):
    """The class whose probability is the sigmoid of a network's one output, and any other.

    `other` counts as benign beside a class that is not, as in Labels.swift.
    """
    named = entry_of(item, f"{source}: class 1")
    word = named["class"].lower()
    if word == OTHER:
        raise ClassesError(f"{source}: {OTHER!r} is the other class: name the one that the output's sigmoid is of")
    known = WORDS.get(word) or next((id for id in CLASSES if word in (id, NAMES[id].lower())), None)
    if known and named["name"] == named["class"]:
        named["name"] = NAMES[known]
    malignancy = named.pop("malignancy", None) or KNOWN_MALIGNANCIES.get(known) or word
    if malignancy not in ("malignant", "pre-malignant"):
        return [named, {"class": OTHER, "name": OTHER}]
    return [named | {"malignancy": malignancy}, {"class": OTHER, "name": OTHER, "malignancy": "benign"}]


def entries_of(items, source):
    """The `classes` list of config.json from strings and objects, checked; `source` begins every message."""
    if not isinstance(items, list):
        raise ClassesError(f"{source}: must be a list of classes, {{'classes': a list}} or {{id: name}}")
    if len(items) == 1:
        items = named_and_other(items[0], source)
    if not COUNT[0] <= len(items) <= COUNT[1]:
        raise ClassesError(f"{source}: {len(items)} classes: must be {COUNT[0]} to {COUNT[1]}")
    if set(CLASSES) == {item for item in items if isinstance(item, str)} and len(items) == len(CLASSES):
        return [{"class": item, "name": NAMES[item], "malignancy": KNOWN_MALIGNANCIES[item]} for item in items]
    entries = [entry_of(item, f"{source}: class {number}") for number, item in enumerate(items, 1)]
    ids = [entry["class"] for entry in entries]
    for name in ids:
        if ids.count(name) > 1:
            raise ClassesError(f"{source}: class {name!r} occurs {ids.count(name)} times: must be unique")
    without = [entry["class"] for entry in entries if "malignancy" not in entry]
    if 0 < len(without) < len(entries):
        raise ClassesError(f"{source}: class {without[0]!r} has no malignancy: it stands in all classes or in none")
    if all(isinstance(item, str) for item in items):
        return ids
    return entries


def without_duplicates(pairs):
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ClassesError(f"key {key!r} occurs {keys.count(key)} times: must be unique")
    return dict(pairs)


def read_classes(text):
    """The classes that --classes names: ids with commas between them, or a .json file."""
    if not text.endswith(".json"):
        return entries_of([item.strip() for item in text.split(",")], "--classes")
    try:
        value = json.loads(Path(text).read_text(), object_pairs_hook=without_duplicates)
    except FileNotFoundError:
        raise ClassesError(f"{text}: no such file") from None
    except OSError as error:
        raise ClassesError(f"{text}: {error.strerror}") from None
    except ClassesError as error:
        raise ClassesError(f"{text}: {error}") from None
    except ValueError as error:
        raise ClassesError(f"{text}: not JSON: {error}") from None
    if isinstance(value, dict):
        if isinstance(value.get("classes"), list):
            value = value["classes"]
        else:
            value = [{"class": name, "name": shown} for name, shown in value.items()]
    return entries_of(value, text)


# The archive's words for the seven, in lower case.
WORDS = {
    "nevus": "nv", "actinic keratosis": "akiec", "ak": "akiec", "pigmented benign keratosis": "bkl",
    "seborrheic keratosis": "bkl", "vascular lesion": "vasc",
}  # fmt: skip


def known_classes(names):
    """The classes for the names that timm's config.json has: the seven where they are those in any of their words."""
    words = {name.lower(): name for name in CLASSES} | {NAMES[name].lower(): name for name in CLASSES} | WORDS
    ids = [words.get(str(name).lower()) for name in names]
    return entries_of(ids if set(ids) == set(CLASSES) and len(ids) == len(CLASSES) else list(names), "label_names")


def choose_classes(text, count, outputs=None):
    """The classes for --classes and --num-classes, either of which may be None; `outputs` has the last layer."""
    if text is None:
        source = f"the last layer has {outputs} output{'s' * (outputs != 1)}"
        source = f"--num-classes {count}" if count is not None else source
        count = outputs if count is None else count
        if count is None:
            raise ClassesError("--classes is needed: no last layer is found that says how many there are")
        if count == 1:
            raise ClassesError(f"{source}: name the class that its sigmoid is the probability of by --classes")
        if count != len(CLASSES):
            raise ClassesError(
                f"{source}: say which they are by --classes; only the {len(CLASSES)} classes "
                f"{','.join(CLASSES)} are known without"
            )
        return entries_of(list(CLASSES), source)
    classes = read_classes(text)
    if outputs == 1 and count == 1:
        count = len(classes)
    if count is not None and count != len(classes):
        raise ClassesError(f"--classes {text}: {len(classes)} classes: --num-classes is {count}")
    return classes
