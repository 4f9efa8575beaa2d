"""Times dermafusion against ONNX Runtime, OpenVINO and PyTorch on one exported model, alternately in one run.

Every engine is a process of its own that loads the model once and then computes when it is asked to, a few images a
round, so that a machine whose speed drifts is unfair to none. It is stopped while another is timed: threads that spin
while they wait would take its time.

All engines get the same numbers: the photograph that `dermafusion bench` draws, preprocessed by `dermafusion
preprocess`, and a patient of whom nothing is known. The clock of each starts when these lie in the engine's own input,
and stops when it has computed the logits.

    python -m dermafusion_training.comparison.engines ENGINE MODEL NETWORK THREADS IMAGE.npy

is such a process.
"""

import importlib.metadata
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dermafusion_training.comparison.int8_peers import make_int8_peers
from dermafusion_training.data.metadata import encode_metadata
from dermafusion_training.paths import PROGRAM, ROOT, SCRIPTS

RUNS_PER_ROUND = 5
WARM_UP = 2  # runs of a peer after it was stopped, which are not counted
PEERS = {
    "ONNX Runtime": "onnxruntime",
    "OpenVINO f32": "openvino",
    "OpenVINO bf16": "openvino",
    "PyTorch eager": "torch",
}
INT8_PEERS = {"ONNX Runtime int8": "onnxruntime", "OpenVINO int8": "nncf"}
OWN, OWN_INT8 = "dermafusion", "dermafusion int8"


def write_drawing(path):
    """Writes the photograph that `dermafusion bench` draws (Benchmark.photograph) as a PPM file."""
    width, height = 600, 450
    y, x = np.mgrid[:height, :width]
    is_inside = (x - width // 2) ** 2 + (y - height // 2) ** 2 < 120**2
    texture = (x * 31 + y * 17 + x * y) % 23
    channels = [np.where(is_inside, dark, bright) + texture for dark, bright in ((110, 215), (70, 165), (55, 150))]
    Path(path).write_bytes(b"P6\n%d %d\n255\n" % (width, height) + np.stack(channels, 2).astype(np.uint8).tobytes())


def write_input(folder, path):
    """Writes the drawing as the model's network gets it, float32 [1, 3, S, S]."""
    drawing, stage = f"{path}.ppm", f"{path}.stage.npy"
    write_drawing(drawing)
    command = [PROGRAM, "preprocess", drawing, "--stage", "normalized", "--model", folder, "--output", stage]
    subprocess.run([str(word) for word in command], check=True)
    np.save(path, np.load(stage)[None])


def inputs_of(folder, image):
    """The inputs of a model's network by name: the image, and the vector of a patient of whom nothing is known."""
    config = json.loads((folder / "config.json").read_text())
    inputs = {"image": image}
    if config["fusion"]:
        inputs["metadata"] = encode_metadata()[0].reshape(1, -1).astype(np.float32)
    return inputs


def load_model(folder, image):
    """The PyTorch network of an exported folder, its weights as float32, and its inputs."""
    import torch

    from dermafusion_training.model.folder import load_folder

    model = load_folder(folder)[1]
    return model, tuple(torch.from_numpy(value) for value in inputs_of(folder, image).values())


def export_onnx(folder, path, image):
    """Writes the network as ONNX, for the engines that read it."""
    import torch

    model, inputs = load_model(folder, image)
    names = ["image", "metadata"][: len(inputs)]
    torch.onnx.export(model, inputs, path, input_names=names, output_names=["logits"], opset_version=17, dynamo=False)


def engine(name, folder, network, threads, image):
    """A function that computes one image with the named engine, from a file that it reads or, PyTorch, the folder.

    The input lies where the engine reads it before the function is called, and the logits stay where it writes them.
    """
    if name == "PyTorch eager":
        import torch

        torch.set_num_threads(threads)
        model, inputs = load_model(folder, image)

        def run():
            with torch.inference_mode():
                return model(*inputs)

        return run

    feed = inputs_of(folder, image)
    if name.startswith("ONNX Runtime"):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for key, value in feed.items():
            binding.bind_cpu_input(key, value)
        binding.bind_output(session.get_outputs()[0].name, "cpu")
        return lambda: session.run_with_iobinding(binding)

    import openvino

    precision = "bf16" if name.endswith("bf16") else "f32"
    compiled = openvino.Core().compile_model(
        network,
        "CPU",
        {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"},
    )
    request = compiled.create_infer_request()
    for key, value in feed.items():
        request.set_tensor(key, openvino.Tensor(value, shared_memory=True))
    return request.infer


def serve(name, folder, network, threads, image):
    """Computes so many images for each number read from standard input; answers with their milliseconds as JSON."""
    run = engine(name, folder, network, threads, image)
    for _ in range(3):
        run()
    print("ready", flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(WARM_UP):
            run()
        for _ in range(int(line)):
            start = time.perf_counter()
            run()
            times.append((time.perf_counter() - start) * 1e3)
        print(json.dumps(times), flush=True)


class Peer:
    """One engine in a process of its own."""

    def __init__(self, name, folder, network, threads, image):
        module = "dermafusion_training.comparison.engines"
        command = [sys.executable, "-m", module, name, folder.resolve(), network, threads, image]
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        self.process = subprocess.Popen(
            [str(word) for word in command],
            cwd=SCRIPTS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"{name} does not run here")
        self.process.send_signal(signal.SIGSTOP)

    def times(self, count):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        times = json.loads(self.process.stdout.readline())
        self.process.send_signal(signal.SIGSTOP)
        return times

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def own_times(folder, threads, count):
    """Milliseconds of our network: `bench` reports percentiles, of which the median stands for the round."""
    command = [PROGRAM, "bench", "--model", folder, "--threads", threads, "--runs", count, "--format", "json"]
    output = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    report = json.loads(output)
    return report["latencyMs"]["p50"], report


def compare(own, networks, threads, rounds, image):
    """Median milliseconds by engine, and the last report of our float32 network.

    `own` are our model folders by name, `networks` the files that the other engines read, `image` that of their input.
    """
    peers = {}
    for name, network in networks.items():
        try:
            peers[name] = Peer(name, own[OWN], network, threads, image)
        except RuntimeError as error:
            print(error, file=sys.stderr)
    times = {name: [] for name in [*own, *peers]}
    reports = {}
    for _ in range(rounds):
        for name, folder in own.items():
            median, reports[name] = own_times(folder, threads, RUNS_PER_ROUND)
            times[name].append(median)
        for name, peer in peers.items():
            times[name].append(statistics.median(peer.times(RUNS_PER_ROUND)))
    for peer in peers.values():
        peer.close()
    return {name: statistics.median(values) for name, values in times.items()}, reports[OWN]


def processor_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def own_version():
    """The commit that the program should be built from."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--tags", "--dirty"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def table(results):
    """Markdown of `{threads: (medians, report)}`.

    A ratio is that of our network of the same precision to the engine, and of ours in 8 bits to ours in float32.
    """
    report = next(iter(results.values()))[1]
    engines = list(dict.fromkeys(name for medians, _ in results.values() for name in medians))
    columns = [f"{threads} thread{'s' * (threads > 1)}, ms | ratio" for threads in results]
    lines = [
        f"Model {report['model']['name']} {report['model']['version']}; {processor_name()}; kernels "
        f"{report['instructionSet']}; measured peak {report['peakGflopsPerThread']:.0f} GFLOP/s a thread.",
        "",
        "| engine | version | " + " | ".join(columns) + " |",
        "|---|---|" + "---|---|" * len(results),
    ]
    for name in engines:
        package = (PEERS | INT8_PEERS).get(name)
        version = importlib.metadata.version(package) if package else own_version()
        compared = OWN_INT8 if name in INT8_PEERS else OWN
        cells = []
        for medians, _ in results.values():
            if name not in medians:
                cells += ["does not run", ""]
                continue
            ratio = medians[compared] / medians[name] if name != OWN_INT8 else medians[name] / medians[OWN]
            cells += [f"{medians[name]:.1f}", "" if name == OWN else f"{ratio:.2f}"]
        lines.append(f"| {name} | {version} | " + " | ".join(cells) + " |")
    floors = []
    for threads, (medians, run) in results.items():
        operations = run["gflops"] * run["latencyMs"]["p50"]
        floors += [f"{operations / (run['peakGflopsPerThread'] * threads):.1f}", ""]
    lines.append("| floor: every operation at the measured peak | | " + " | ".join(floors) + " |")
    return "\n".join(lines)


def compare_engines(model, thread_counts, rounds, int8=None):
    """The table of every engine at each number of threads, Markdown.

    `int8` is None, or (our folder in 8 bits, a folder of photographs, a table that says which to take or None): then
    the engines that have a form in 8 bits are compared in it too.
    """
    with tempfile.TemporaryDirectory() as folder:
        onnx_path, image = os.path.join(folder, "model.onnx"), os.path.join(folder, "input.npy")
        write_input(model, image)
        export_onnx(model, onnx_path, np.load(image))
        own, networks = {OWN: model}, dict.fromkeys(PEERS, onnx_path)
        if int8 is not None:
            own[OWN_INT8], images, split = int8
            networks |= make_int8_peers(model, images, split, onnx_path)
        return table({threads: compare(own, networks, threads, rounds, image) for threads in thread_counts})


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), np.load(sys.argv[5]))
