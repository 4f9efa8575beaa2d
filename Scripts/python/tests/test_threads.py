"""Threads, processes and interrupts: no result is lost, nothing waits for ever."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import pixels

import dermafusion
from dermafusion import Classifier


def program(text: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs a program of its own; one that does not end within a minute has stopped for ever."""
    head = "import faulthandler; faulthandler.dump_traceback_later(60, exit=True)\n"
    command = [sys.executable, "-c", head + textwrap.dedent(text), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def child(work: Callable[[], bool]) -> int:
    """The exit status of a child of a fork: 0 where `work` is true."""
    process = os.fork()
    if process == 0:
        signal.alarm(30)
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_readers_go_on_when_the_main_thread_has_ended(small_model: Path) -> None:
    run = program(
        """
        import sys, threading, numpy
        from dermafusion import Classifier
        images = [numpy.full((40, 40, 3), shade, numpy.uint8) for shade in range(40)]
        results = Classifier(sys.argv[1]).classify_many(images, threads=1)
        def read():
            for result in results:
                print("a result")
        for _ in range(3):
            threading.Thread(target=read).start()
        """,
        small_model,
    )
    assert (run.returncode, run.stderr, run.stdout.count("a result")) == (0, "", 40)


def test_results_that_nobody_reads_do_not_hold_up_the_end(small_model: Path) -> None:
    run = program(
        """
        import itertools, sys, numpy
        from dermafusion import Classifier
        results = Classifier(sys.argv[1]).classify_many(itertools.repeat(numpy.zeros((40, 40, 3), numpy.uint8)))
        next(results)
        """,
        small_model,
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_the_garbage_collector_may_come_at_any_time(small_model: Path) -> None:
    # It ends results on whichever thread it runs, here on the one that begins their images, at each of its steps.
    run = program(
        """
        import gc, sys, threading, numpy
        from dermafusion import Classifier
        classifier = Classifier(sys.argv[1])
        gc.disable()
        for step in range(1, 60):
            kept, dropped, ended = [], threading.Event(), threading.Event()
            class Last:
                def __del__(self):
                    ended.set()
            def images():
                yield numpy.zeros((40, 40, 3), numpy.uint8)
                yield numpy.zeros((40, 40, 3), numpy.uint8)
                dropped.wait()
                gc.set_threshold(step, 1, 1)
                gc.enable()
                yield numpy.zeros((40, 40, 3), numpy.uint8)
                gc.disable()
                last = Last()
                yield numpy.zeros((40, 40, 3), numpy.uint8)
            gc.collect()
            results = classifier.classify_many(images(), threads=1)
            next(results)
            next(results)
            results.cycle = results
            del results
            dropped.set()
            threading.Event().wait(0.01)
            gc.collect()
        # A pool that waits for a lock of the collected one would not begin this.
        from concurrent.futures import ThreadPoolExecutor
        print(ThreadPoolExecutor().submit(lambda: "begun").result())
        """,
        small_model,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "begun\n", "")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_results_begun_before_a_fork_are_refused_in_the_child(small_model: Path) -> None:
    results = Classifier(small_model).classify_many([pixels(seed) for seed in range(40)], threads=1)

    def is_refused() -> bool:
        try:
            return not list(results)
        except dermafusion.ClosedError as error:
            return "forked" in str(error)

    first = next(results)
    assert child(is_refused) == 0
    assert len([first, *results]) == 40


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_of_a_fork_may_drop_results_whose_lock_is_held(small_model: Path) -> None:
    results = Classifier(small_model).classify_many([pixels(1)], threads=1)
    held = [results]

    def drops() -> bool:
        held[0].close()
        held.clear()
        return True

    # As another thread of the parent holds it in the moment of the fork.
    locked, release = threading.Event(), threading.Event()

    def hold() -> None:
        with results._feed._changed:
            locked.set()
            release.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait(60)
    try:
        assert child(drops) == 0
    finally:
        release.set()
        holder.join()


def test_a_classifier_that_is_closed_is_no_error_of_the_images(small_model: Path) -> None:
    classifier = Classifier(small_model)
    read = threading.Event()

    def images() -> Iterator[np.ndarray]:
        yield pixels(1)
        read.wait(60)
        yield from (pixels(seed) for seed in range(20))

    results = classifier.classify_many(images(), threads=1, errors="return")
    next(results)
    classifier.close()
    read.set()
    with pytest.raises(dermafusion.ClosedError):
        next(results)
    assert next(results, None) is None


@pytest.mark.parametrize("is_open", [False, True])
def test_a_classifier_that_another_thread_closes_meanwhile_is_closed(small_model: Path, is_open: bool) -> None:
    class Closed(Classifier):
        """Another thread closes it as soon as this one has seen that it is not."""

        @property
        def _is_closed(self) -> bool:
            was = self.__dict__["closed"]
            if not was and self.__dict__.get("is_watched"):
                self.close()
            return was

        @_is_closed.setter
        def _is_closed(self, value: bool) -> None:
            self.__dict__["closed"] = value

    made = Closed.__new__(Closed)
    made._set(str(small_model), 1, "en")
    if is_open:
        assert made.classes
    made.__dict__["is_watched"] = True
    for _ in range(2):
        try:
            assert made.classes
        except dermafusion.ClosedError:
            pass
        # A closed one must not keep its model.
        assert made._engine is None


def test_an_error_of_the_iterable_costs_other_readers_nothing(small_model: Path) -> None:
    # One worker: the reader that meets the error is the last of five, while the others' images wait.
    classifier = Classifier(small_model)

    def images() -> Iterator[np.ndarray]:
        yield from (pixels(seed) for seed in range(2))
        raise OSError("the disk is gone")

    for _ in range(10):
        results = classifier.classify_many(images(), threads=1)
        found: list[object] = []

        def read() -> None:
            try:
                found.extend(results)  # noqa: B023
            except OSError as error:
                found.append(error)  # noqa: B023

        readers = [threading.Thread(target=read) for _ in range(5)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(60)
        assert sorted(type(item).__name__ for item in found) == ["Classification", "Classification", "OSError"]


def test_an_interrupt_ends_the_results(small_model: Path) -> None:
    # Whatever was taken when it came is lost; a caller that reads on must not take the rest for all.
    is_reading = threading.Event()

    def images() -> Iterator[np.ndarray]:
        yield pixels(1)
        is_reading.wait(60)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        threading.Event().wait(0.5)
        yield from (pixels(seed) for seed in range(20))

    results = Classifier(small_model).classify_many(images(), threads=1)
    next(results)
    take = results._feed.take

    def begin_to_take() -> object:
        is_reading.set()  # an interrupt from here on comes while a result is read
        return take()

    results._feed.take = begin_to_take
    with pytest.raises(KeyboardInterrupt):
        next(results)
    assert next(results, None) is None


def test_what_a_handle_stands_for_lasts_to_the_end_of_the_process(small_model: Path) -> None:
    run = program(
        """
        import atexit, sys
        @atexit.register
        def last():
            print(heatmap.picture() == picture, classifier.classify(image).prediction is not None)
        import numpy
        from dermafusion import Classifier
        image = numpy.random.default_rng(1).integers(0, 255, (90, 90, 3)).astype(numpy.uint8)
        classifier = Classifier(sys.argv[1])
        heatmap = classifier.heatmap(image)
        picture = heatmap.picture()
        """,
        small_model,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "True True\n", "")
