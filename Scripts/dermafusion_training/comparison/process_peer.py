"""The peer of dermafusion in process.py: an image classified by ONNX Runtime, Pillow and numpy.

    python -m dermafusion_training.comparison.process_peer classify MODEL NETWORK.onnx THREADS IMAGE
    python -m dermafusion_training.comparison.process_peer preprocess MODEL IMAGE...

`classify` prints the probabilities by class as JSON; `preprocess` the milliseconds that each image takes from its file
to the network's input.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

from dermafusion_training.data.metadata import encode_metadata
from dermafusion_training.data.preprocessing import preprocess
from dermafusion_training.model.config import class_ids

METADATA = (55, "male", "back")


def classify(config, network, threads, image):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
    feed = {"image": preprocess(image, config["preprocessing"])[0]["normalized"][None]}
    if config["fusion"]:
        feed["metadata"] = encode_metadata(*METADATA)[0][None]
    logits = session.run(None, feed)[0][0].astype(np.float64) / config["temperature"]
    exponentials = np.exp(logits - logits.max())
    return dict(zip(class_ids(config["classes"]), (exponentials / exponentials.sum()).tolist()))


def preprocessing_milliseconds(config, images):
    times = []
    for image in images:
        start = time.perf_counter()
        preprocess(image, config["preprocessing"])
        times.append((time.perf_counter() - start) * 1e3)
    return times


def main():
    task, model, *arguments = sys.argv[1:]
    config = json.loads((Path(model) / "config.json").read_text())
    if task == "classify":
        network, threads, image = arguments
        print(json.dumps(classify(config, network, int(threads), image)))
    else:
        print(json.dumps(preprocessing_milliseconds(config, arguments)))


if __name__ == "__main__":
    main()
