"""Tables of patients, which the library reads by the rules of `dermafusion classify --metadata`."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _input
from ._engine import answer
from .errors import ArgumentError, MetadataError

_LIMIT = 64 << 20
_REMEDY = "Give a path, a DataFrame or a dict of columns, one of them with the images' names."

#: The metadata of an image: keyword arguments of `Classifier.classify`, why it is not known, or None without a row.
Known = dict[str, Any] | MetadataError | None


def is_table(metadata: object) -> bool:
    """True for a whole table, whose rows name their images; false for a mapping for each image."""
    return isinstance(metadata, (str, os.PathLike, Mapping)) or _is_frame(metadata)


def is_series(value: object) -> bool:
    """True for a pandas Series, which has names for its values and is no Mapping."""
    return hasattr(value, "to_dict") and hasattr(value, "index") and not hasattr(value, "columns")


def of_series(series: Any) -> Any:
    """The meaning of a Series as metadata: rows of several images, the row of one, or a column of a table."""
    if any(value is None or isinstance(value, Mapping) or is_series(value) for value in series):
        return list(series)
    if patient_columns(str(name) for name in series.index):
        return [dict(series.items())]
    return series.to_frame()


def read(table: Any, images: Sequence[object]) -> list[Known]:
    """The metadata of images in a table; a person is warned of what they should know of it."""
    if isinstance(table, (str, os.PathLike)):
        name = os.fsdecode(table)
        content = _file(name)
    else:
        header, columns = _frame(table) if _is_frame(table) else _columns(table)
        name, content = "the metadata as a table", _text(header, columns)
    found = _ask(name, content, [_name(image) for image in images])
    for note in found["notes"]:
        warnings.warn(note, stacklevel=4)
    return [_known(entry) for entry in found["images"]]


def row(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    """The metadata in a mapping of one image that has a table's names and words."""
    # The row is that of the image that it is given for.
    header, cells = ["image_id", *(str(key) for key in mapping)], [["0"], *([value] for value in mapping.values())]
    asked = _ask("the metadata", _text(header, cells), ["0"])
    if asked["unused"]:
        raise ArgumentError(
            f"the metadata has a key {asked['unused'][0]!r}",
            "Give age, sex and site, as tables name them; a table that names its images as a DataFrame.",
        )
    if asked["missing"]:
        # A mapping says what is known, so what it lacks is nothing to warn of.
        lacking = asked["missing"]
        asked = _ask("the metadata", _text([*header, *lacking], [*cells, *([None] for _ in lacking)]), ["0"])
    found = _known(asked["images"][0])
    if isinstance(found, MetadataError):
        # A mapping has no lines.
        raise MetadataError(str(found).replace(": line 2: ", ": ", 1), found.remedy)
    for note in asked["notes"]:
        warnings.warn(note, stacklevel=2)
    return found or {}


def patient_columns(names: Iterable[str]) -> list[str]:
    """Those of a table's columns that say something of the patient."""
    header = ["image_id", *(name for name in names if name != "image_id")]
    unused = _ask("the metadata", _text(header, [[]] * len(header)), [])["unused"]
    return [name for name in header[1:] if name not in unused]


def _ask(name: str, content: bytes, images: list[str]) -> dict[str, Any]:
    request = json.dumps({"name": _input.readable(name), "images": images}).encode()
    found: dict[str, Any] = answer("read_table", content, len(content), request)
    return found


def _known(entry: dict[str, Any] | None) -> Known:
    if entry is None or "error" not in entry:
        return entry
    error = entry["error"]
    return MetadataError(error["message"], error["remedy"])


def _name(image: object) -> str:
    """The image's path; nothing where it has none, or one that no text can hold: it would be another one's."""
    name = _input.name_of(image)
    return name if name == _input.readable(name) else ""


def _file(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return file.read(_LIMIT + 1)
    except (OSError, ValueError) as error:
        raise MetadataError(f"{name}: {getattr(error, 'strerror', None) or error}", "Name a table in CSV.") from None


def _is_frame(table: object) -> bool:
    return hasattr(table, "columns") and hasattr(table, "to_dict")


def _frame(frame: Any) -> tuple[list[str], list[list[Any]]]:
    """The columns of a DataFrame, and those of its index that have a name."""
    named = [name for name in getattr(getattr(frame, "index", None), "names", ()) if name is not None]
    if named:
        doubled = [name for name in named if name in list(frame.columns)]
        if doubled:
            raise ArgumentError(f"the metadata has {doubled[0]!r} as index and as column", "Name it once.")
        frame = frame.reset_index()
    header = list(frame.columns)
    # Columns of one name are not one column of a frame; the library refuses them where they matter.
    columns = [list(frame[name]) if header.count(name) == 1 else [""] * len(frame) for name in header]
    return [str(name) for name in header], columns


def _columns(table: Mapping[Any, Any]) -> tuple[list[str], list[list[Any]]]:
    columns = []
    for name, values in table.items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise ArgumentError(f"the metadata's column {name!r} is no list", _REMEDY)
        columns.append(list(values))
    counts = {len(column) for column in columns}
    if len(counts) > 1:
        raise ArgumentError(f"the metadata's columns have {' and '.join(map(str, sorted(counts)))} values", _REMEDY)
    return [str(name) for name in table], columns


def _text(header: Sequence[str], columns: Sequence[Sequence[Any]]) -> bytes:
    """As CSV. Every cell is quoted: no blank, comma or line break of a value means anything else."""
    rows = [header, *zip(*columns, strict=True)]
    return "".join(",".join(_cell(value) for value in row) + "\n" for row in rows).encode("utf-8", "replace")


def _cell(value: object) -> str:
    if _input.is_missing(value):
        return '""'
    if isinstance(value, (bytes, bytearray)):
        raise ArgumentError(f"the metadata has bytes, {value!r}", "Give texts and numbers.")
    text = str(value).replace('"', '""')
    return f'"{text}"'
