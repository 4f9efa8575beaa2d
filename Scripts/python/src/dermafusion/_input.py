"""A caller's arguments, checked before the library sees them."""

from __future__ import annotations

import math
import numbers
import os
import re
import stat
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _library
from .errors import ArgumentError, ImageError, ImageNotFoundError, MetadataError

# As the library has it; checked before anything is copied.
PIXEL_LIMIT = 178_956_970
_FILE_REMEDY = "Name a whole image file."


class Pixels:
    """Pixels as the library takes them: rows of red, green and blue bytes, each row behind the one before."""

    def __init__(self, array: NDArray[np.uint8]) -> None:
        # Kept, so that the memory stays.
        self.array = array
        self.height, self.width = array.shape[:2]
        self.bytes_per_row = array.strides[0]


class File:
    """A file that is open for the library to read. `FILE#N` is frame N of FILE, unless a file is truly named so."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        name = os.fsdecode(path)
        self.frame = 0
        named = re.fullmatch(r"(.*[^/])#([1-9][0-9]{0,7})", name, re.DOTALL)
        if named and not os.path.lexists(path) and os.path.lexists(named[1]):
            path, self.frame = named[1], int(named[2])
        try:
            # Whatever would wait for a writer is not opened in a way that waits.
            self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            raise ImageNotFoundError(f"{name}: no such file or folder", _FILE_REMEDY, name) from None
        except OSError as error:
            raise ImageError(f"{name}: {error.strerror or error}", _FILE_REMEDY) from None
        except ValueError as error:
            raise ImageError(f"{name!r}: {error}", _FILE_REMEDY) from None
        mode = os.fstat(self.descriptor).st_mode
        if not stat.S_ISREG(mode):
            self.close()
            kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            raise ImageError(f"{name}: it is {kind}", _FILE_REMEDY)

    def close(self) -> None:
        os.close(self.descriptor)


def name_of(image: object) -> str:
    """The name in results of an image that was given none: its path, or nothing."""
    if _is_pillow(image):
        image = getattr(image, "filename", "")
    return os.fsdecode(image) if isinstance(image, (str, os.PathLike)) else ""


def readable(text: str) -> str:
    """Without the halves of characters in which Python keeps a name that is not UTF-8: no file can hold them."""
    return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in text)


def read(image: object) -> NDArray[np.uint8] | Pixels | File:
    """A file's bytes, pixels, or an open file."""
    if isinstance(image, np.ndarray):
        return _pixels(image)
    if isinstance(image, (bytes, bytearray, memoryview)):
        try:
            return np.frombuffer(image, dtype=np.uint8)
        except (BufferError, ValueError) as error:
            raise ArgumentError(f"the bytes cannot be read: {error}", "Give a contiguous buffer.") from None
    if isinstance(image, (str, os.PathLike)):
        return File(image)
    if _is_pillow(image):
        return _pixels(_from_pillow(image))
    raise ArgumentError(
        f"the image is of type {type(image).__name__}",
        "Give a path, a file's bytes, a PIL image or a uint8 array of shape (height, width, 3).",
    )


def _is_pillow(image: object) -> bool:
    """True of Pillow's images. A caller who has one has imported Pillow; this package does without it."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(image, module.Image)


def _from_pillow(image: Any) -> NDArray[np.uint8]:
    """As the library reads a file: turned upright, 16-bit grey by its high byte, without alpha."""
    from PIL import ImageOps

    try:
        upright = ImageOps.exif_transpose(image)
        # Older versions of Pillow have the 16 bits of a PNG file in 32.
        if upright.mode.startswith("I;16") or (upright.mode == "I" and image.format == "PNG"):
            grey = (np.asarray(upright).astype(np.uint16) >> 8).astype(np.uint8)
            return np.repeat(grey[..., None], 3, axis=2)
        if upright.mode in ("I", "F"):
            # A file of such pixels is refused too: nothing says which of their values is white.
            raise ImageError(
                f"the image's mode is {upright.mode}, pixels of 32 bits, and 8 or 16 bits are read",
                "Scale its values to 0...255 and convert it to RGB.",
            )
        return np.asarray(upright.convert("RGB"))
    except (OSError, SyntaxError, ValueError) as error:
        raise ImageError(f"Pillow cannot read the image: {error}", _FILE_REMEDY) from error


def _pixels(array: NDArray[Any]) -> Pixels:
    remedy = "Give a uint8 array of shape (height, width, 3): red, green, blue, rows from the top."
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentError("the array has a mask, and an image has none", remedy)
    if array.dtype != np.uint8:
        raise ArgumentError(f"the array's type is {array.dtype}, not uint8", remedy)
    if array.ndim != 3 or array.shape[2] != 3:
        raise ArgumentError(f"the array's shape is {array.shape}, not (height, width, 3)", remedy)
    height, width, _ = array.shape
    if height == 0 or width == 0:
        raise ArgumentError(f"the array's shape is {array.shape}: there are no pixels", remedy)
    if any(stride < 0 for stride in array.strides):
        raise ArgumentError(
            f"the array's strides are {array.strides}, and negative ones are refused",
            "Turn the array by numpy.ascontiguousarray first, if what it shows is meant.",
        )
    if height * width > PIXEL_LIMIT:
        raise ImageError(f"the image is too large: {width}x{height} is more than {PIXEL_LIMIT} pixels", remedy)
    array = np.asarray(array)
    if array.strides[1:] != (3, 1) or array.strides[0] < 3 * width:
        array = np.ascontiguousarray(array)
    return Pixels(array)


def request(
    *, age: object, sex: object, site: object, name: str, tta: bool, calling_thread_only: bool
) -> _library.Request:
    """The request for an image, as the library takes it, which checks the age and the names."""
    made = _library.Request()
    made.age = _age(age)
    made.sex = text(sex, "sex", MetadataError)
    made.site = text(site, "site", MetadataError)
    made.name = readable(name).replace("\0", "\ufffd").encode()
    made.symmetries = int(bool(tta))
    made.calling_thread_only = int(calling_thread_only)
    return made


def _age(age: object) -> float:
    remedy = "Give years as a number, or None where the age is not known."
    if is_missing(age):
        return math.nan
    if isinstance(age, (bool, np.bool_)) or not isinstance(age, (numbers.Real, np.number)):
        raise MetadataError(f"the age is of type {type(age).__name__}, not a number", remedy)
    try:
        return float(age)
    except (OverflowError, TypeError, ValueError) as error:
        raise MetadataError(f"the age is not a number: {error}", remedy) from None


def is_missing(value: object) -> bool:
    """True for None, and for what numpy and pandas write for what is missing: NaN, NaT, NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    # Nothing else of these differs from itself.
    return isinstance(value, (numbers.Number, np.generic)) and bool(value != value)


def text(value: object, what: str, error: type[ArgumentError] | type[MetadataError]) -> bytes | None:
    """A text for the library; None for what is missing."""
    if is_missing(value):
        return None
    if not isinstance(value, str):
        raise error(f"the {what} is of type {type(value).__name__}, not a text", f"Give a {what} by its name, or None.")
    if "\0" in value:
        raise error(f"the {what} {value!r} holds a zero byte", f"Give a {what} by its name, or None.")
    return value.encode("utf-8", "replace")


def frame(value: object) -> int:
    """0 for None: the file has one."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not 1 <= int(value) < 1 << 32:
        raise ArgumentError(f"frame is {value!r}", "Give a whole number from 1, or None.")
    return int(value)


def thread_count(threads: object) -> int:
    """0 for None: as many as the process may use."""
    if threads is None:
        return 0
    if isinstance(threads, bool) or not isinstance(threads, numbers.Integral) or not 1 <= int(threads) <= 1024:
        raise ArgumentError(f"threads is {threads!r}", "Give a whole number within 1...1024, or None.")
    return int(threads)
