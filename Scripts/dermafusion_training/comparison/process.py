"""Times `dermafusion classify` as a whole process, from launch to answer on one image, against a Python script that
does the same with ONNX Runtime, Pillow and numpy (process_peer.py), in turn.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dermafusion_training.comparison.process_peer import METADATA
from dermafusion_training.paths import PROGRAM, SCRIPTS

PEER = [sys.executable, "-m", "dermafusion_training.comparison.process_peer"]

GREATEST_DIFFERENCE = 1e-3  # of a probability: farther apart, the two do not compute the same
BYTES_PER_UNIT = 1 if sys.platform == "darwin" else 1024  # of the system's ru_maxrss


def export(model, network):
    """Writes the network as ONNX, in a process of its own: a child's peak memory counts its parent's at the launch."""
    code = (
        "import sys, pathlib, numpy; from dermafusion_training.comparison.engines import export_onnx, write_input; "
        "folder, network = pathlib.Path(sys.argv[1]), sys.argv[2]; "
        "write_input(folder, network + '.npy'); export_onnx(folder, network, numpy.load(network + '.npy'))"
    )
    command = [sys.executable, "-c", code, str(model.resolve()), str(network)]
    result = subprocess.run(command, cwd=SCRIPTS, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{model} cannot be written as ONNX: {(result.stderr.splitlines() or ['no reason given'])[-1]}")


def commands(model, network, image, threads):
    """The command of each side."""
    age, sex, site = METADATA
    own = [PROGRAM, "classify", image.resolve(), "--model", model.resolve(), "--threads", threads, "--format", "json"]
    own += ["--age", age, "--sex", sex, "--site", site]
    peer = [*PEER, "classify", model.resolve(), network, threads, image.resolve()]
    return {"dermafusion": [str(word) for word in own], "Python": [str(word) for word in peer]}


def check_agreement(sides):
    """Ends the program unless both sides give the same probabilities."""
    own, peer = (
        json.loads(subprocess.run(sides[side], cwd=SCRIPTS, check=True, capture_output=True).stdout) for side in sides
    )
    difference = max(abs(own["probabilities"][name] - value) for name, value in peer.items())
    if difference > GREATEST_DIFFERENCE:
        sys.exit(f"the two differ by {difference:g} in a probability: they do not compute the same")


def run(command):
    """(milliseconds, MB at the peak) of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=SCRIPTS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    milliseconds = (time.perf_counter() - start) * 1e3
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
    return milliseconds, usage.ru_maxrss * BYTES_PER_UNIT / 1e6


def compare_processes(models, image, threads, runs):
    """A row of the table for each model. One more run of each side comes first and does not count."""
    with tempfile.TemporaryDirectory() as folder:
        sides = {}
        for number, model in enumerate(models):
            network = Path(folder) / f"{number}.onnx"
            export(model, network)
            sides[model] = commands(model, network, image, threads)
            check_agreement(sides[model])
        measured = {(model, side): [] for model in models for side in sides[model]}
        for _ in range(runs + 1):
            for model, side in measured:
                measured[model, side].append(run(sides[model][side]))
    for model in models:
        times, peaks = [], []
        for side in sides[model]:
            counted = measured[model, side][1:]
            times.append(statistics.median(milliseconds for milliseconds, _ in counted))
            peaks.append(max(megabytes for _, megabytes in counted))
        cells = " | ".join(f"{time_:.0f} ms, {peak:.0f} MB" for time_, peak in zip(times, peaks))
        yield f"| {model.resolve().name} | {cells} | {times[0] / times[1]:.2f} | {peaks[0] / peaks[1]:.2f} |"


def own_preprocessing(model, images):
    """(decoding, the rest) in milliseconds, of each image but the first, which finds the program cold."""
    command = [PROGRAM, "classify", *images, "--model", model, "--threads", 1, "--timing", "--format", "json"]
    output = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    timings = [json.loads(line)["timing"] for line in output.splitlines()]
    return [(timing["decodeMs"], timing["preprocessMs"]) for timing in timings[1:]]


def peer_preprocessing(model, images):
    command = [str(word) for word in [*PEER, "preprocess", model.resolve(), *(image.resolve() for image in images)]]
    return json.loads(subprocess.run(command, cwd=SCRIPTS, check=True, capture_output=True, text=True).stdout)[1:]


def compare_preprocessing(model, images, runs):
    """A line with the medians over all images and runs."""
    own, peer = [], []
    for _ in range(runs):
        own += own_preprocessing(model, images)
        peer += peer_preprocessing(model, images)
    decoding, rest, whole = (
        statistics.median(values) for values in zip(*[(first, second, first + second) for first, second in own])
    )
    pillow = statistics.median(peer)
    return (
        f"Decoding and preprocessing of {len(images) - 1} images: {whole:.1f} ms (decoding {decoding:.1f}, "
        f"the rest {rest:.1f}) against {pillow:.1f} ms for Pillow and numpy, a ratio of {whole / pillow:.2f}."
    )
