"""The functions of dermafusion.h by ctypes, which releases the interpreter's lock while one runs."""

from __future__ import annotations

import ctypes
import math
import os
import threading
from pathlib import Path
from typing import Any

from . import errors
from ._version import __version__

ABI_VERSION = 1
# For tests and for who builds the library: a file to take in place of the one in the wheel.
VARIABLE = "DERMAFUSION_LIBRARY"
_FOLDER = Path(__file__).parent
LIBRARY = _FOLDER / "native" / "libdermafusion.so.1"
MODEL = _FOLDER / "model"


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * 1024), ("remedy", ctypes.c_char * 512)]


class Request(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("symmetries", ctypes.c_uint32),
        ("calling_thread_only", ctypes.c_uint32),
        ("frame", ctypes.c_uint32),
        ("age", ctypes.c_double),
        ("sex", ctypes.c_char_p),
        ("site", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("map_class", ctypes.c_char_p),
        ("map_method", ctypes.c_char_p),
        ("map_layer", ctypes.c_char_p),
        ("language", ctypes.c_char_p),
    ]

    def __init__(self) -> None:
        super().__init__(size=ctypes.sizeof(Request), age=math.nan)


class View(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("class_count", ctypes.c_uint32),
        ("probabilities", ctypes.c_void_p),
        ("logits", ctypes.c_void_p),
        ("prediction", ctypes.c_int32),
        ("concern", ctypes.c_int32),
        ("risk", ctypes.c_int32),
        ("abstains", ctypes.c_uint32),
        ("is_confidence_low", ctypes.c_uint32),
        ("map_count", ctypes.c_uint32),
        ("json", ctypes.c_void_p),
        ("json_size", ctypes.c_uint64),
        ("summary", ctypes.c_void_p),
        ("disclaimer", ctypes.c_void_p),
        ("features", ctypes.c_void_p),
        ("feature_count", ctypes.c_uint64),
    ]


class Map(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("class_index", ctypes.c_int32),
        ("status", ctypes.c_int32),
        ("side", ctypes.c_uint32),
        ("values", ctypes.c_void_p),
        ("signed_values", ctypes.c_void_p),
        ("signed_height", ctypes.c_uint32),
        ("signed_width", ctypes.c_uint32),
        ("placed_values", ctypes.c_void_p),
    ]


_EXCEPTIONS: dict[int, type[errors.DermaFusionError]] = {
    1: errors.ModelNotFoundError,
    2: errors.ModelError,
    3: errors.ImageError,
    4: errors.MetadataError,
    5: errors.OutputError,
    6: errors.ExplanationError,
    7: errors.ExplanationError,
    8: errors.ExplanationError,
    9: errors.ArgumentError,
    10: errors.ClosedError,
}

_SIZE = ctypes.c_size_t
_POINTER = ctypes.c_void_p
_HANDLE = ctypes.c_uint64
_PIXELS = [_HANDLE, _POINTER, _SIZE, _SIZE, _SIZE, ctypes.c_int32, _POINTER, _POINTER, _POINTER]
_BYTES = [_HANDLE, _POINTER, _SIZE, _POINTER, _POINTER, _POINTER]
_FILE = [_HANDLE, ctypes.c_int32, _POINTER, _POINTER, _POINTER]
_SIGNATURES: dict[str, list[Any]] = {
    "open": [ctypes.c_char_p, ctypes.c_int32, _POINTER, _POINTER],
    "open_memory": [_POINTER, _SIZE, _POINTER, _SIZE, ctypes.c_int32, _POINTER, _POINTER],
    "classifier_close": [_HANDLE, _POINTER],
    "set_default_language": [ctypes.c_char_p, _POINTER],
    "describe": [_HANDLE, _POINTER, _POINTER],
    "read_table": [_POINTER, _SIZE, ctypes.c_char_p, _POINTER, _POINTER],
    "image_id": [ctypes.c_char_p, _POINTER, _POINTER],
    "list_images": [ctypes.c_char_p, _POINTER, _POINTER],
    "classify_bytes": _BYTES,
    "classify_file": _FILE,
    "classify_pixels": _PIXELS,
    "explain_bytes": _BYTES,
    "explain_file": _FILE,
    "explain_pixels": _PIXELS,
    "result_view": [_HANDLE, _POINTER, _POINTER],
    "result_map": [_HANDLE, ctypes.c_uint32, _POINTER, _POINTER],
    "result_picture": [_HANDLE, _POINTER, _POINTER, _POINTER],
    "result_close": [_HANDLE, _POINTER],
}


class Library:
    """The shared library, its version checked."""

    def __init__(self, path: Path) -> None:
        try:
            self._library = ctypes.CDLL(str(path))
            self.process = os.getpid()
        except OSError as error:
            raise errors.LibraryError(
                f"the shared library cannot be loaded: {error}",
                "Install the wheel for this system, or build one by Scripts/python/build-wheel.",
            ) from None
        self._check_versions(path)
        self._functions = {name: self._function(name, path) for name in _SIGNATURES}
        for name, function in self._functions.items():
            function.argtypes = _SIGNATURES[name]
            function.restype = ctypes.c_int32

    def _function(self, name: str, path: Path) -> ctypes._NamedFuncPointer:
        try:
            return self._library[f"dermafusion_{name}"]
        except AttributeError:
            raise errors.LibraryError(
                f"{path}: there is no function dermafusion_{name}",
                "Install package and library together, as one wheel.",
            ) from None

    def _check_versions(self, path: Path) -> None:
        abi = self._function("abi_version", path)
        abi.restype = ctypes.c_uint32
        version = self._function("version", path)
        version.restype = ctypes.c_char_p
        remedy = "Install package and library together, as one wheel."
        if abi() != ABI_VERSION:
            raise errors.VersionError(f"{path}: its interface is version {abi()}, not {ABI_VERSION}", remedy)
        found = version().decode()
        if found != __version__:
            raise errors.VersionError(f"{path}: the library is version {found}, the package {__version__}", remedy)

    def require_own_process(self) -> None:
        """A child of a fork has its parent's locks as they were, and none of its threads."""
        if self.process != os.getpid():
            raise errors.ClosedError(
                "this process was forked from one that uses dermafusion, and cannot use it too",
                "Start processes by multiprocessing's 'spawn' or 'forkserver', or before the first Classifier.",
            )

    def call(self, name: str, *arguments: object) -> None:
        """Calls a function with an error behind the arguments; raises what it tells."""
        error = _Error()
        code = self._functions[name](*arguments, ctypes.byref(error))
        if code != 0:
            exception = _EXCEPTIONS.get(code, errors.DermaFusionError)
            raise exception(error.message.decode("utf-8", "replace"), error.remedy.decode("utf-8", "replace"))

    def make(self, name: str, *arguments: object) -> int:
        """Calls a function whose output before the error is a handle."""
        handle = ctypes.c_uint64()
        self.call(name, *arguments, ctypes.byref(handle))
        return handle.value


_lock = threading.Lock()
_libraries: dict[Path, Library] = {}


def library() -> Library:
    """The library, loaded when it is first needed."""
    path = Path(os.environ.get(VARIABLE) or LIBRARY)
    found = _libraries.get(path)
    if found is not None:
        found.require_own_process()
        return found
    with _lock:
        if path not in _libraries:
            _libraries[path] = Library(path)
        return _libraries[path]
