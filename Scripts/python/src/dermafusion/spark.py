"""Classifies the images of a Spark data frame, and by `python -m dermafusion.spark` a folder or a table of them.

Use it where one machine is not enough: on one machine, `Classifier.classify_many` does the same without Spark.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import _engine, _frame
from .errors import ArgumentError, DermaFusionError

#: The columns of results, with their types.
SCORES = _frame.columns(["result"])
# The part of a frame of photographs that is in memory at once; Spark's own limit is 10,000 rows.
_BATCH = {"spark.sql.execution.arrow.maxRecordsPerBatch": 64, "spark.sql.execution.arrow.maxBytesPerBatch": 64 << 20}


def classify(
    frame: Any, *, model: str | None = None, outputs: Sequence[str] = ("result",), language: str = "en"
) -> Any:
    """Makes of each row of a data frame what the model says of its image.

    frame: has a column `content` or `bytes` (binary: a file's content), as `spark.read.format("binaryFile")` gives it,
        and `path`, which then only names the image; or `path` alone (string: a file that every executor can read). The
        columns of the patient have a table's names and words: `age`, `sex`, `site`, `localization`, `age_approx` and
        others.
    model: a folder on every executor; None: the model in the package, which every executor has; `int8`: that in 8 bits.
    outputs: `result`: the classification; `features`: what `dermafusion embed` writes; `gradcam`: the map of the
        likeliest class before its negative part is cut off.
    language: of `summary`: "en", "de" or "fr". `disclaimer` stays English; `json` has its translation too.

    Returns a frame with `path`, `lesion_id` and `patient_id` (as far as they were there) and the columns of the
    outputs, `SCORES` for a result. An image that fails has a row with its `error`, and nulls; so has a row with a null
    for its image. Each row of the input is one row of the output.

    Of a frame without content the paths are looked through at once: one that is not of this machine's files is an
    error. With content, Spark hands over about 64 rows and 64 MB at a time: where the session says nothing else of
    `spark.sql.execution.arrow.maxRecordsPerBatch` and `maxBytesPerBatch`, they are set.
    """
    fields = {field.name: field.dataType for field in frame.schema.fields}
    if len(fields) < len(frame.columns):
        raise ArgumentError("the frame has columns of one name", "Give each column a name of its own.")
    plan = _frame.Plan({name: kind.typeName() for name, kind in fields.items()}, outputs, language)
    if plan.content:
        for name, limit in _BATCH.items():
            if frame.sparkSession.conf.get(name, None) is None:
                frame.sparkSession.conf.set(name, str(limit))
    else:
        remote = frame.where(frame["path"].rlike(_frame.REMOTE)).first()
        if remote is not None:
            raise _frame.remote(remote["path"])
    columns = {**{name: fields[name].simpleString() for name in plan.kept}, **plan.made}
    schema = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield from plan.table(model, batch).to_batches()

    return frame.select(*(f"`{name}`" for name in plan.read)).mapInArrow(run, schema)


def image_paths(folder: str | os.PathLike[str]) -> list[str]:
    """The images of a folder and of those below it, as `dermafusion classify FOLDER` finds them.

    What cannot be looked at or is left out is warned of.
    """
    found = _engine.answer("list_images", os.fsencode(os.path.abspath(folder)))
    for note in found["notes"]:
        warnings.warn(note, stacklevel=2)
    return list(found["images"])


def _read_input(session: Any, source: str) -> Any:
    remedy = "Give a folder of images, or a .csv or .parquet table with a column path."
    path = Path(source)
    if path.is_dir() and not source.rstrip("/").endswith(".parquet"):
        return session.createDataFrame([(name,) for name in image_paths(path)], "path string")
    if source.endswith(".csv"):
        frame = session.read.csv(source, header=True)
    elif source.rstrip("/").endswith(".parquet"):
        frame = session.read.parquet(source)
    else:
        raise ArgumentError(f"{source}: it is no folder and no table", remedy)
    if "path" not in frame.columns:
        raise ArgumentError(f"{source}: the table has no column path; it has {', '.join(frame.columns)}", remedy)
    doubled = frame.groupBy("path").count().where("`count` > 1").first()
    if doubled is not None:
        raise ArgumentError(f"{source}: {doubled['path']} is there {doubled['count']} times", "Name each image once.")
    nameless = frame.where("path is null").count()
    if nameless:
        raise ArgumentError(f"{source}: {nameless} rows have no path", "Give each row a path.")
    return frame


def write(
    session: Any,
    frame: Any,
    output: str,
    *,
    model: str | None = None,
    outputs: Sequence[str] = ("result",),
    chunk: int = 20_000,
) -> int:
    """Classifies what `output` does not have yet and appends it as Parquet, about `chunk` images at a time.

    A chunk that was interrupted is made again as far as it is not there; every path is written once. What is there
    must be of the same model and have the same columns. Of a frame with content, a chunk is some of its files: of a
    table some of its Parquet files, each read once.

    Returns how many images were left to do.
    """
    if "path" not in frame.columns:
        raise ArgumentError(
            f"the frame has no column path; it has {', '.join(frame.columns)}",
            "Name each image, so that it is known again.",
        )
    # Results come back in small batches, so that a process holds few images and a killed one loses little.
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "64")
    rest = frame
    if _has_rows(output):
        there = session.read.parquet(output)
        _require_alike(there, classify(frame.limit(0), model=model, outputs=outputs).columns, output, model)
        # Broadcast, because a join that sorts would move the photographs.
        rest = frame.join(there.select("path").hint("broadcast"), frame["path"] == there["path"], "left_anti")
    has_content = bool({"content", "bytes"} & set(frame.columns))
    if not has_content:
        # Worked out once; what a killed executor held of it is worked out again.
        rest = rest.persist()
    parts = rest.selectExpr("spark_partition_id() as part").groupBy("part").count().collect()
    sizes: list[int] = [row["count"] for row in parts]
    count = sum(sizes)
    cores = int(session.sparkContext.defaultParallelism)
    chunks = max(1, -(-count // chunk))
    # Tasks of a few hundred images: what a killed executor had not finished is done again by others.
    tasks = max(cores, min(64 * cores, count // chunks // 256))
    key = _file_path(rest) if has_content else "path"
    for index in range(chunks if count else 0):
        part = rest.where(f"pmod(xxhash64({key}), {chunks}) = {index}") if chunks > 1 else rest
        if not has_content or len(sizes) < chunks * cores:
            part = part.repartition(tasks, "path")
        writer = classify(part, model=model, outputs=outputs).write.mode("append")
        # The files of tasks are moved to their place when the chunk is done: what is there has no row twice.
        writer.option("mapreduce.fileoutputcommitter.algorithm.version", "1").parquet(output)
    rest.unpersist()
    return count


def _require_alike(there: Any, wanted: list[str], output: str, model: str | None) -> None:
    """Raises where results that are there are of another model or other outputs: no later reader could tell."""
    remedy = "Write to another folder, or ask for what is there."
    if set(there.columns) != set(wanted):
        differing = ", ".join(sorted(set(there.columns) ^ set(wanted)))
        raise ArgumentError(f"{output}: its columns are not those that are asked for: {differing}", remedy)
    first = there.where("model_sha256 is not null").first()
    if first is not None and first["model_sha256"] != _frame.opened(model).description["model"]["sha256"]:
        raise ArgumentError(f"{output}: its results are of another model, {first['model_sha256'][:12]}...", remedy)


def _file_path(frame: Any) -> str:
    """A key of a row's file that needs no reading of it, where rows come from files; otherwise the path."""
    from pyspark.errors import AnalysisException

    try:
        return "_metadata.file_path" if frame.select("_metadata.file_path").columns else "path"
    except AnalysisException:
        return "path"


def _has_rows(output: str) -> bool:
    return os.path.isdir(output) and any(name.endswith(".parquet") for name in os.listdir(output))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dermafusion.spark", description="Classifies the images of a folder or a table."
    )
    parser.add_argument("input", help="a folder of images, or a .csv or .parquet table with a column path")
    parser.add_argument("--output", required=True, metavar="DIR.parquet", help="what is there is gone on with")
    parser.add_argument("--model", metavar="DIR", help="a folder on every executor; the package's model when left out")
    parser.add_argument(
        "--master", metavar="URL", help="Spark's master; as spark-submit says, else all cores of this machine"
    )
    parser.add_argument("--chunk", type=int, default=20_000, metavar="N", help="images between two commits (20000)")
    parser.add_argument(
        "--outputs", nargs="+", default=["result"], choices=list(_frame.OUTPUTS), help="what is made (result)"
    )
    options = parser.parse_args(arguments)
    if options.chunk < 1:
        parser.error("--chunk must be at least 1")
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        print("error: pyspark is not installed; install it: pip install dermafusion[spark]", file=sys.stderr)
        return 1
    builder = SparkSession.builder.appName("dermafusion")
    if options.master:
        builder = builder.master(options.master)
    elif "MASTER" not in os.environ and "PYSPARK_GATEWAY_PORT" not in os.environ:
        builder = builder.master("local[*]")
    # On this machine, the Python that runs this; on others what Spark is told there.
    if (options.master or "local").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = builder.getOrCreate()
    try:
        if session.sparkContext.master.startswith("local"):
            # Else a wrong model would be found by each worker, and told in a traceback of Java's.
            _frame.opened(options.model)
        frame = _read_input(session, options.input)
        settings = {"model": options.model, "outputs": options.outputs, "chunk": options.chunk}
        count = write(session, frame, options.output, **settings)
        written = session.read.parquet(options.output) if _has_rows(options.output) else None
        failed = written.where("error is not null").count() if written is not None else 0
    except DermaFusionError as error:
        print(f"error: {error}\n{error.remedy}", file=sys.stderr)
        return 1
    finally:
        session.stop()
    print(f"{count} images classified now; {failed} rows of {options.output} have an error.", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    # The functions that executors get must be found by the module's name.
    from dermafusion.spark import main as run_main

    sys.exit(run_main())
