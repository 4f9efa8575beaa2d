"""Measures what Spark, Ray and Daft take beside `dermafusion classify FOLDER`, on this machine, with the same files.

Writes copies of fixtures with other bytes at the end into a folder. The command classifies a quarter of them before and
after each engine, because a machine's speed changes, and each engine all of them, in processes of its own. Columns:

- share: the command's time for as many images, divided by the engine's. The start of the engine is not counted, that of
  the workers with their models is.
- Python, other: milliseconds of processor for an image, of the processes that classify and of all others (the command,
  Java, raylet).
- core-hours: of a million images, from the processor time of all processes.
- start: seconds until the engine had started.
- worker: the most private memory of one process in the first and in the last quarter of the job, in MB.

`Scripts/checks/cluster --measure` runs this in the environment that it makes. Times want a machine without other work.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(os.environ.get("DERMAFUSION_ROOT", Path(__file__).resolve().parents[2]))
COMMAND = os.environ.get("DERMAFUSION_COMMAND", str(ROOT / ".build/release/dermafusion"))
FIXTURES = sorted((ROOT / "ParityFixtures/images").glob("phantom_*.jpg"))
ENGINES = ("spark", "ray", "daft")
MARK = "DERMAFUSION_MEASURE"
# So many files differ where --largest makes them large; the others are further names of these.
DISTINCT = 400


class Use(NamedTuple):
    """Seconds by the clock, and of processors."""

    clock: float
    python: float
    other: float


def write_images(folder: Path, count: int, largest: int) -> None:
    """Copies of the fixtures, the sizes spread evenly from theirs to `largest`."""
    contents = [path.read_bytes() for path in FIXTURES]
    for index in range(count):
        name = folder / f"{index:06}.jpg"
        if largest and index >= DISTINCT:
            os.link(folder / f"{index % DISTINCT:06}.jpg", name)
            continue
        content = contents[index % len(contents)] + index.to_bytes(4, "big")
        padding = max(0, largest * (index % DISTINCT + 1) // DISTINCT - len(content))
        name.write_bytes(content + bytes(padding))


def marked() -> list[Path]:
    """The entries of /proc of the processes of the engine that runs."""
    found, mark = [], f"{MARK}={os.getpid()}".encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(entry)
        except OSError:
            continue
    return found


def is_python(entry: Path) -> bool:
    return (entry / "comm").read_text().startswith(("python", "ray::", "pyspark"))


def use() -> Use:
    seconds = {True: 0.0, False: 0.0}
    for entry in marked():
        try:
            # After the name, which may hold blanks: own user and system time, and that of children waited for.
            fields = list(map(int, (entry / "stat").read_text().rpartition(")")[2].split()[11:15]))
            own = is_python(entry)
        except OSError:
            continue
        seconds[own] += sum(fields if own else fields[:2]) / os.sysconf("SC_CLK_TCK")
    return Use(time.monotonic(), seconds[True], seconds[False])


class Memory(threading.Thread):
    """Looks once a second at the private memory of the largest Python process, in MB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.found: list[int] = []
        self.has_ended = threading.Event()

    def run(self) -> None:
        while not self.has_ended.wait(1):
            sizes = [0]
            for entry in marked():
                try:
                    status = (entry / "status").read_text()
                    if is_python(entry) and "RssAnon:" in status:
                        sizes.append(int(status.split("RssAnon:")[1].split()[0]) >> 10)
                except OSError:
                    continue
            self.found.append(max(sizes))

    def quarters(self) -> str:
        part = max(1, len(self.found) // 4)
        return f"{max(self.found[:part], default=0)}, {max(self.found[-part:], default=0)}"


def timed_command(folder: Path, model: str, workers: int) -> tuple[float, float]:
    """Seconds for an image, by the clock and of processors."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [COMMAND, "classify", str(folder), "--model", str(ROOT / "Weights" / model), "--format", "json"]
    run = subprocess.run([*command, "--threads", str(workers), "--quiet"], capture_output=True, text=True, check=True)
    clock, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    images = len(run.stdout.splitlines())
    return clock / images, processor / images


def measured(engine: str, folder: Path, options: argparse.Namespace) -> tuple[Use, float, str]:
    """The seconds of the job, those until the engine had started, and the memory of the largest worker."""
    environment = {
        **os.environ,
        MARK: str(os.getpid()),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [sys.executable, __file__, "--run", engine, "--folder", str(folder), "--model", options.model]
    command += ["--workers", str(options.workers)]
    started = time.monotonic()
    with subprocess.Popen(command, env=environment, stdin=-1, stdout=-1, text=True) as job:
        assert job.stdin and job.stdout

        def wait_for(word: str) -> str:
            for line in job.stdout:
                if line.startswith(word):
                    return line
            raise SystemExit(f"{engine} ended without the line '{word}'")

        wait_for("ready")
        start, before, memory = time.monotonic() - started, use(), Memory()
        memory.start()
        print("go", file=job.stdin, flush=True)
        rows = int(wait_for("done").split()[1])
        after = use()
        memory.has_ended.set()
        memory.join()
        print("end", file=job.stdin, flush=True)
    assert rows == options.images, f"{engine}: {rows} rows without an error, of {options.images} images"
    return Use(*(late - early for late, early in zip(after, before, strict=True))), start, memory.quarters()


def run(engine: str, folder: str, model: str, workers: int) -> None:
    """The job of one engine, in a process of its own. Says when it is ready and done; waits for a line after each."""
    output = f"{folder}.{engine}.parquet"
    if engine == "spark":
        from pyspark.sql import SparkSession

        from dermafusion import spark

        builder = SparkSession.builder.master(f"local[{workers}]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.memory", "2g").config("spark.ui.showConsoleProgress", "false")
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        session.range(10).count()

        def work() -> None:
            spark.classify(session.read.format("binaryFile").load(folder), model=model).write.parquet(output)

    elif engine == "ray":
        import ray

        from dermafusion.ray import Classify

        # Two more for the tasks that read.
        ray.init(num_cpus=workers + 2, include_dashboard=False, logging_level="ERROR", object_store_memory=1 << 30)

        def work() -> None:
            files = ray.data.read_binary_files(folder, include_paths=True)
            settings = {
                "fn_constructor_kwargs": {"model": model},
                "batch_size": 64,
                "num_cpus": 1,
                "batch_format": "pyarrow",
            }
            files.map_batches(Classify, concurrency=workers, **settings).write_parquet(output)

    else:
        import daft

        from dermafusion.daft import classify

        def work() -> None:
            content = daft.col("path").download(on_error="null")
            found = classify(content, path=daft.col("path"), model=model, workers=workers)
            frame = daft.from_glob_path(f"{folder}/*.jpg").select(found.alias("found"))
            columns = ("path", "json", "error")
            frame.select(*(daft.col("found").get(name).alias(name) for name in columns)).write_parquet(output)

    print("ready", flush=True)
    input()
    work()
    import pyarrow.parquet

    # Named in full: hidden files and those of checksums are not rows.
    files = [str(path) for path in Path(output).rglob("*.parquet")]
    rows = sum(pyarrow.parquet.read_table(name, columns=["error"]).column(0).null_count for name in files)
    print("done", rows, flush=True)
    input()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--largest", type=int, default=0, metavar="BYTES", help="pad the files up to this size")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--model", default="int8")
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--run", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run(options.run, options.folder, options.model, options.workers)
        return
    with tempfile.TemporaryDirectory() as name:
        folder, quarter = Path(name) / "images", Path(name) / "quarter"
        folder.mkdir()
        write_images(folder, options.images, options.largest)
        quarter.mkdir()
        for path in sorted(folder.iterdir())[::4]:
            os.link(path, quarter / path.name)
        print(
            f"{options.images} images, {options.workers} workers, model {options.model}; load of the machine", end=" "
        )
        print(f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        print(f"{'':10}{'seconds':>9}{'images/s':>10}{'share':>8}{'Python':>8}{'other':>7}{'core-hours':>12}", end="")
        print(f"{'start':>7}  worker")

        def baseline() -> float:
            taken, processor = timed_command(quarter, options.model, options.workers)
            line = f"{'classify':10}{taken * options.images:9.1f}{1 / taken:10.2f}{'':16}{1000 * processor:7.1f}"
            print(f"{line}{processor / 3.6 * 1000:12.1f}", flush=True)
            return taken

        before = baseline()
        for engine in options.engines:
            taken, start, memory = measured(engine, folder, options)
            after = baseline()
            share = (before + after) / 2 * options.images / taken.clock
            python, other = (1000 * each / options.images for each in taken[1:])
            line = f"{engine:10}{taken.clock:9.1f}{options.images / taken.clock:10.2f}{share:8.2f}"
            line += f"{python:8.1f}{other:7.1f}{(python + other) / 3.6:12.1f}{start:7.1f}  {memory}"
            print(line, flush=True)
            before = after


if __name__ == "__main__":
    main()
