"""Spark with processes of its own, one of them killed while it works."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import IMAGES, IS_QUICK, pixels

from dermafusion import ArgumentError, Classifier

pyspark = pytest.importorskip("pyspark")
pytestmark = pytest.mark.skipif(os.environ.get("DERMAFUSION_SPARK") != "1", reason="Spark takes minutes")

COUNT = 5_200


@pytest.fixture(scope="module")
def session() -> Iterator[object]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    # By which the test knows its own processes.
    os.environ["DERMAFUSION_TEST"] = str(os.getpid())
    made = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .appName("dermafusion-test")
        .config("spark.executor.memory", "768m")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.network.timeout", "600s")
        .getOrCreate()
    )
    yield made
    made.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images that differ in their first pixel, and a file that is not an image."""
    made = tmp_path_factory.mktemp("images")
    content = pixels(1, 64, 64)
    for index in range(COUNT - 1):
        content[0, 0] = (index % 256, index // 256, 0)
        name = made / f"{index % 7}" / f"image {index:05}.ppm"
        name.parent.mkdir(exist_ok=True)
        name.write_bytes(b"P6\n64 64\n255\n" + content.tobytes())
    (made / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    return made


def executors() -> list[int]:
    """The processes in which Spark's executors run, of this session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if any(word.endswith(b"CoarseGrainedExecutorBackend") for word in words):
                if f"DERMAFUSION_TEST={os.getpid()}".encode() in environment.split(b"\0"):
                    found.append(int(entry.name))
    return found


def test_no_row_is_lost_or_doubled_when_an_executor_is_killed(
    folder: Path, small_model: Path, tmp_path: Path, session: object
) -> None:
    from dermafusion import spark

    output = str(tmp_path / "results.parquet")
    names = list(spark.image_paths(folder))
    assert len(names) == COUNT
    frame = session.createDataFrame([(name, 40.0) for name in names], "path string, age double")
    killed: list[int] = []

    def kill_one() -> None:
        # In the middle: when the first tasks have written their files.
        while not list(Path(output).glob("_temporary/**/part-*.parquet")):
            time.sleep(0.02)
        killed.append(executors()[0])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_one, daemon=True)
    killer.start()
    assert spark.write(session, frame, output, model=str(small_model), chunk=3_000) == COUNT
    killer.join(5)
    assert killed, "nothing was killed"
    written = session.read.parquet(output)
    assert sorted(row.path for row in written.select("path").collect()) == sorted(names)
    errors = written.where("error is not null").collect()
    assert [Path(row.path).name for row in errors] == ["broken.png"]
    assert errors[0].json is None and "broken.png" in errors[0].error
    classifier = Classifier(small_model)
    for row in written.where("error is null").orderBy("path").limit(40).collect():
        assert row.json == classifier.classify(row.path, age=40).json
        assert row.disclaimer


def test_an_interrupted_run_goes_on(folder: Path, small_model: Path, tmp_path: Path, session: object) -> None:
    from dermafusion import spark

    output = str(tmp_path / "results.parquet")
    names = list(spark.image_paths(folder))[:200]
    frame = session.createDataFrame([(name,) for name in names], "path string")
    assert spark.write(session, frame.limit(0), output, model=str(small_model)) == 0
    assert spark.write(session, session.createDataFrame([(n,) for n in names[:80]], "path string"), output,
                       model=str(small_model)) == 80  # fmt: skip
    # As a driver that died leaves it: a task that was never committed.
    leftover = Path(output) / "_temporary/0/_temporary/attempt_1/part-00000.parquet"
    leftover.parent.mkdir(parents=True)
    leftover.write_bytes(b"half a file")
    assert spark.write(session, frame, output, model=str(small_model)) == 120
    assert spark.write(session, frame, output, model=str(small_model)) == 0
    rows = session.read.parquet(output).select("path").collect()
    assert sorted(row.path for row in rows) == sorted(names)


def test_bytes_and_metadata_are_columns(small_model: Path, session: object) -> None:
    from dermafusion import spark

    file = (IMAGES / "jpeg_420.jpg").read_bytes()
    rows = [("a", file, 55, "male", None), (None, file, None, None, "back"), ("c", None, 3, None, None)]
    rows += [("d", file, 300, None, None), ("e", file, 3, "robot", None), (None, None, None, None, None)]
    frame = session.createDataFrame(rows, "path string, bytes binary, age int, sex string, site string")
    found = spark.classify(frame, model=str(small_model)).collect()
    classifier = Classifier(small_model)
    by_json = {row.json for row in found if row.error is None}
    assert by_json == {
        classifier.classify(file, age=55, sex="male", name="a").json,
        classifier.classify(file, site="back", name="").json,
    }
    errors = sorted(row.error for row in found if row.error is not None)
    assert len(errors) == 4
    assert any("'300'" in error for error in errors) and any("'robot'" in error for error in errors)


def test_a_frame_without_images_is_refused(session: object) -> None:
    from dermafusion import spark

    with pytest.raises(ArgumentError, match="no column path or bytes"):
        spark.classify(session.range(3))
    with pytest.raises(ArgumentError, match="bytes is of type string"):
        spark.classify(session.createDataFrame([("a",)], "bytes string"))


@pytest.mark.skipif(IS_QUICK, reason="starts Spark again")
def test_the_command_classifies_a_folder(folder: Path, small_model: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    output = tmp_path / "out.parquet"
    command = [sys.executable, "-m", "dermafusion.spark", str(folder / "3"), "--output", str(output)]
    run = subprocess.run([*command, "--model", str(small_model)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    assert len(pandas.read_parquet(output)) == len(list((folder / "3").iterdir()))
    refused = subprocess.run([*command[:3], str(tmp_path / "no"), *command[4:]], capture_output=True, text=True)
    assert refused.returncode == 1 and "no folder and no table" in refused.stderr
