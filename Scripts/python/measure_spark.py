"""Measures what Spark adds to the engine, on this machine: images a second with 1 and 2 executors, and Spark's share.

Writes copies of a fixture into a folder and classifies them with the package's model: in one process with one thread,
then by `dermafusion.spark.write` on executors of one core each. Spark's share is the part of the processor time of all
of Spark's processes (driver, executors, Python workers) that goes beyond the processor time of the one process on the
same images. It holds on a machine with other work too; images a second do not. `Scripts/check-python-package --measure`
runs this in the environment that it makes.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from dermafusion import Classifier, spark

ROOT = Path(os.environ.get("DERMAFUSION_ROOT", Path(__file__).resolve().parents[2]))
PHOTOGRAPH = ROOT / "ParityFixtures/images/phantom_nevus.jpg"
MARK = "DERMAFUSION_MEASURE"


def processor_seconds() -> float:
    """What this process and all that bear its mark have used, those that ended included."""
    ticks = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            marked = f"{MARK}={os.getpid()}".encode() in (entry / "environ").read_bytes().split(b"\0")
            # After the name, which may hold blanks: own user and system time, and that of children waited for.
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if marked:
            ticks += sum(map(int, fields[11:15]))
    used = resource.getrusage(resource.RUSAGE_SELF)
    return ticks / os.sysconf("SC_CLK_TCK") + used.ru_utime + used.ru_stime


def timed(work) -> tuple[float, float]:
    """Seconds by the clock and of processors."""
    clock, processor = time.monotonic(), processor_seconds()
    work()
    return time.monotonic() - clock, processor_seconds() - processor


def on_executors(count: int, names: list[str], output: str) -> tuple[float, float]:
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
    parser.add_argument("--images", type=int, default=400)
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
        print(f"{'':14}{'seconds':>9}{'images/s':>10}{'processor ms/image':>20}{'share of Spark':>16}")

        def line(label: str, clock: float, processor: float, share: str) -> None:
            rate, each = options.images / clock, processor / options.images * 1000
            print(f"{label:14}{clock:9.1f}{rate:10.2f}{each:20.1f}{share:>16}", flush=True)

        # Before and after each, because other work on the machine changes.
        def one_process() -> float:
            clock, processor = timed(lambda: [classifier.classify(name) for name in names])
            line("one process", clock, processor, "")
            return processor

        before = one_process()
        for count in options.executors:
            clock, processor = on_executors(count, names, f"{folder}/{count}.parquet")
            after = one_process()
            share = 1 - (before + after) / 2 / processor
            line(f"{count} executor{'s' * (count > 1)}", clock, processor, f"{share:.1%}")
            before = after


if __name__ == "__main__":
    main()
