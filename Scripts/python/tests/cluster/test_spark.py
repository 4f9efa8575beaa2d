"""Spark with processes of its own, one of them killed while it works."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from conftest import IMAGES, Photographs, pixels
from pyspark.sql import SparkSession, functions

from dermafusion import ArgumentError, Classifier, spark

COUNT = 5_200


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
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


@contextmanager
def killing_one(output: str) -> Iterator[None]:
    """Kills an executor in the middle: when the first tasks have written their files."""
    killed: list[int] = []

    def kill_one() -> None:
        while not list(Path(output).glob("_temporary/**/part-*.parquet")):
            time.sleep(0.02)
        killed.append(executors()[0])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_one, daemon=True)
    killer.start()
    yield
    killer.join(5)
    assert killed, "nothing was killed"


def test_no_row_is_lost_or_doubled_when_an_executor_is_killed(
    folder: Path, small_model: Path, tmp_path: Path, session: SparkSession
) -> None:
    output = str(tmp_path / "results.parquet")
    names = list(spark.image_paths(folder))
    assert len(names) == COUNT
    frame = session.createDataFrame([(name, 40.0) for name in names], "path string, age double")
    with killing_one(output):
        assert spark.write(session, frame, output, model=str(small_model), chunk=3_000) == COUNT
    written = session.read.parquet(output)
    assert sorted(row.path for row in written.select("path").collect()) == sorted(names)
    errors = written.where("error is not null").collect()
    assert [Path(row.path).name for row in errors] == ["broken.png"]
    assert errors[0].json is None and "broken.png" in errors[0].error
    classifier = Classifier(small_model)
    for row in written.where("error is null").orderBy("path").limit(40).collect():
        assert row.json == classifier.classify(row.path, age=40).json
        assert row.disclaimer


def test_an_interrupted_run_goes_on(folder: Path, small_model: Path, tmp_path: Path, session: SparkSession) -> None:
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


def test_bytes_and_metadata_are_columns(small_model: Path, session: SparkSession) -> None:
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


def test_a_frame_without_images_is_refused(session: SparkSession) -> None:
    with pytest.raises(ArgumentError, match="no column path, content or bytes"):
        spark.classify(session.range(3))
    with pytest.raises(ArgumentError, match="bytes is of type string"):
        spark.classify(session.createDataFrame([("a",)], "bytes string"))


def saved(photographs: Photographs, folder: Path) -> str:
    """A Parquet of several files, as Spark's binaryFile gives their columns, with rows of which there is no file."""
    paths, contents = photographs.rows()
    table = pyarrow.table({"path": paths, "content": pyarrow.array(contents, pyarrow.binary()), "patient_id": paths})
    folder.mkdir()
    for start in range(0, len(paths), 20):
        pyarrow.parquet.write_table(table.slice(start, 20), folder / f"{start:03}.parquet")
    return str(folder)


def test_each_photograph_is_one_row(photographs: Photographs, tmp_path: Path, session: SparkSession) -> None:
    output = str(tmp_path / "results.parquet")
    frame = session.read.parquet(saved(photographs, tmp_path / "frame.parquet"))
    with killing_one(output):
        assert spark.write(session, frame, output, model="int8", chunk=100) == 200
    rows = session.read.parquet(output).collect()
    photographs.check({row.path: row.asDict() for row in rows}, len(rows))
    assert all(row.patient_id == row.path for row in rows)


def test_spark_s_source_of_files_is_read(photographs: Photographs, session: SparkSession) -> None:
    frame = session.read.format("binaryFile").load(str(photographs.folder))
    named = frame.withColumn("path", functions.regexp_replace("path", "^file:", ""))
    found = {row.path: row.json for row in spark.classify(named, model="int8").collect()}
    assert {path: text for path, text in found.items() if text} == photographs.json
    assert len(found) == 198
    # The three forms in which Spark writes a path, without the content.
    for path in ("path", "_metadata.file_path", functions.input_file_name()):
        column = functions.col(path) if isinstance(path, str) else path
        rows = spark.classify(frame.select(column.alias("path")).limit(30), model="int8").collect()
        assert all(row.error is None or Photographs.CUT.split()[0] in row.error for row in rows)
    remote = frame.select(functions.regexp_replace("path", "^file:", "s3a://bucket").alias("path"))
    with pytest.raises(ArgumentError, match="s3a://bucket.*no column content"):
        spark.classify(remote)
    pixels_of_spark = session.read.format("image").load(str(photographs.folder))
    with pytest.raises(ArgumentError, match="decoded pixels"):
        spark.classify(pixels_of_spark)
    with pytest.raises(ArgumentError, match="columns of one name"):
        spark.classify(frame.select("path", "path", "content"))


def test_a_chunk_reads_its_own_files(photographs: Photographs, tmp_path: Path, session: SparkSession) -> None:
    stored = saved(photographs, tmp_path / "frame.parquet")
    files = session.read.format("binaryFile").load(str(photographs.folder))
    for frame, count in ((session.read.parquet(stored), 10), (files, 198)):
        key = spark._file_path(frame)
        assert key == "_metadata.file_path"
        read = 0
        for index in range(4):
            part = frame.where(f"pmod(xxhash64({key}), 4) = {index}")
            part.write.format("noop").mode("overwrite").save()
            plan = part.select("content")._jdf.queryExecution().executedPlan()
            plan.execute().count()
            read += plan.collectLeaves().head().metrics().apply("numFiles").value()
        assert read == count, "each file is read in one chunk"
    assert spark._file_path(session.createDataFrame([("a", b"b")], "path string, content binary")) == "path"


def test_a_job_that_was_killed_goes_on(photographs: Photographs, tmp_path: Path) -> None:
    output = tmp_path / "results.parquet"
    command = [sys.executable, "-m", "dermafusion.spark", saved(photographs, tmp_path / "frame.parquet")]
    command += ["--output", str(output), "--model", "int8", "--chunk", "50", "--master", "local[2]"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as job:
        while not list(output.glob("part-*.parquet")):
            assert job.poll() is None, "it ended before it was killed"
            time.sleep(0.05)
        # Python and Spark's Java.
        os.killpg(job.pid, signal.SIGKILL)
    before = pyarrow.parquet.read_table([str(file) for file in output.glob("part-*.parquet")]).num_rows
    assert 0 < before < 200
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1 and f"{200 - before} images classified now; 3 rows" in run.stderr, run.stderr[-2000:]
    rows = pyarrow.parquet.read_table(output).to_pylist()
    photographs.check({row["path"]: row for row in rows}, len(rows))


def test_results_of_another_kind_are_not_appended_to(
    folder: Path, small_model: Path, tmp_path: Path, session: SparkSession
) -> None:
    output = str(tmp_path / "results.parquet")
    names = list(spark.image_paths(folder))[:20]
    frame = session.createDataFrame([(name, "p") for name in names], "path string, patient_id string")
    assert spark.write(session, frame.limit(10), output, model=str(small_model)) == 10
    for other, words in (({"outputs": ["features"]}, "abstain, .*features"), ({"model": "int8"}, "another model")):
        with pytest.raises(ArgumentError, match=words):
            spark.write(session, frame, output, **{"model": str(small_model), **other})
    with pytest.raises(ArgumentError, match="asked for: patient_id"):
        spark.write(session, frame.select("path"), output, model=str(small_model))
    assert session.read.parquet(output).count() == 10


def test_the_command_classifies_a_folder(folder: Path, small_model: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    command = [sys.executable, "-m", "dermafusion.spark", str(folder / "3"), "--output", str(output)]
    run = subprocess.run([*command, "--model", str(small_model)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    assert pyarrow.parquet.read_table(output).num_rows == len(list((folder / "3").iterdir()))
    refused = subprocess.run([*command[:3], str(tmp_path / "no"), *command[4:]], capture_output=True, text=True)
    assert refused.returncode == 1 and "no folder and no table" in refused.stderr
    missing = subprocess.run([*command, "--model", str(tmp_path / "no")], capture_output=True, text=True)
    assert missing.returncode == 1 and f"error: {tmp_path}/no: there is no such model folder" in missing.stderr
    assert "Traceback" not in missing.stderr
