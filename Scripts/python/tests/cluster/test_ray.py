"""Ray Data with actors of its own, one of them killed while it works."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pytest
import ray
from conftest import IMAGES, Photographs

from dermafusion import ArgumentError
from dermafusion.ray import Classify


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    # Two actors, and room for the tasks that read.
    ray.init(num_cpus=4, include_dashboard=False, logging_level="ERROR", object_store_memory=200 << 20)
    yield
    ray.shutdown()


def actors() -> list[int]:
    """The processes of this user's actors."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if command.startswith(b"ray::MapWorker(MapBatches(Classify)).submit"):
                found.append(int(entry.name))
    return found


def classified(dataset: "ray.data.Dataset", *, concurrency: int = 2, **settings: object) -> "ray.data.Dataset":
    return dataset.map_batches(
        Classify, fn_constructor_kwargs=settings, batch_size=8, num_cpus=1, concurrency=concurrency
    )


def test_an_actor_that_is_killed_loses_and_doubles_no_row(photographs: Photographs) -> None:
    paths, contents = photographs.rows()
    rows = pyarrow.table({"path": paths, "bytes": pyarrow.array(contents, pyarrow.binary()), "patient_id": paths})
    killed: list[int] = []

    def kill_one() -> None:
        while not actors():
            time.sleep(0.02)
        killed.append(actors()[0])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_one, daemon=True)
    killer.start()
    dataset = ray.data.from_arrow([rows.slice(start, 20) for start in range(0, len(paths), 20)])
    found = classified(dataset, model="int8").take_all()
    killer.join(5)
    assert killed, "nothing was killed"
    assert sorted(row["patient_id"] for row in found) == sorted(paths)
    photographs.check({row["path"]: row for row in found}, len(found))


def test_files_are_read_as_ray_reads_them(photographs: Photographs, small_model: Path) -> None:
    read = ray.data.read_binary_files(str(photographs.folder), include_paths=True)
    found = classified(read, model=str(small_model), outputs=["features"], concurrency=1)
    assert found.schema().names == ["path", "image_sha256", "model_sha256", "features", "error"]
    assert found.count() == len(list(photographs.folder.iterdir()))


def test_pixels_are_refused_in_one_error(small_model: Path) -> None:
    pixels = ray.data.read_images(str(IMAGES / "jpeg_420.jpg"))
    with pytest.raises(ray.exceptions.RayError, match="decoded pixels") as caught:
        classified(pixels, model=str(small_model), concurrency=1).take_all()
    assert isinstance(caught.value.__cause__, ArgumentError) or "ArgumentError" in str(caught.value)
