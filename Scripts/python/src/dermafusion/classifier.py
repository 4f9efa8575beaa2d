"""A model that is ready to classify."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _engine, _input, _library
from .errors import ArgumentError, ClosedError, ImageError
from .many import Classifications
from .result import Classification, Heatmap

Image: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | NDArray[np.uint8]"


class Classifier:
    """A model, or an ensemble of several, that classifies any number of images from any number of threads.

    model: a folder with `config.json` and `model.safetensors`; None: the model in the package. Classifiers of one model
        share its weights.
    threads: that share the work of one image, 1...1024; None: as many as the process may use. Results do not depend on
        it.

    A process that was forked from one with a classifier is refused: start processes by multiprocessing's 'spawn'.
    """

    def __init__(self, model: str | os.PathLike[str] | None = None, *, threads: int | None = None) -> None:
        count = _input.thread_count(threads)
        if model is not None and not isinstance(model, (str, os.PathLike)):
            raise ArgumentError(f"the model is of type {type(model).__name__}", "Name a folder, or None.")
        self._folder: str | None = os.fsdecode(_library.MODEL if model is None else model)
        if "\0" in self._folder:
            raise ArgumentError(f"the model {self._folder!r} holds a zero byte", "Name a folder.")
        self._threads = threads
        # One thread needs no weights of its own: the call says that it keeps to the calling one.
        self._engine: _engine.Engine | None = _engine.folder_engine(self._folder, 0 if count == 1 else count)

    @classmethod
    def from_bytes(cls, configuration: bytes, weights: bytes, *, threads: int | None = None) -> Classifier:
        """A classifier from the bytes of `config.json` and `model.safetensors`."""
        for value in (configuration, weights):
            if not isinstance(value, bytes):
                raise ArgumentError(f"a file of the model is of type {type(value).__name__}", "Give bytes.")
        made = cls.__new__(cls)
        made._folder = None
        made._threads = threads
        made._engine = _engine.memory_engine(configuration, weights, _input.thread_count(threads))
        return made

    @property
    def classes(self) -> tuple[str, ...]:
        """The ids of the classes, in the order of all arrays of probabilities and logits."""
        return self._open().classes

    @property
    def description(self) -> dict[str, Any]:
        """What is known of the model: version, model, architecture, inputSize, classes, sites, methods, layers, ..."""
        return dict(self._open().description)

    def _processors(self) -> int:
        """As many as the process may use: the engine knows of a control group's quota, too, where it chose itself."""
        return self.description["threads"] if self._threads is None else len(os.sched_getaffinity(0))

    def classify(
        self,
        image: Image,
        *,
        age: float | None = None,
        sex: str | None = None,
        site: str | None = None,
        tta: bool = False,
        name: str | None = None,
    ) -> Classification:
        """Classifies an image.

        image: a path, a file's bytes (any format that is read) or a uint8 array [height, width, 3], red, green, blue, rows from
            the top; at least 32x32 pixels.
        age: in years, 0...130. sex: male, female. site: one of `description["sites"]`. None: not known.
        tta: averages the eight symmetries of the square, at eight times the work.
        name: what the result calls the image; None: its path.
        """
        return self._classify(image, age, sex, site, tta, name, self._threads == 1)

    def _classify(
        self, image: object, age: object, sex: object, site: object, tta: bool, name: str | None, alone: bool
    ) -> Classification:
        engine = self._open()
        shown = _input.name_of(image) if name is None else str(name)
        request = _input.request(age=age, sex=sex, site=site, name=shown, tta=tta, calling_thread_only=alone)
        result = self._run(engine, "classify", image, request, shown)
        made = Classification._of(result, engine)
        result.close()
        return made

    def heatmap(
        self,
        image: Image,
        *,
        age: float | None = None,
        sex: str | None = None,
        site: str | None = None,
        label: str | None = None,
        method: Literal["gradcam", "hirescam", "gradcam++", "layercam", "eigencam"] = "gradcam",
        layer: str | None = None,
        name: str | None = None,
    ) -> Heatmap:
        """Classifies an image and shows where the network found what supports a class.

        label: the class to explain; None: the one with the greatest probability.
        layer: one of `description["layers"]`; None: the last.

        The map's cells are stretched over the square, as the package `grad-cam` has them. The command `gradcam` draws
        a cell at the centre of its receptive field instead, up to 15 pixels further down and right.
        """
        engine = self._open()
        shown = _input.name_of(image) if name is None else str(name)
        request = _input.request(
            age=age, sex=sex, site=site, name=shown, tta=False, calling_thread_only=self._threads == 1
        )
        if label == "all":
            raise ArgumentError("a heatmap is of one class", f"Name one of {', '.join(engine.classes[:8])}.")
        request.map_class = _input.text(label, "label", ArgumentError)
        request.map_method = _input.text(method, "method", ArgumentError)
        request.map_layer = _input.text(layer, "layer", ArgumentError)
        return Heatmap._of(self._run(engine, "explain", image, request, shown), engine)

    def classify_many(
        self,
        images: Iterable[Image],
        *,
        metadata: Iterable[Mapping[str, Any]] | None = None,
        threads: int | None = None,
        tta: bool = False,
        errors: Literal["raise", "return"] = "raise",
    ) -> Classifications:
        """Classifies images side by side and gives the results in the order of the images, each as soon as it is there.

        metadata: for each image a mapping with what is known of `age`, `sex` and `site`; None: nothing.
        threads: images at a time; None: as many as the process may use.
        errors: "return" gives the exception of an image that fails in the place of its result, its path in `image`.
        """
        self._open()
        return Classifications(self, images, metadata, _input.thread_count(threads), tta, errors)

    def close(self) -> None:
        """Lets go of the model, which is freed with its last classifier."""
        self._engine = None

    def __enter__(self) -> Classifier:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._folder is None:
            raise ArgumentError("a classifier of a model in memory cannot be pickled", "Use a model's folder.")
        return (_reopen, (self._folder if self._folder != os.fsdecode(_library.MODEL) else None, self._threads))

    def __repr__(self) -> str:
        if self._engine is None:
            return "<Classifier, closed>"
        model = self._engine.description["model"]
        return f"<Classifier of {model['name']} {model['version']}, classes {', '.join(self._engine.classes[:12])}>"

    def _open(self) -> _engine.Engine:
        if self._engine is None:
            raise ClosedError("the classifier is closed", "Make another one.")
        return self._engine

    @staticmethod
    def _run(engine: _engine.Engine, verb: str, image: object, request: _library.Request, name: str) -> _engine.Result:
        content = _input.read(image)
        try:
            if isinstance(content, _input.Pixels):
                return engine.make(
                    f"{verb}_pixels",
                    content.array.ctypes.data,
                    content.width,
                    content.height,
                    content.bytes_per_row,
                    0,
                    ctypes.byref(request),
                )
            # An empty array may have no address.
            start = content.ctypes.data if content.size else ctypes.byref(request)
            return engine.make(f"{verb}_bytes", start, content.size, ctypes.byref(request))
        except ImageError as error:
            if not name:
                raise
            raise ImageError(f"{name}: {error.message}", error.remedy) from None


def _reopen(folder: str | None, threads: int | None) -> Classifier:
    return Classifier(folder, threads=threads)
