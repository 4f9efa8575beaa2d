"""One definition of the columns, types and error rows that Spark, Ray, Daft and `Classifications.to_arrow` share."""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from . import _input, _table
from .classifier import Classifier
from .errors import FAULTS, ArgumentError, DermaFusionError, ImageError
from .result import Classification, Heatmap

_EVERY = {"image_sha256": "string", "model_sha256": "string"}
#: The columns of each output, with their types as Spark writes them.
OUTPUTS = {
    "result": {
        "prediction": "string",
        "probability": "float",
        "risk": "string",
        "concern": "string",
        "urgent": "boolean",
        "confidence": "string",
        "abstain": "boolean",
        "probabilities": "map<string,float>",
        "summary": "string",
        "disclaimer": "string",
        "json": "string",
    },
    # As `dermafusion embed` writes them.
    "features": {"features": "array<float>"},
    # As `dermafusion gradcam --signed` writes them; a map is shown with the disclaimer, as a result is.
    "gradcam": {
        "map_class": "string",
        "map_status": "string",
        "map": "array<array<float>>",
        "disclaimer": "string",
    },
}
_CONTENT = ("content", "bytes")
PASSED = ("lesion_id", "patient_id")
#: Matches, in Python and in Java, a path that is not one of this machine's.
REMOTE = "^(?!(?i:file):/([^/]|$|//|/localhost/))[A-Za-z][A-Za-z0-9+.-]+:/"
_REMEDY = """Read the files as they are: spark.read.format("binaryFile").load(...), ray.data.read_binary_files(..., \
include_paths=True), daft.col("path").download(on_error="null")."""


class Plan:
    """The columns of a frame that are read and those that are made; checked here, before the first row."""

    def __init__(
        self, kinds: Mapping[str, str], outputs: Sequence[str] = ("result",), language: str | None = None
    ) -> None:
        """kinds: the frame's columns and their types: "string", "binary", "void" for nulls alone, or others."""
        self.language = language
        self.made = columns(outputs)
        self.outputs = list(outputs)
        contents = [name for name in _CONTENT if name in kinds]
        if len(contents) > 1:
            raise ArgumentError("the frame has both content and bytes", "Leave one of the columns out.")
        self.content = contents[0] if contents else None
        self.has_path = "path" in kinds
        if not contents and not self.has_path:
            pixels = {"image", "data"} & set(kinds)
            if pixels:
                raise ArgumentError(
                    f"the column {pixels.pop()} holds decoded pixels, which differ from those of the photograph's file",
                    _REMEDY,
                )
            raise ArgumentError(f"the frame has no column path, content or bytes; it has {', '.join(kinds)}", _REMEDY)
        for name, expected in [("path", "string"), *((name, "binary") for name in contents)]:
            if kinds.get(name, expected) not in (expected, "void"):
                raise ArgumentError(f"the column {name} is of type {kinds[name]}, not {expected}", _REMEDY)
        self.passed = [name for name in PASSED if name in kinds]
        self.patient = _patient(tuple(name for name in kinds if name not in ("path", *contents, *PASSED)))

    @property
    def read(self) -> list[str]:
        """The columns that are read."""
        known = ["path"] if self.has_path else []
        return [*known, *([self.content] if self.content else []), *self.passed, *self.patient]

    @property
    def kept(self) -> list[str]:
        """The columns that come out as they went in."""
        return [*(["path"] if self.has_path else []), *self.passed]

    def rows(self, model: str | None, frame: Mapping[str, Iterable[Any]]) -> Iterator[dict[str, Any]]:
        """The columns that are made of each row of a frame's.

        Raises what no row of the frame is to blame for; an image that fails is a row with its `error`.
        """
        classifier = opened(model)
        for cells in zip(*(frame[name] for name in self.read), strict=True):
            row = dict(zip(self.read, cells, strict=True))
            path = row.get("path")
            if path and not self.content and re.match(REMOTE, path):
                raise remote(path)
            try:
                yield values(self._classify(classifier, row, path))
            except FAULTS:
                raise
            except DermaFusionError as error:
                yield values(error)

    def _classify(self, classifier: Classifier, row: Mapping[str, Any], path: str | None) -> Classification | Heatmap:
        image = row[self.content] if self.content else path and local(path)
        if image is None:
            name = f"{path}: " if path else ""
            raise ImageError(f"{name}the column {self.content or 'path'} is null", "")
        known: dict[str, Any] = _table.row({name: row[name] for name in self.patient}) if self.patient else {}
        known |= {"name": path or "", "features": "features" in self.outputs, "language": self.language}
        return (classifier.heatmap if "gradcam" in self.outputs else classifier.classify)(image, **known)

    def table(self, model: str | None, frame: Any) -> Any:
        """A pyarrow Table of what is made of a pyarrow Table or RecordBatch, a row for each of its rows."""
        import pyarrow

        found = list(self.rows(model, {name: _cells(frame[name]) for name in self.read}))
        arrays = {name: frame[name].cast(arrow("string")) if name == "path" else frame[name] for name in self.kept}
        arrays |= {name: pyarrow.array([row.get(name) for row in found], arrow(self.made[name])) for name in self.made}
        return pyarrow.table(arrays)


def columns(outputs: Sequence[str]) -> dict[str, str]:
    """The columns that are made, with their types as Spark writes them."""
    wanted = [outputs] if isinstance(outputs, str) else list(outputs)
    unknown = [name for name in wanted if name not in OUTPUTS]
    if isinstance(outputs, str) or unknown or not wanted:
        raise ArgumentError(f"outputs is {outputs!r}", f"Give a list of some of {', '.join(OUTPUTS)}.")
    made = dict(_EVERY)
    for name in OUTPUTS:
        made |= OUTPUTS[name] if name in wanted else {}
    return {**made, "error": "string"}


def values(found: Classification | Heatmap | DermaFusionError) -> dict[str, Any]:
    """The columns of one image; those that it lacks are null."""
    if isinstance(found, DermaFusionError):
        return {"error": str(found)}
    result = found.classification if isinstance(found, Heatmap) else found
    made: dict[str, Any] = {"model_sha256": result.model["sha256"]}
    for name in ("image_sha256", *OUTPUTS["result"]):
        made[name] = getattr(result, name)
    made["probabilities"] = list(zip(result.classes, result.probabilities.tolist(), strict=True))
    made["features"] = result.features
    if isinstance(found, Heatmap):
        made |= {"map_class": found.label, "map_status": found.status, "map": found.signed_values.tolist()}
    return made


@functools.cache
def opened(model: str | None) -> Classifier:
    """One for each process and model, kept as long as the process; the other cores have processes of their own."""
    return Classifier(model, threads=1)


@functools.lru_cache
def _patient(names: tuple[str, ...]) -> list[str]:
    return _table.patient_columns(names)


def local(path: str) -> str:
    """The path of a file on this machine.

    Spark writes `file:///a%20b.jpg` in `input_file_name()`, `file:/a%20b.jpg` in `_metadata.file_path`, and in the
    `path` of `binaryFile` the name as it is, `file:/a b.jpg`. So `file:/` alone does not say which is meant, but the
    files that are there do.
    """
    if not path[:6].lower() == "file:/":
        return path
    is_uri = path[5:].startswith("//")
    plain = "/" + path[5:].removeprefix("//localhost").lstrip("/")
    decoded = os.fsdecode(unquote_to_bytes(os.fsencode(plain)))
    names = [name for name in dict.fromkeys((decoded, plain)) if os.path.lexists(name)]
    if len(names) > 1 and not is_uri:
        raise ImageError(f"{path}: both {decoded} and {plain} are there", "Give the files' content beside the path.")
    return names[0] if names else decoded


def remote(path: str) -> ArgumentError:
    return ArgumentError(f"{path}: only files of this machine are opened, and the frame has no column content", _REMEDY)


def arrow(kind: str) -> Any:
    """The pyarrow type of a type as Spark writes it."""
    import pyarrow

    if kind.startswith("array<"):
        return pyarrow.list_(arrow(kind[6:-1]))
    if kind.startswith("map<"):
        return pyarrow.map_(*map(arrow, kind[4:-1].split(",")))
    return {"string": pyarrow.string(), "float": pyarrow.float32(), "boolean": pyarrow.bool_()}[kind]


def kind(type_: Any) -> str:
    """The kind, for `Plan`, of a column of a pyarrow type."""
    import pyarrow.types as types

    if types.is_null(type_):
        return "void"
    if types.is_binary(type_) or types.is_large_binary(type_) or types.is_binary_view(type_):
        return "binary"
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return "string"
    return str(type_)


def _cells(column: Any) -> Iterator[Any]:
    """The values of a pyarrow column; bytes without a copy."""
    if kind(column.type) != "binary":
        return iter(column.to_pylist())
    return (memoryview(cell.as_buffer()) if cell.is_valid else None for cell in column)


def collected(results: Iterable[Classification | DermaFusionError], outputs: Sequence[str]) -> Any:
    """A pyarrow Table with a row for each result."""
    try:
        import pyarrow
    except ImportError as error:
        raise DermaFusionError("pyarrow is not installed", "Install it: pip install dermafusion[arrow]") from error
    schema = pyarrow.schema([(name, arrow(kind)) for name, kind in {"path": "string", **columns(outputs)}.items()])
    batches = []
    # In parts, since the objects of a row take more memory than its cells.
    rest = iter(results)
    while part := list(itertools.islice(rest, 1000)):
        rows = [{"path": _input.readable(found.image), **values(found)} for found in part]
        batches.append(pyarrow.RecordBatch.from_pylist(rows, schema))
    return pyarrow.Table.from_batches(batches, schema)
