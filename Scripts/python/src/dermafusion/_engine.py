"""Models in memory. Classifiers of one model share one."""

from __future__ import annotations

import ctypes
import json
import os
import threading
import weakref
from pathlib import Path
from typing import Any

from . import _library


class Result:
    """A result in the library's memory, freed with this object."""

    def __init__(self, library: _library.Library, handle: int) -> None:
        self.library = library
        self.handle = handle
        self._finalizer = _freed(self, library, "result_close", handle)
        self.view = _library.View(size=ctypes.sizeof(_library.View))
        library.call("result_view", handle, ctypes.byref(self.view))

    @property
    def json(self) -> str:
        return ctypes.string_at(self.view.json, self.view.json_size).decode()

    def map(self, index: int) -> _library.Map:
        found = _library.Map(size=ctypes.sizeof(_library.Map))
        self.library.call("result_map", self.handle, index, ctypes.byref(found))
        return found

    def picture(self) -> bytes:
        """The maps over the photograph, as a PNG file."""
        # The library draws, which a child of a fork must not ask for.
        self.library.require_own_process()
        start, size = ctypes.c_void_p(), ctypes.c_uint64()
        self.library.call("result_picture", self.handle, ctypes.byref(start), ctypes.byref(size))
        return ctypes.string_at(start, size.value)

    def close(self) -> None:
        self._finalizer()


def answer(name: str, *arguments: object) -> Any:
    """The answer in JSON of a function of the library that needs no model."""
    library = _library.library()
    library.require_own_process()
    result = Result(library, library.make(name, *arguments))
    made = json.loads(result.json)
    result.close()
    return made


class Engine:
    """A model that is ready to classify, freed with this object."""

    def __init__(self, library: _library.Library, handle: int) -> None:
        self.library = library
        self.handle = handle
        self.finalizer = _freed(self, library, "classifier_close", handle)
        result = Result(library, library.make("describe", handle))
        self.description: dict[str, Any] = json.loads(result.json)
        self.classes: tuple[str, ...] = tuple(item["class"] for item in self.description["classes"])
        result.close()

    def make(self, name: str, *arguments: object) -> Result:
        self.library.require_own_process()
        return Result(self.library, self.library.make(name, self.handle, *arguments))


def _freed(holder: object, library: _library.Library, function: str, handle: int) -> weakref.finalize[..., Any]:
    """Frees what a handle stands for with its holder; not at the end of the process, where others may still use it."""
    finalizer = weakref.finalize(holder, _close, library, function, handle)
    finalizer.atexit = False
    return finalizer


def _close(library: _library.Library, function: str, handle: int) -> None:
    # A classifier opened before a fork is freed where it was opened.
    if library.process == os.getpid():
        library.call(function, handle)


_FILES = ("config.json", "model.safetensors", "SHA256SUMS")
_lock = threading.Lock()
_engines: weakref.WeakValueDictionary[tuple[object, ...], Engine] = weakref.WeakValueDictionary()


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        # Not there, or a name that no file can have.
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _states(folder: Path) -> list[tuple[int, ...] | None]:
    """The states of a model's files, and of those of its members where it is an ensemble."""
    folders = [folder]
    try:
        members = json.loads((folder / "config.json").read_bytes())["members"]
        folders += [folder / member["folder"] for member in members]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        # No ensemble, or one that the library refuses.
        pass
    return [_state(one / name) for one in folders for name in _FILES]


def _opened(library: _library.Library, language: object, name: str, *arguments: object) -> Engine:
    """language: of the error if the model cannot be opened. The lock is held, because the library has one for all."""
    library.call("set_default_language", str(language).encode("utf-8", "replace"))
    return Engine(library, library.make(name, *arguments))


def folder_engine(folder: str, threads: int, language: object) -> Engine:
    """The engine of a folder: the one that is there where its files are the same.

    threads: that share the work of one image; 0: as many as the process may use.
    language: of errors.
    """
    library = _library.library()
    real = Path(os.path.realpath(folder))
    key = (library, str(real), threads, *_states(real))
    with _lock:
        engine = _engines.get(key)
        if engine is None:
            engine = _opened(library, language, "open", os.fsencode(folder), threads)
            _engines[key] = engine
        return engine


def memory_engine(configuration: bytes, weights: bytes, threads: int, language: object) -> Engine:
    library = _library.library()
    # bytes are handed over as they are; ctypes keeps them while the call runs.
    texts = (ctypes.c_char_p(configuration), ctypes.c_char_p(weights))
    files = (texts[0], len(configuration), texts[1], len(weights))
    with _lock:
        return _opened(library, language, "open_memory", *files, threads)
