"""Draws one map as `dermafusion gradcam`, matplotlib and the PyPI package grad-cam do, side by side.

Takes six photographs of --photographs, or of ../shared/data/ham10000/full600x450 where it is there, else the drawn
lesions of ParityFixtures. Writes into --output for each photograph NAME.png, a row of four pictures at their own size:
matplotlib, grad-cam, `--style classic`, the default. Then sheets of all photographs: thumbnails.png, 160 pixels wide,
and protanopia.png and deuteranopia.png, as persons without red or green cones see them. Needs the extra gradcam.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image

from dermafusion_training.options import new_parser
from dermafusion_training.paths import IMAGES, PROGRAM, ROOT, WEIGHTS

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

PHOTOGRAPHS = ROOT.parent / "shared/data/ham10000/full600x450"
COUNT = 6
THUMBNAIL = 160
GAP = 12
# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
BLINDNESS = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}


def chosen(folder):
    """Six photographs at equal distances in the order of their names."""
    if folder is None and not PHOTOGRAPHS.is_dir():
        print(f"{PHOTOGRAPHS} is not there; the pictures are of drawn lesions", file=sys.stderr)
        return sorted(IMAGES.glob("phantom_*"))[:COUNT]
    found = sorted(p for p in (folder or PHOTOGRAPHS).iterdir() if p.suffix.lower() in (".jpg", ".jpeg", ".png"))
    return [found[i * len(found) // COUNT] for i in range(COUNT)] if len(found) > COUNT else found


def pictures(options, photograph, folder):
    """Matplotlib's, grad-cam's, the classic and the default picture, all of the map that the program gives."""
    from pytorch_grad_cam.utils.image import scale_cam_image, show_cam_on_image  # not needed for --help

    raw = folder / "map.npy"
    drawn = []
    for style in ("classic", "contours"):
        output = folder / f"{style}.png"
        command = [options.program, "gradcam", photograph, "--model", options.model, "--style", style]
        subprocess.run([*command, "--output", output, "--raw", raw], check=True, stdout=subprocess.DEVNULL)
        drawn.append(Image.open(output).convert("RGB"))
    image = Image.open(photograph).convert("RGB")
    values = np.load(raw).squeeze()
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    square = image.crop((left, top, left + side, top + side))

    figure, axes = pyplot.subplots(figsize=(5.4, 4.5), dpi=100)
    axes.imshow(square)
    shown = axes.imshow(
        values, cmap="jet", alpha=0.5, extent=(0, side, side, 0), interpolation="bilinear", vmin=0, vmax=1
    )
    figure.colorbar(shown, label="Grad-CAM")
    axes.set_title(photograph.name)
    axes.axis("off")
    figure.savefig(folder / "matplotlib.png")
    pyplot.close(figure)

    pixels = np.asarray(square, dtype=np.float32) / 255
    overlay = show_cam_on_image(pixels, scale_cam_image(values[None], (side, side))[0], use_rgb=True)
    return [Image.open(folder / "matplotlib.png").convert("RGB"), Image.fromarray(overlay), *drawn]


def row(images):
    made = Image.new("RGB", (sum(i.width + GAP for i in images) - GAP, max(i.height for i in images)), "white")
    left = 0
    for image in images:
        made.paste(image, (left, 0))
        left += image.width + GAP
    return made


def column(images):
    made = Image.new("RGB", (max(i.width for i in images), sum(i.height + GAP for i in images) - GAP), "white")
    top = 0
    for image in images:
        made.paste(image, (0, top))
        top += image.height + GAP
    return made


def without_cones(image, matrix):
    encoded = np.asarray(image, dtype=np.float64) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(matrix).T, 0, 1)
    encoded = np.where(seen <= 0.0031308, seen * 12.92, 1.055 * seen ** (1 / 2.4) - 0.055)
    return Image.fromarray(np.round(encoded * 255).astype(np.uint8))


def resized(image, width):
    return image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--photographs", type=Path, help="a folder of photographs")
    parser.add_argument("--model", type=Path, default=WEIGHTS)
    parser.add_argument("--program", default=str(PROGRAM))
    parser.add_argument("--output", type=Path, default=ROOT / ".build/heatmaps")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    rows = []
    for photograph in chosen(options.photographs):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(pictures(options, photograph, Path(folder)))
        row(rows[-1]).save(options.output / f"{photograph.stem}.png")
    column([row([resized(i, THUMBNAIL) for i in images]) for images in rows]).save(options.output / "thumbnails.png")
    small = column([row([resized(i, 2 * THUMBNAIL) for i in images]) for images in rows])
    for name, matrix in BLINDNESS.items():
        without_cones(small, matrix).save(options.output / f"{name}.png")
    print(f"The pictures are in {options.output}.")
