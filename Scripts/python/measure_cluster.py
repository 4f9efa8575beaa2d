"""Measures what Spark adds to the engine, on this machine: images a second with 1 and 2 executors, and Spark's share.

Writes copies of a fixture into a folder and classifies them with the package's model: in one process with one thread,
then by `dermafusion.spark.write` on executors of one core each. Processor time is that of all of Spark's processes:
Python's, which classify, and Java's (driver and executors). Spark's share is Java's part of it, and what Python takes
beyond the one process on the same images. `Scripts/checks/cluster --measure` runs this in the environment that it
makes. It wants a machine without other work.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from dermafusion import Classifier, spark

ROOT = Path(os.environ.get("DERMAFUSION_ROOT", Path(__file__).resolve().parents[2]))
PHOTOGRAPH = ROOT / "ParityFixtures/images/phantom_brown.jpg"
MARK = "DERMAFUSION_MEASURE"


class Times(NamedTuple):
    """Seconds by the clock, and of processors."""

    clock: float
    python: float
    java: float


def times() -> Times:
    """What this process and all that bear its mark have used."""
    ticks = {"python": 0, "java": 0}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            marked = f"{MARK}={os.getpid()}".encode() in (entry / "environ").read_bytes().split(b"\0")
            # After the name, which may hold blanks: own user and system time, and that of children waited for.
            fields = list(map(int, (entry / "stat").read_text().rpartition(")")[2].split()[11:15]))
            name = (entry / "comm").read_text().strip()
        except OSError:
            continue
        if marked and name == "java":
            # Its children are Python's.
            ticks["java"] += sum(fields[:2])
        elif marked:
            ticks["python"] += sum(fields)
    own = resource.getrusage(resource.RUSAGE_SELF)
    second = os.sysconf("SC_CLK_TCK")
    python = ticks["python"] / second + own.ru_utime + own.ru_stime
    return Times(time.monotonic(), python, ticks["java"] / second)


def timed(work) -> Times:
    before = times()
    work()
    return Times(*(late - early for late, early in zip(times(), before, strict=True)))


def on_executors(count: int, names: list[str], output: str) -> Times:
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local-cluster[{count},1,1024]")
        .config("spark.executor.memory", "768m")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "8")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    frame = session.createDataFrame([(name,) for name in names], "path string")
    # Until every executor has its process and its model.
    spark.write(session, frame.limit(4 * count), output + "-first")
    taken = timed(lambda: spark.write(session, frame, output))
    session.stop()
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--executors", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    os.environ.update({MARK: str(os.getpid()), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"})
    with tempfile.TemporaryDirectory() as folder:
        names = [str(Path(folder) / f"{index:06}.jpg") for index in range(options.images)]
        for name in names:
            Path(name).write_bytes(PHOTOGRAPH.read_bytes())
        classifier = Classifier(threads=1)
        classifier.classify(names[0])
        print(f"{options.images} images; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        print(
            f"{'':14}{'seconds':>9}{'images/s':>10}{'Python ms/image':>17}{'Java ms/image':>15}{'share of Spark':>16}"
        )

        def line(label: str, taken: Times, images: int, share: str) -> None:
            python, java = taken.python / images * 1000, taken.java / images * 1000
            row = f"{label:14}{taken.clock:9.1f}{images / taken.clock:10.2f}{python:17.1f}{java:15.1f}{share:>16}"
            print(row, flush=True)

        # Before and after each, because the machine's speed changes.
        def one_process() -> float:
            some = names[: len(names) // 4]
            taken = timed(lambda: [classifier.classify(name) for name in some])
            line("one process", taken, len(some), "")
            return taken.python / len(some)

        before = one_process()
        for count in options.executors:
            taken = on_executors(count, names, f"{folder}/{count}.parquet")
            after = one_process()
            share = 1 - (before + after) / 2 * len(names) / (taken.python + taken.java)
            line(f"{count} executor{'s' * (count > 1)}", taken, len(names), f"{share:.1%}")
            before = after


if __name__ == "__main__":
    main()
