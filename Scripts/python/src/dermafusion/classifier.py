"""A model that is ready to classify."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _engine, _input, _library, _output
from .errors import ArgumentError, ClosedError, DermaFusionError, ImageError
from .many import Classifications, Metadata
from .report import page
from .result import Classification, Heatmap

if TYPE_CHECKING:
    import PIL.Image

#: A path, a file's bytes, a uint8 array [height, width, 3], or a PIL image.
Image: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | NDArray[np.uint8] | PIL.Image.Image"


class Classifier:
    """A model, or an ensemble of several, that classifies any number of images from any number of threads.

    model: a folder with `config.json` and `model.safetensors`, or the name of a model in the package: `int8` is the
        shipped one in 8 bits, which takes about half the time. None: the shipped model. Classifiers of one model share
        its weights.
    threads: that share the work of one image, 1...1024; None: as many as the process may use. Results do not depend on
        it.
    language: of `summary`, of heatmaps' pictures and of errors of the model and of images: "en", "de" or "fr". The
        disclaimer stands in English too.

    A process that was forked from one with a classifier is refused: start processes by multiprocessing's 'spawn'.
    """

    def __init__(
        self, model: str | os.PathLike[str] | None = None, *, threads: int | None = None, language: str = "en"
    ) -> None:
        if model is not None and not isinstance(model, (str, os.PathLike)):
            raise ArgumentError(f"the model is of type {type(model).__name__}", "Name a folder, or None.")
        name = None if model is None else os.fsdecode(model)
        if name is not None and "\0" in name:
            raise ArgumentError(f"the model {name!r} holds a zero byte", "Name a folder.")
        _input.thread_count(threads)
        self._set(name, threads, language)
        self._open()
        self._language = self._chosen(language)

    def _set(self, model: str | None, threads: int | None, language: str) -> None:
        self._model = model
        self._language = "en" if language is None else language
        self._threads = threads
        self._is_in_memory = False
        self._is_closed = False
        self._engine: _engine.Engine | None = None

    @classmethod
    def from_bytes(
        cls, configuration: bytes, weights: bytes, *, threads: int | None = None, language: str = "en"
    ) -> Classifier:
        """A classifier from the bytes of `config.json` and `model.safetensors`."""
        for value in (configuration, weights):
            if not isinstance(value, bytes):
                raise ArgumentError(f"a file of the model is of type {type(value).__name__}", "Give bytes.")
        made = cls.__new__(cls)
        made._set(None, threads, language)
        made._is_in_memory = True
        made._engine = _engine.memory_engine(configuration, weights, _input.thread_count(threads), made._language)
        made._language = made._chosen(language)
        return made

    @property
    def classes(self) -> tuple[str, ...]:
        """The ids of the classes, in the order of all arrays of probabilities and logits."""
        return self._open().classes

    @property
    def description(self) -> dict[str, Any]:
        """The facts on the model that are known before it classifies.

        `version` of the library, `model`, `architecture`, `precision`, `temperature`, `inputSize`, `classes` with their
        names and malignancies, `metadataUsed`, the `sexes`, `sites`, `pickerSites` (those that a person picks from),
        `methods`, `layers` and `languages` that may be asked for, the `formats` that can be read and the `endings` of
        their files, `threads`, `instructionSet`, `disclaimer`.
        """
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
        features: bool = False,
        name: str | None = None,
        frame: int | None = None,
        language: str | None = None,
    ) -> Classification:
        """Classifies an image.

        image: a path, a file's bytes in one of `description["formats"]`, a PIL image or a uint8 array
            [height, width, 3], red, green, blue, rows from the top; at least 32x32 pixels.
        age: in years. sex: one of `description["sexes"]`. site: one of `description["sites"]`. Both may be words for
            these, as in tables. None: not known.
        tta: averages the eight symmetries of the square, at eight times the work.
        features: whether the result has `features`. An ensemble has none.
        name: what the result calls the image; None: its path.
        frame: the frame to look at of a DICOM file of several, from 1; the path `FILE#2` says the same. Without it
            such a file is an ImageError.
        language: None: the classifier's.
        """
        return self._classify(image, age, sex, site, tta, features, name, self._threads == 1, frame, language)

    def _classify(
        self,
        image: object,
        age: object,
        sex: object,
        site: object,
        tta: bool,
        features: bool,
        name: str | None,
        alone: bool,
        frame: object = None,
        language: object = None,
    ) -> Classification:
        engine = self._open()
        shown = _input.name_of(image) if name is None else str(name)
        request = _input.request(age=age, sex=sex, site=site, name=shown, tta=tta, calling_thread_only=alone)
        request.frame = _input.frame(frame)
        request.language = self._chosen(language).encode()
        result = self._run(engine, "classify", image, request, shown)
        made = Classification._of(result, engine, features)
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
        features: bool = False,
        name: str | None = None,
        frame: int | None = None,
        language: str | None = None,
    ) -> Heatmap:
        """Classifies an image and shows where the network found what supports a class.

        label: the class to explain; None: the one with the greatest probability.
        method: one of `description["methods"]`.
        layer: one of `description["layers"]`; None: the last.
        features: whether the heatmap's `classification` has `features`.
        language: None: the classifier's.
        """
        alone = self._threads == 1
        return self._explain(image, age, sex, site, label, method, layer, features, name, alone, frame, language)

    def _explain(
        self,
        image: object,
        age: object,
        sex: object,
        site: object,
        label: object,
        method: object,
        layer: object,
        features: bool,
        name: str | None,
        alone: bool,
        frame: object = None,
        language: object = None,
    ) -> Heatmap:
        engine = self._open()
        shown = _input.name_of(image) if name is None else str(name)
        request = _input.request(age=age, sex=sex, site=site, name=shown, tta=False, calling_thread_only=alone)
        request.frame = _input.frame(frame)
        request.language = self._chosen(language).encode()
        if label == "all":
            raise ArgumentError("a heatmap is of one class", f"Name one of {', '.join(engine.classes[:8])}.")
        request.map_class = _input.text(label, "label", ArgumentError)
        request.map_method = _input.text(method, "method", ArgumentError)
        request.map_layer = _input.text(layer, "layer", ArgumentError)
        return Heatmap._of(self._run(engine, "explain", image, request, shown), engine, features)

    def classify_many(
        self,
        images: Iterable[Image],
        *,
        metadata: Metadata | None = None,
        threads: int | None = None,
        tta: bool = False,
        features: bool = False,
        errors: Literal["raise", "return"] = "raise",
        language: str | None = None,
    ) -> Classifications:
        """Classifies images side by side and gives the results in the order of the images, each as soon as it is there.

        metadata: what is known of the patients, by the rules of `dermafusion classify --metadata`. A table: the path of
            a CSV file, a pandas DataFrame, or a mapping of columns, whose rows name their images; what a person should
            know of it is warned of. Or for each image, in their order, a mapping with `age`, `sex` and `site`, or with
            a table's names for them (`age_approx`, `localization`, `anatom_site_general`, ...). None: nothing.
        threads: images at a time; None: as many as the process may use.
        features: whether the results have `features`: 5 kB each with the shipped model.
        errors: "return" gives the exception of an image that fails in the place of its result, its path in `image`.
        language: None: the classifier's.
        """
        self._open()
        count = _input.thread_count(threads)
        return Classifications(self, images, metadata, count, tta, errors, features, language=self._chosen(language))

    def report(
        self,
        images: Iterable[Image],
        output: str | os.PathLike[str],
        *,
        metadata: Metadata | None = None,
        threads: int | None = None,
        language: str | None = None,
    ) -> list[Classification | DermaFusionError]:
        """Writes a page with the result and the heatmap of each image: one HTML file without scripts.

        images, metadata, threads: as `classify_many` has them.
        output: the file, which is replaced where it exists. It contains the photographs, so keep it as private as
            their files.
        language: of the results' sentences and of the pictures; None: the classifier's.

        Returns the result of each image, or the exception of one that failed, which the page names too.
        """
        explains = bool(self.description["layers"])
        words = self._chosen(language)
        entries: list[tuple[Classification | DermaFusionError, bytes | None]] = []
        # Opened first: where it cannot be written, no image is computed.
        with _output.File(output) as file:
            count = _input.thread_count(threads)
            with Classifications(
                self, images, metadata, count, False, "return", explains=explains, language=words
            ) as found:
                for item in found:
                    if isinstance(item, Heatmap):
                        # A map of the likeliest class would suggest that class.
                        picture = None if item.classification.abstain else item.picture()
                        entries.append((item.classification, picture))
                    else:
                        entries.append((item, None))
            file.finish(_input.readable(page(entries, self.description["disclaimer"])).encode())
        return [result for result, _ in entries]

    def close(self) -> None:
        """Lets go of the model, which is freed with its last classifier."""
        self._is_closed = True
        self._engine = None

    def __enter__(self) -> Classifier:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._is_in_memory:
            raise ArgumentError("a classifier of a model in memory cannot be pickled", "Use a model's folder.")
        if self._is_closed:
            raise ClosedError("the classifier is closed", "Make another one.")
        return (_reopen, (self._model, self._threads, self._language))

    def __repr__(self) -> str:
        if self._is_closed:
            return "<Classifier, closed>"
        if self._engine is None:
            return f"<Classifier of {self._model or 'the shipped model'}, not opened in this process yet>"
        model = self._engine.description["model"]
        return f"<Classifier of {model['name']} {model['version']}, classes {', '.join(self._engine.classes[:12])}>"

    def _chosen(self, language: object) -> str:
        known: list[str] = self._open().description["languages"]
        if language is None:
            return self._language
        for name in known:
            if language == name:
                return name
        raise ArgumentError(f"language {language!r} is not one of {', '.join(known)}", "Name one of them.")

    def _open(self) -> _engine.Engine:
        engine = self._engine
        if engine is None and not self._is_closed:
            # One thread needs no weights of its own: the call says that it keeps to the calling one.
            count = _input.thread_count(self._threads)
            engine = _engine.folder_engine(_folder(self._model), 0 if count == 1 else count, self._language)
            self._engine = engine
        if engine is None or self._is_closed:
            # Another thread may have closed it while this one opened it.
            self._engine = None
            raise ClosedError("the classifier is closed", "Make another one.")
        return engine

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
            if isinstance(content, _input.File):
                request.frame = request.frame or content.frame
                return engine.make(f"{verb}_file", content.descriptor, ctypes.byref(request))
            # An empty array may have no address.
            start = content.ctypes.data if content.size else ctypes.byref(request)
            return engine.make(f"{verb}_bytes", start, content.size, ctypes.byref(request))
        except ImageError as error:
            if not name:
                raise
            raise ImageError(f"{name}: {error.message}", error.remedy) from None
        finally:
            if isinstance(content, _input.File):
                content.close()


def _folder(model: str | None) -> str:
    """The folder of a model: a path that exists, otherwise a model of the package."""
    if model is None:
        return os.fsdecode(_library.MODEL)
    named = _library.MODEL / model
    if os.sep not in model and not os.path.exists(model) and (named / "config.json").is_file():
        return os.fsdecode(named)
    return model


def _reopen(model: str | None, threads: int | None, language: str = "en") -> Classifier:
    """Opens the model when it is first used: an error here would end a worker of a pool, which nobody is told of."""
    made = Classifier.__new__(Classifier)
    made._set(model, threads, language)
    return made
