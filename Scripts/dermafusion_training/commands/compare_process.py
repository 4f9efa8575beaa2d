"""Times `dermafusion classify` as a whole process against a Python script.

Both go from launch to answer on one image, in turn; the script (comparison/process_peer.py) does it with ONNX Runtime,
Pillow and numpy. Prints Markdown: medians of the times and the greatest resident memory. With --photographs it also
times decoding and preprocessing, on one thread. Nothing else should run meanwhile.
"""

from pathlib import Path

from dermafusion_training.comparison.process import compare_preprocessing, compare_processes
from dermafusion_training.options import new_parser
from dermafusion_training.paths import IMAGES, WEIGHTS


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--model", type=Path, nargs="+", default=[WEIGHTS], help="exported model folders")
    parser.add_argument("--image", type=Path, default=IMAGES / "phantom_brown.jpg")
    parser.add_argument("--photographs", type=Path, help="a folder of JPEGs to time decoding and preprocessing on")
    parser.add_argument("--photograph-count", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=11)
    options = parser.parse_args()
    print("| network | dermafusion | Python | ratio of times | of memory |\n|---|---|---|---|---|")
    for row in compare_processes(options.model, options.image, options.threads, options.runs):
        print(row)
    if options.photographs:
        images = sorted(options.photographs.glob("*.jpg"))[: options.photograph_count + 1]
        if len(images) < 2:
            parser.error(f"{options.photographs}: fewer than two .jpg files")
        print("\n" + compare_preprocessing(options.model[0], images, options.runs))
