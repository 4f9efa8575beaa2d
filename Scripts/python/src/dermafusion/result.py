"""The results of a classifier for images."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _engine, _input, _output
from .errors import ArgumentError, DermaFusionError, ExplanationError

_STATUSES = ("ok", "all_negative", "flat")


class Classification:
    """The result for one image.

    Show `disclaimer` wherever you show a result. Where the model abstains, `prediction` and `risk` are None.
    """

    __slots__ = ("_content", "classes", "features", "json", "logits", "probabilities")

    #: The ids of the classes.
    classes: tuple[str, ...]
    #: Float32 [classes], 0...1, in the order of `classes`; where the model abstains they mean little.
    probabilities: NDArray[np.float32]
    #: Float32 [classes]: the network's outputs before softmax or sigmoid.
    logits: NDArray[np.float32]
    #: Float32 [channels]: the row of `dermafusion embed`, the vector that the head takes, where it was asked for.
    features: NDArray[np.float32] | None
    #: The line of `dermafusion classify --format json`, byte for byte.
    json: str

    def __init__(
        self,
        text: str,
        classes: tuple[str, ...],
        probabilities: NDArray[np.float32],
        logits: NDArray[np.float32],
        features: NDArray[np.float32] | None = None,
    ) -> None:
        self.json = text
        self.classes = classes
        self.probabilities = _frozen(probabilities)
        self.logits = _frozen(logits)
        self.features = None if features is None else _frozen(features)
        self._content: dict[str, Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return (Classification, (self.json, self.classes, self.probabilities, self.logits, self.features))

    @classmethod
    def _of(cls, result: _engine.Result, engine: _engine.Engine, features: bool) -> Classification:
        view = result.view
        if features and not view.feature_count:
            raise ExplanationError(
                "features are of one network, and this is an ensemble", "Use the folder of a member."
            )
        return cls(
            result.json,
            engine.classes,
            _copy(view.probabilities, view.class_count),
            _copy(view.logits, view.class_count),
            _copy(view.features, view.feature_count) if features else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as its JSON has it."""
        return dict(self._read())

    def _read(self) -> dict[str, Any]:
        if self._content is None:
            self._content = json.loads(self.json)
        return self._content

    @property
    def image(self) -> str:
        """The name of the image."""
        return str(self._read()["image"])

    @property
    def image_sha256(self) -> str | None:
        """SHA-256 of the file, in hexadecimal; None for pixels."""
        return self._read()["imageSHA256"]  # type: ignore[no-any-return]

    @property
    def prediction(self) -> str | None:
        """The class with the greatest probability; None where the model abstains."""
        found = self._read()["prediction"]
        return None if found is None else str(found["class"])

    @property
    def probability(self) -> float | None:
        """The probability of `prediction`."""
        return None if self.prediction is None else float(self.probabilities[self.classes.index(self.prediction)])

    @property
    def multi_label(self) -> bool:
        """True if several classes may be right at once: the probabilities then do not add up to 1."""
        return bool(self._read().get("multiLabel", False))

    @property
    def risk(self) -> str | None:
        """low, moderate or high; None where the model abstains or does not say which classes are malignant."""
        return self._read()["risk"]  # type: ignore[no-any-return]

    @property
    def concern(self) -> str | None:
        """The class that makes the risk moderate or high where it is not `prediction`: show both. Else None."""
        return self._read()["concern"]  # type: ignore[no-any-return]

    @property
    def urgent(self) -> bool:
        """True if an urgent consultation is advised; `summary` then says so."""
        return bool(self._read()["urgent"])

    @property
    def confidence(self) -> str:
        """normal, or low where no class stands out."""
        return str(self._read()["confidence"])

    @property
    def abstain(self) -> bool:
        """True if the model suggests no class and no risk; `abstain_reasons` says why."""
        return bool(self._read()["abstain"])

    @property
    def conformal_set(self) -> tuple[str, ...] | None:
        """Classes among which the right one is with a stated probability; None where the model makes no set."""
        found = self._read()["conformalSet"]
        return None if found is None else tuple(found)

    @property
    def abstain_reasons(self) -> tuple[str, ...]:
        """Why the model abstains; empty where it answers."""
        return tuple(self._read()["abstainReasons"])

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings that the reader must have about the input."""
        return tuple(self._read()["warnings"])

    @property
    def warning_details(self) -> dict[str, str]:
        """Details of some of the warnings, of this image, such as {"color_profile": "Display P3"}."""
        return dict(self._read().get("warningDetails", {}))

    @property
    def metadata(self) -> dict[str, Any]:
        """The age, sex and site that went in; `missing` lists what did not."""
        return dict(self._read()["metadata"])

    @property
    def model(self) -> dict[str, str]:
        """The name, version and sha256 of the model."""
        return dict(self._read()["model"])

    @property
    def summary(self) -> str:
        """The result in words."""
        return str(self._read()["summary"])

    @property
    def disclaimer(self) -> str:
        """The disclaimer, which must be shown with every result: in English, whatever the language."""
        return str(self._read()["disclaimer"])

    @property
    def language(self) -> str:
        """The language of `summary`."""
        return str(self._read().get("language", "en"))

    @property
    def disclaimer_translation(self) -> str | None:
        """The disclaimer's translation into `language`; None in English. Show it beside `disclaimer`."""
        return self._read().get("disclaimerTranslation")

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row; see `dermafusion.to_frame`."""
        return to_frame([self])

    def _repr_html_(self) -> str:
        """The result as notebooks show it: in words, with a bar for each class, and the disclaimer."""
        ranked = sorted(zip(self.probabilities.tolist(), self.classes, strict=True), key=lambda item: -item[0])
        rows = "".join(
            f"<tr><th style='text-align: left'>{escape(name)}</th><td>{value:.4f}</td><td style='width: 14em'>"
            f"<div style='width: {100 * value:.1f}%; height: 0.7em; background: #4a7fb5'></div></td></tr>"
            for value, name in ranked[:10]
        )
        note = "" if len(ranked) <= 10 else f"<p>{len(ranked) - 10} more classes are less likely than these.</p>"
        risk = "" if self.risk is None else f"<p>Risk: {escape(self.risk)}</p>"
        lists = "".join(
            f"<p>{title}: {escape(', '.join(words))}</p>"
            for title, words in (("Abstains", self.abstain_reasons), ("Warnings", self.warnings))
            if words
        )
        return (
            f"<div><p><strong>{escape(self.summary)}</strong></p>{risk}{lists}<table>{rows}</table>{note}"
            f"<p><small>{escape(self._disclaimers())}</small></p></div>"
        )

    def __str__(self) -> str:
        return f"{self.summary}\n{self._disclaimers()}"

    def _disclaimers(self) -> str:
        return " ".join(filter(None, (self.disclaimer_translation, self.disclaimer)))

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Classification) and self.json == other.json

    def __hash__(self) -> int:
        return hash(self.json)


_ARRAYS = ("values", "stretched", "signed_values")


class Heatmap:
    """The places in an image where the network found what supports a class. A notebook shows its picture.

    The arrays lie in the library's memory, are read-only and stay valid as long as one of them is used. A heatmap that
    is pickled or copied takes copies of them and its picture along.
    """

    __slots__ = ("_picture", "_result", "classification", "label", "signed_values", "status", "stretched", "values")

    #: None in a copy.
    _result: _engine.Result | None
    #: The picture of a copy.
    _picture: bytes | None
    #: The result that is explained.
    classification: Classification
    #: The class that is explained.
    label: str
    #: ok; all_negative where no place supports the class, flat where all are alike: then `values` are 0.
    status: str
    #: Float32 [side, side], 0...1, row 0 at the top, over the centre square of the image, where the picture draws it:
    #: each cell of the map lies at the centre of its receptive field.
    values: NDArray[np.float32]
    #: As `values`, but with the cells stretched over the square, as the package `grad-cam` and `gradcam --raw` have
    #: them: for the shipped model up to 15 pixels further up and left.
    stretched: NDArray[np.float32]
    #: Float32 [rows, columns] of the layer: before the negative part is cut off.
    signed_values: NDArray[np.float32]

    @classmethod
    def _of(cls, result: _engine.Result, engine: _engine.Engine, features: bool) -> Heatmap:
        found = result.map(0)
        made = cls.__new__(cls)
        made._result = result
        made._picture = None
        made.classification = Classification._of(result, engine, features)
        made.label = engine.classes[found.class_index]
        made.status = _STATUSES[found.status] if found.status < len(_STATUSES) else str(found.status)
        made.values = _shared(found.placed_values, (found.side, found.side), result)
        made.stretched = _shared(found.values, (found.side, found.side), result)
        made.signed_values = _shared(found.signed_values, (found.signed_height, found.signed_width), result)
        return made

    def picture(self) -> bytes:
        """The picture of `dermafusion gradcam` as a PNG file, byte for byte.

        The map over the photograph, with a colour bar, a caption and the disclaimer.
        """
        return self._picture or self._result.picture()  # type: ignore[union-attr]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `picture` to a file, which is replaced where it exists."""
        with _output.File(path) as file:
            file.finish(self.picture())

    def __getstate__(self) -> dict[str, Any]:
        names = ("classification", "label", "status", *_ARRAYS)
        return {"_picture": self.picture(), **{name: getattr(self, name) for name in names}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._result = None
        for name, value in state.items():
            setattr(self, name, _frozen(value) if name in _ARRAYS else value)

    def _repr_png_(self) -> bytes:
        return self.picture()

    def __repr__(self) -> str:
        shape = "x".join(str(side) for side in self.values.shape)
        return f"<Heatmap of {self.label}, {shape}, {self.status}>\n{self.classification}"


def to_frame(results: Iterable[Classification | DermaFusionError]) -> Any:
    """A pandas DataFrame with a row for each result: the columns of `dermafusion classify --format csv`, and `error`.

    Lists in a cell have blanks between their words. An exception, as `classify_many(errors="return")` gives it, is a
    row with its message in `error`.
    """
    try:
        import pandas
    except ImportError as error:
        raise DermaFusionError("pandas is not installed", "Install it: pip install dermafusion[pandas]") from error
    return pandas.DataFrame([row(result) for result in results])


def row(result: Classification | DermaFusionError) -> dict[str, Any]:
    """The columns of one result."""
    if isinstance(result, DermaFusionError):
        return {"image_id": _identifier(result.image), "image": result.image, "error": str(result)}
    if not isinstance(result, Classification):
        raise ArgumentError(f"a {type(result).__name__} is no result", "Give what classify or classify_many returns.")
    content = result._read()
    prediction = content["prediction"] or {}
    before = {
        "image_id": _identifier(result.image),
        "image": result.image,
        "class": prediction.get("class"),
        "name": prediction.get("name"),
        "probability": prediction.get("probability"),
    }
    after: dict[str, Any] = {
        **{key: content[key] for key in ("risk", "concern", "urgent", "confidence")},
        **{key: content["metadata"][key] for key in ("age", "sex", "site")},
        "missing": " ".join(content["metadata"]["missing"]),
        "warnings": " ".join(content["warnings"]),
        "model": content["model"]["name"],
        "modelVersion": content["model"]["version"],
        "modelSHA256": content["model"]["sha256"],
        **({"views": content["views"]} if "views" in content else {}),
        "summary": content["summary"],
        "disclaimer": content["disclaimer"],
        "abstain": content["abstain"],
        "abstainReasons": " ".join(content["abstainReasons"]),
        "conformalSet": " ".join(content["conformalSet"] or ()),
        "instructionSet": content["instructionSet"],
        "precision": content["precision"],
        **{key: content[key] for key in ("language", "disclaimerTranslation") if key in content},
    }
    # The numbers as the JSON and the CSV write them.
    columns = _columns(result.classes, {*before, *after, "error"})
    scores = dict(zip(columns, content["probabilities"].values(), strict=True))
    return {**before, **scores, **after, "error": None}


def _identifier(image: str) -> str:
    """The name by which tables know the image."""
    found: str = _engine.answer("image_id", _input.readable(image).replace("\0", "\ufffd").encode())
    return found


def _columns(classes: tuple[str, ...], others: set[str]) -> list[str]:
    """A column for each class; of one that is called like another column `probability_` and its name."""
    taken = others | set(classes)
    columns = []
    for name in classes:
        column = name
        while column in others or (column != name and column in taken):
            column = f"probability_{column}"
        taken.add(column)
        columns.append(column)
    return columns


def _copy(address: int, count: int) -> NDArray[np.float32]:
    made = np.empty(count, dtype=np.float32)
    ctypes.memmove(made.ctypes.data, address, made.nbytes)
    return made


def _frozen(array: NDArray[np.float32]) -> NDArray[np.float32]:
    array.flags.writeable = False
    return array


def _shared(address: int, shape: tuple[int, int], owner: _engine.Result) -> NDArray[np.float32]:
    memory = (ctypes.c_float * (shape[0] * shape[1])).from_address(address)
    # The array keeps the memory's object, and that one the result.
    memory.owner = owner  # type: ignore[attr-defined]
    array: NDArray[np.float32] = np.frombuffer(memoryview(memory), dtype=np.float32).reshape(shape)
    return _frozen(array)
