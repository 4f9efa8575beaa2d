"""The exceptions of this package. All are DermaFusionError."""

from __future__ import annotations

import errno


class DermaFusionError(Exception):
    """Why something could not be done: what went wrong in one line, and in `remedy` what to do about it."""

    image: str = ""
    """The name of the image that failed, where `classify_many` returns the error; otherwise empty."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return self.message


class LibraryError(DermaFusionError):
    """The shared library is not there or cannot be loaded."""


class VersionError(LibraryError):
    """The shared library is of another version than this package."""


class ModelError(DermaFusionError):
    """A file of the model breaks a rule."""


class ModelNotFoundError(ModelError, FileNotFoundError):
    """The model's folder or one of its files is not there or cannot be read. Also Python's own FileNotFoundError."""

    def __reduce__(self) -> tuple[type[ModelNotFoundError], tuple[str, str]]:
        return (type(self), (self.message, self.remedy))


class ImageError(DermaFusionError):
    """An image cannot be read, is in no known format, damaged, too small or too large."""


class ImageNotFoundError(ImageError, FileNotFoundError):
    """The image's file is not there. Also Python's own FileNotFoundError."""

    def __init__(self, message: str, remedy: str = "", filename: str = "") -> None:
        super().__init__(message, remedy)
        self.errno = errno.ENOENT
        self.filename = filename

    def __reduce__(self) -> tuple[type[ImageNotFoundError], tuple[str, str, str]]:
        return (type(self), (self.message, self.remedy, self.filename))


class WriteError(DermaFusionError, OSError):
    """A file cannot be written. Also Python's own OSError."""

    def __init__(self, message: str, remedy: str = "", filename: str = "", number: int | None = None) -> None:
        super().__init__(message, remedy)
        self.errno = number
        self.filename = filename

    def __reduce__(self) -> tuple[type[WriteError], tuple[str, str, str, int | None]]:
        return (type(self), (self.message, self.remedy, self.filename, self.errno))


class FolderNotFoundError(WriteError, FileNotFoundError):
    """The folder of a file that was to be written is not there. Also Python's own FileNotFoundError."""


class MetadataError(DermaFusionError, ValueError):
    """The age is outside 0...130 years, or the sex or the site is not an accepted name."""


class OutputError(DermaFusionError):
    """The network's outputs, or a heatmap, are not all finite."""


class ExplanationError(DermaFusionError, ValueError):
    """A heatmap was asked for of a layer or class that the model does not have, or of an ensemble; or its features."""


class ArgumentError(DermaFusionError, ValueError):
    """An argument has a type, a shape or a value that is not accepted."""


class ClosedError(DermaFusionError):
    """The classifier was closed, or this process was forked from one that uses the library."""


#: Faults of the caller or of the model, which every further image would have too: none is the error of one image.
FAULTS = (ClosedError, ExplanationError, LibraryError, ModelError)
