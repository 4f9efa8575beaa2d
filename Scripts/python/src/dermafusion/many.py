"""Many images side by side."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from . import _input
from .errors import ArgumentError, DermaFusionError
from .result import Classification, to_frame

if TYPE_CHECKING:
    from .classifier import Classifier

_KEYS = ("age", "sex", "site")


class Classifications(Iterator[Any]):
    """The results of `Classifier.classify_many`, in the order of the images. Read it once, or close it."""

    def __init__(
        self,
        classifier: Classifier,
        images: Iterable[Any],
        metadata: Iterable[Mapping[str, Any]] | None,
        threads: int,
        tta: bool,
        errors: str,
    ) -> None:
        if isinstance(images, (str, bytes, bytearray, os.PathLike)):
            raise ArgumentError("the images are one path or one file", "Give a list of images.")
        if errors not in ("raise", "return"):
            raise ArgumentError(f"errors is {errors!r}", "Give 'raise' or 'return'.")
        workers = threads or classifier._processors()
        self._classifier = classifier
        self._tta = tta
        self._returns_errors = errors == "return"
        self._jobs = self._pair(images, metadata)
        self._is_alone = workers > 1 or classifier._threads == 1
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="dermafusion")
        # Few are begun ahead of the one that is waited for, so memory does not grow with the number of images.
        self._limit = 2 * workers
        self._waiting: deque[tuple[Any, Future[Classification]]] = deque()
        self._is_closed = False

    @staticmethod
    def _pair(
        images: Iterable[Any], metadata: Iterable[Mapping[str, Any]] | None
    ) -> Iterator[tuple[Any, Mapping[str, Any]]]:
        if metadata is None:
            for image in images:
                yield image, {}
            return
        rows = iter(metadata)
        for image in images:
            try:
                row = next(rows)
            except StopIteration:
                raise ArgumentError("there is less metadata than images", "Give a mapping for each image.") from None
            yield image, row

    def _work(self, image: Any, row: Mapping[str, Any]) -> Classification:
        unknown = [key for key in row if key not in _KEYS]
        if unknown:
            raise ArgumentError(f"the metadata has a key {unknown[0]!r}", f"Give no others than {', '.join(_KEYS)}.")
        age, sex, site = (row.get(key) for key in _KEYS)
        return self._classifier._classify(image, age, sex, site, self._tta, None, self._is_alone)

    def __next__(self) -> Any:
        if self._is_closed:
            raise StopIteration
        try:
            while len(self._waiting) < self._limit:
                job = next(self._jobs, None)
                if job is None:
                    break
                self._waiting.append((job[0], self._pool.submit(self._work, *job)))
            if not self._waiting:
                raise StopIteration
            image, future = self._waiting.popleft()
            return future.result()
        except DermaFusionError as error:
            if not self._returns_errors or isinstance(error, ArgumentError):
                self.close()
                raise
            error.image = _input.name_of(image)
            return error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Begins no more images and waits for those under way."""
        self._is_closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._waiting.clear()

    def __enter__(self) -> Classifications:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_pool"):
            self._pool.shutdown(wait=False, cancel_futures=True)

    def to_frame(self) -> Any:
        """All that is left as a pandas DataFrame; see `dermafusion.to_frame`."""
        return to_frame(self)
