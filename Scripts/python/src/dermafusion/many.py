"""Many images side by side."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sized
from concurrent.futures import CancelledError, Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from . import _input, _table
from .errors import FAULTS, ArgumentError, ClosedError, DermaFusionError
from .result import Classification, Heatmap, to_frame

if TYPE_CHECKING:
    from .classifier import Classifier


class Frame(Protocol):
    """A DataFrame, of pandas or another library."""

    @property
    def columns(self) -> Any: ...


#: A mapping for each image, or a table: the path of a CSV file, a DataFrame, or a mapping of columns.
Metadata: TypeAlias = "Iterable[Mapping[str, Any]] | Mapping[str, Iterable[Any]] | Frame | str | os.PathLike[str]"

_KEYS = ("age", "sex", "site")
# Stands for the metadata of an image where there is none left.
_NO_ROW = object()


class _Failed:
    """An error of the caller's own iterable, in the place of an image."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Feed:
    """Takes images from the caller's iterable on a thread of its own, and begins a few ahead on its workers.

    A slow iterable does not delay finished results, and memory does not grow with the number of images. A
    ThreadPoolExecutor would not do: it refuses work once the main thread has ended, even while other threads read, and
    shutting it down from the garbage collector can wait for ever for a lock of the same thread.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Any, Future[Any]] | _Failed] = deque()
        self._jobs: SimpleQueue[tuple[Any, Any, Future[Any]] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._has_ended = False
        self._is_closed = False
        self._process = os.getpid()

    def start(self, jobs: Iterator[tuple[Any, Any]], work: Any) -> None:
        _feeds.add(self)
        threading.Thread(target=self._run, args=(jobs, work), name="dermafusion-feed", daemon=True).start()

    def _run(self, jobs: Iterator[tuple[Any, Any]], work: Any) -> None:
        try:
            while self._has_room():
                job = next(jobs, None)
                if job is None:
                    break
                self._begin(*job, work)
        except BaseException as error:
            with self._changed:
                self._waiting.append(_Failed(error))
        finally:
            with self._changed:
                self._has_ended = True
                self._changed.notify_all()
            # Behind all jobs: a worker that takes it hands it on.
            self._jobs.put(None)

    def _has_room(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or len(self._waiting) < 2 * self.workers)
            return not self._is_closed

    def _begin(self, image: Any, row: Any, work: Any) -> None:
        if len(self._threads) < self.workers:
            thread = threading.Thread(target=self._work, args=(work,), name="dermafusion", daemon=True)
            thread.start()
            self._threads.append(thread)
        future: Future[Any] = Future()
        with self._changed:
            if self._is_closed:
                return
            self._waiting.append((image, future))
            self._jobs.put((image, row, future))
            self._changed.notify_all()

    def _work(self, work: Any) -> None:
        while (job := self._jobs.get()) is not None:
            self._compute(work, *job)
            del job  # an image is not kept while the next one is waited for
        self._jobs.put(None)

    def _compute(self, work: Any, image: Any, row: Any, future: Future[Any]) -> None:
        if self._is_closed:
            future.cancel()
            return
        try:
            future.set_result(work(image, row))
        except BaseException as error:
            future.set_exception(error)
            del future  # which holds the error, whose traceback holds this frame

    def take(self) -> tuple[Any, Future[Any]] | _Failed | None:
        """The next image with its result to come; None behind the last one. Each is given to one thread."""
        if self._process != os.getpid():
            raise ClosedError(
                "the results are computed in the process that this one was forked from", "Read them there."
            )
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._has_ended or bool(self._waiting))
            if self._is_closed or not self._waiting:
                return None
            taken = self._waiting.popleft()
            self._changed.notify_all()
            return taken

    def close(self, *, waits: bool) -> None:
        """Begins no more images, and may wait for those under way."""
        if self._process != os.getpid():
            return  # it has no threads here, and a lock may be held for ever
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            self._changed.notify_all()
        self._jobs.put(None)
        if waits:
            for thread in list(self._threads):
                thread.join()


_feeds: weakref.WeakSet[_Feed] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """No thread computes while the process goes. The threads that the caller started have ended before."""
    for feed in list(_feeds):
        feed.close(waits=True)


class Classifications(Iterator[Any]):
    """The results of `Classifier.classify_many`, in the order of the images, each as soon as it is there.

    Read it once, or close it. Several threads may read one: each result goes to one of them. The iterables of images
    and metadata are read on a thread of their own.
    """

    def __init__(
        self,
        classifier: Classifier,
        images: Iterable[Any],
        metadata: Metadata | None,
        threads: int,
        tta: bool,
        errors: str,
        features: bool = False,
        *,
        explains: bool = False,
        language: str = "en",
    ) -> None:
        if isinstance(images, (str, bytes, bytearray, os.PathLike)):
            raise ArgumentError("the images are one path or one file", "Give a list of images.")
        if errors not in ("raise", "return"):
            raise ArgumentError(f"errors is {errors!r}", "Give 'raise' or 'return'.")
        if _table.is_series(metadata):
            metadata = _table.of_series(metadata)
        rows: Any = metadata
        if _table.is_table(metadata):
            images = list(images)
            rows = _table.read(metadata, images)
        elif isinstance(images, Sized) and isinstance(metadata, Sized) and len(metadata) > len(images):
            raise _more_metadata()  # before any work
        workers = threads or classifier._processors()
        is_alone = workers > 1 or classifier._threads == 1
        self._returns_errors = errors == "return"
        self._has_features = features
        self._feed = _Feed(workers)

        def work(image: Any, row: Any) -> Classification | Heatmap:
            if row is _NO_ROW:
                raise ArgumentError("there is less metadata than images", "Give a mapping for each image.")
            if isinstance(row, DermaFusionError):
                raise row
            age, sex, site = _known(row)
            if explains:
                patient = (image, age, sex, site)
                return classifier._explain(*patient, None, None, None, features, None, is_alone, None, language)
            return classifier._classify(image, age, sex, site, tta, features, None, is_alone, None, language)

        self._feed.start(_paired(iter(images), None if rows is None else iter(rows)), work)

    def __next__(self) -> Any:
        try:
            job = self._feed.take()
            if isinstance(job, tuple):
                return self._result(*job)
        except CancelledError:
            # Another thread that reads the results has closed them.
            raise StopIteration from None
        except BaseException:
            # An interrupt too, which may have lost a result: no others follow.
            self.close()
            raise
        if isinstance(job, _Failed):
            # Other threads still get the results of the images that they took.
            raise job.error
        raise StopIteration

    def _result(self, image: Any, future: Future[Any]) -> Any:
        try:
            return future.result()
        except DermaFusionError as error:
            if not self._returns_errors or isinstance(error, (ArgumentError, *FAULTS)):
                raise
            error.image = _input.name_of(image)
            return error

    def close(self) -> None:
        """Begins no more images and waits for those under way."""
        self._feed.close(waits=True)

    def __enter__(self) -> Classifications:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_feed"):
            self._feed.close(waits=False)

    def to_frame(self) -> Any:
        """All that is left as a pandas DataFrame; see `dermafusion.to_frame`."""
        return to_frame(self)

    def to_arrow(self) -> Any:
        """All that is left as a pyarrow Table: the columns of Spark's frame, with `features` where they were asked for.

        An exception, as `errors="return"` gives it, is a row with its message in `error`.
        """
        from ._frame import collected

        return collected(self, ["result", "features"] if self._has_features else ["result"])


def _paired(images: Iterator[Any], rows: Iterator[Mapping[str, Any]] | None) -> Iterator[tuple[Any, Any]]:
    """Each image with its row of metadata."""
    for image in images:
        yield image, {} if rows is None else next(rows, _NO_ROW)
    if rows is not None and next(rows, _NO_ROW) is not _NO_ROW:
        raise _more_metadata()


def _more_metadata() -> ArgumentError:
    return ArgumentError("there is more metadata than images", "Give one mapping for each image, in their order.")


def _known(row: Mapping[str, Any] | None) -> tuple[Any, ...]:
    if row is None:
        return (None,) * len(_KEYS)
    if _table.is_series(row):
        row = dict(row.items())
    if not isinstance(row, Mapping):
        raise ArgumentError(
            f"the metadata of an image is of type {type(row).__name__}", "Give a mapping for each image."
        )
    if any(key not in _KEYS or isinstance(value, str) for key, value in row.items()):
        row = _table.row(row)
    return tuple(row.get(key) for key in _KEYS)
