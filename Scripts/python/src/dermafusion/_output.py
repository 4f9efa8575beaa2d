"""Files that this package writes: each has its name when it is whole, or never."""

from __future__ import annotations

import os
import secrets
import stat
from typing import BinaryIO

from .errors import ArgumentError, FolderNotFoundError, WriteError

_REMEDY = "Name a file in a folder that is there and may be written to."


class File:
    """A file that is being written. What it replaces stays as it is until `finish`.

    Errors name the path that was given, never the hidden file beside it.
    """

    def __init__(self, path: object) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise ArgumentError(f"the output is of type {type(path).__name__}", "Name a file.")
        self.path = os.fsdecode(path)
        self._partial: str | None = None
        try:
            self._file = self._open()
        except (OSError, ValueError) as error:
            raise self._failure(error) from None

    def _open(self) -> BinaryIO:
        # The target of a link is replaced, not the link.
        target = os.path.realpath(self.path)
        try:
            mode = os.stat(target).st_mode
        except FileNotFoundError:
            mode = None
        if mode is not None and not stat.S_ISREG(mode):
            # A folder is refused here; a device or a pipe is written to.
            return open(self.path, "wb")
        self._target = target
        partial = os.path.join(os.path.dirname(target), f".dermafusion-{secrets.token_hex(8)}.partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        self._partial = partial
        if mode is not None:
            os.fchmod(descriptor, stat.S_IMODE(mode))
        return os.fdopen(descriptor, "wb")

    def _failure(self, error: Exception) -> WriteError:
        reason = getattr(error, "strerror", None) or str(error)
        kind = FolderNotFoundError if isinstance(error, FileNotFoundError) else WriteError
        return kind(f"{self.path}: cannot be written: {reason}", _REMEDY, self.path, getattr(error, "errno", None))

    def finish(self, content: bytes) -> None:
        """Writes the whole content and gives the file its name."""
        try:
            self._file.write(content)
            self._file.close()
            if self._partial is not None:
                os.replace(self._partial, self._target)
                self._partial = None
        except (OSError, ValueError) as error:
            raise self._failure(error) from None

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        """Removes what was not finished."""
        try:
            self._file.close()
        except OSError:
            # The rest of the buffer goes with the file.
            pass
        if self._partial is not None:
            os.remove(self._partial)
            self._partial = None
