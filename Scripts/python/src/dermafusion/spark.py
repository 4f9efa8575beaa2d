"""Classifies the images of a Spark data frame, and by `python -m dermafusion.spark` a folder or a table of them.

Use it where one machine is not enough: on one machine, `Classifier.classify_many` does the same without Spark.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import _engine, _table
from .classifier import Classifier
from .errors import ArgumentError, DermaFusionError

SCORES = {
    "image_sha256": "string",
    "model_sha256": "string",
    "prediction": "string",
    "probability": "float",
    "risk": "string",
    "concern": "string",
    "urgent": "boolean",
    "confidence": "string",
    "abstain": "boolean",
    "probabilities": "map<string,float>",
    "summary": "string",
    "disclaimer": "string",
    "json": "string",
    "error": "string",
}
# One for each process of an executor, kept as long as the process: Spark starts one process for each core.
_classifiers: dict[str | None, Classifier] = {}


def classify(frame: Any, *, model: str | None = None) -> Any:
    """Adds to each row of a data frame what the model makes of its image.

    frame: has a column `path` (string: a file that every executor can read) or `bytes` (binary: a file's content), or
        both: then `path` names the image. The columns of the patient have a table's names and words: `age`, `sex`,
        `site`, `localization`, `age_approx` and others.
    model: a folder on every executor; None: the model in the package, which every executor has.

    Returns a frame with `path` (if it was there) and the columns of `SCORES`. An image that fails has a row with its
    `error`, and nulls; so has a row without a path or bytes. Each row of the input is one row of the output.
    """
    names = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    remedy = "Give a column path (string) or bytes (binary), and age, sex and site where they are known."
    if "path" not in names and "bytes" not in names:
        raise ArgumentError(f"the frame has no column path or bytes; it has {', '.join(names)}", remedy)
    for name, expected in (("path", "string"), ("bytes", "binary")):
        if names.get(name) not in (None, "void", expected):
            raise ArgumentError(f"the column {name} is of type {names[name]}, not {expected}", remedy)
    wanted = [f"`{name}`" for name in ("path", "bytes") if name in names]
    # As texts, so that an age such as 85+ is no null, and a missing number no NaN.
    known = _table.patient_columns(name for name in names if name not in ("path", "bytes"))
    wanted += [f"cast(`{name}` as string) as `{name}`" for name in known]
    columns = {**({"path": "string"} if "path" in names else {}), **SCORES}
    schema = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        return _classify_batches(batches, model, known, list(columns))

    return frame.selectExpr(*wanted).mapInPandas(run, schema)


def _classify_batches(batches: Iterator[Any], model: str | None, known: list[str], columns: list[str]) -> Iterator[Any]:
    import pandas

    classifier = _classifiers.get(model)
    if classifier is None:
        # The other cores have processes of their own.
        classifier = _classifiers[model] = Classifier(model, threads=1)
    for batch in batches:
        rows = [_row(classifier, row, known) for row in batch.to_dict("records")]
        # Plain objects: pandas' own texts come in chunks, which Spark does not take.
        values = {name: pandas.Series([row.get(name) for row in rows], dtype=object) for name in columns}
        yield pandas.DataFrame(values, columns=columns)


def _row(classifier: Classifier, row: dict[str, Any], known: list[str]) -> dict[str, Any]:
    path = row.get("path") if isinstance(row.get("path"), str) else None
    content = row.get("bytes")
    image = content if isinstance(content, (bytes, bytearray)) else path
    made: dict[str, Any] = {"path": path}
    try:
        if image is None:
            raise ArgumentError("the row has neither a path nor bytes", "")
        metadata = _table.row({name: row[name] for name in known}) if known else {}
        result = classifier.classify(image, name=path or "", **metadata)
    except DermaFusionError as error:
        made["error"] = str(error)
        return made
    made.update(
        image_sha256=result.image_sha256,
        model_sha256=result.model["sha256"],
        prediction=result.prediction,
        probability=result.probability,
        risk=result.risk,
        concern=result.concern,
        urgent=result.urgent,
        confidence=result.confidence,
        abstain=result.abstain,
        probabilities={name: float(p) for name, p in zip(result.classes, result.probabilities, strict=True)},
        summary=result.summary,
        disclaimer=result.disclaimer,
        json=result.json,
    )
    return made


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


def write(session: Any, frame: Any, output: str, *, model: str | None = None, chunk: int = 20_000) -> int:
    """Classifies what `output` does not have yet and appends it as Parquet, `chunk` images at a time.

    A chunk that was interrupted is made again as far as it is not there; every path is written once.

    Returns how many images were left to do.
    """
    if "path" not in frame.columns:
        raise ArgumentError(
            f"the frame has no column path; it has {', '.join(frame.columns)}",
            "Name each image, so that it is known again.",
        )
    # Results come back in small batches, so that a process holds few images and a killed one loses little.
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "128")
    rest = frame
    if _has_rows(output):
        rest = frame.join(session.read.parquet(output).select("path"), "path", "left_anti")
    # Worked out once; what a killed executor held of it is worked out again.
    rest = rest.persist()
    count = int(rest.count())
    cores = int(session.sparkContext.defaultParallelism)
    chunks = max(1, -(-count // chunk))
    # Tasks of a few hundred images: what a killed executor had not finished is done again by others.
    tasks = max(cores, min(64 * cores, count // chunks // 256))
    for index in range(chunks if count else 0):
        part = rest.where(f"pmod(xxhash64(path), {chunks}) = {index}") if chunks > 1 else rest
        writer = classify(part.repartition(tasks, "path"), model=model).write.mode("append")
        # The files of tasks are moved to their place when the chunk is done: what is there has no row twice.
        writer.option("mapreduce.fileoutputcommitter.algorithm.version", "1").parquet(output)
    rest.unpersist()
    return count


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
        frame = _read_input(session, options.input)
        count = write(session, frame, options.output, model=options.model, chunk=options.chunk)
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
