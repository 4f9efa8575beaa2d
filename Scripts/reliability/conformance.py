"""Makes image files of every kind that the decoders must know, and compares every pixel with Pillow's.

PNG: every colour type, bit depth and interlacing, filters, transparency, gamma, animation, Exif in both byte orders.
JPEG: subsampling, progressive, restart markers, arithmetic coding, CMYK and YCCK with and without Adobe's mark, RGB,
grey, every orientation in both byte orders. PNM: all six kinds. A refusal must have the words that are stated here.
"""

import io
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
from hostile import chunk, grey_jpeg, png, segment
from PIL import Image, ImageOps

generator = np.random.default_rng(20)
WIDTH, HEIGHT = 37, 41


def photograph(width=WIDTH, height=HEIGHT):
    """Smooth colours with some noise, so that coefficients of every size occur."""
    y, x = np.mgrid[0:height, 0:width]
    base = np.stack([x * 5 + y, 255 - x * 3, 60 + y * 4], axis=-1) + generator.normal(0, 9, (height, width, 3))
    return Image.fromarray(np.clip(base, 0, 255).astype(np.uint8))


def exif(orientation, big):
    order = ">" if big else "<"
    head = (b"MM\0*" if big else b"II*\0") + struct.pack(order + "I", 8)
    return b"Exif\0\0" + head + struct.pack(order + "HHHIHHI", 1, 274, 3, 1, orientation, 0, 0)


def with_exif(jpeg, orientation, big):
    return jpeg[:2] + segment(0xE1, exif(orientation, big)) + jpeg[2:]


def filtered(rows, bytes_per_pixel, kinds):
    """The scanlines of a PNG, each by the filter of its turn."""
    result, previous = b"", bytes(len(rows[0]))
    for index, row in enumerate(rows):
        kind = kinds[index % len(kinds)]
        line = bytearray()
        for x, value in enumerate(row):
            left = row[x - bytes_per_pixel] if x >= bytes_per_pixel else 0
            up = previous[x]
            corner = previous[x - bytes_per_pixel] if x >= bytes_per_pixel else 0
            guess = left + up - corner
            paeth = min(
                (left, up, corner), key=lambda candidate: (abs(guess - candidate), (left, up, corner).index(candidate))
            )
            line.append((value - [0, left, up, (left + up) // 2, paeth][kind]) & 255)
        result += bytes([kind]) + bytes(line)
        previous = row
    return result


def packed_rows(samples, depth):
    """[height, width, channels] to the bytes of each row."""
    rows = []
    for row in samples:
        bits = "".join(format(int(value), f"0{depth}b") for value in row.reshape(-1))
        bits += "0" * (-len(bits) % 8)
        rows.append(int(bits, 2).to_bytes(len(bits) // 8, "big"))
    return rows


PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png_of(colour, depth, interlace=0, kinds=(0, 1, 2, 3, 4), before=b"", width=WIDTH, height=HEIGHT):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    samples = generator.integers(0, 1 << depth, (height, width, channels))
    step = max(1, channels * depth // 8)
    if interlace:
        body = b""
        for left, top, right, down in PASSES:
            part = samples[top::down, left::right]
            if part.size:
                body += filtered(packed_rows(part, depth), step, kinds)
    else:
        body = filtered(packed_rows(samples, depth), step, kinds)
    if colour == 3:
        before = chunk(b"PLTE", bytes(generator.integers(0, 256, 3 << depth, dtype=np.uint8))) + before
    return png(width, height, depth, colour, zlib.compress(body), before, interlace)


def without_adobe(jpeg):
    """A JPEG without its APP14 segment."""
    at = jpeg.index(b"\xff\xee")
    return jpeg[:at] + jpeg[at + 2 + struct.unpack(">H", jpeg[at + 2 : at + 4])[0] :]


def saved(image, kind="JPEG", **settings):
    buffer = io.BytesIO()
    image.save(buffer, kind, **settings)
    return buffer.getvalue()


def files():
    """Name, bytes, and the words of the refusal or None."""
    made = {}
    for colour, depths in {0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16]}.items():
        for depth in depths:
            for interlace in (0, 1):
                made[f"png-{colour}-{depth}-{'adam7' if interlace else 'plain'}.png"] = png_of(colour, depth, interlace)
    for kind in range(5):
        made[f"png-filter-{kind}.png"] = png_of(2, 8, kinds=(kind,))
    made["png-trns-grey.png"] = png_of(0, 8, before=chunk(b"tRNS", b"\0\x07"))
    made["png-trns-rgb.png"] = png_of(2, 8, before=chunk(b"tRNS", bytes(6)))
    made["png-trns-palette.png"] = png_of(3, 8, before=chunk(b"tRNS", bytes(range(200))))
    made["png-gamma.png"] = png_of(2, 8, before=chunk(b"gAMA", struct.pack(">I", 100_000)))
    made["png-iccp.png"] = png_of(2, 8, before=chunk(b"iCCP", b"x\0\0" + zlib.compress(b"no profile")))
    made["apng.png"] = saved(photograph(), "PNG", save_all=True, append_images=[photograph(), photograph()])
    for orientation in range(1, 9):
        for big in (False, True):
            name = f"{orientation}-{'big' if big else 'little'}"
            made[f"png-exif-{name}.png"] = png_of(2, 8, before=chunk(b"eXIf", exif(orientation, big)[6:]))
            made[f"jpeg-exif-{name}.jpg"] = with_exif(saved(photograph()), orientation, big)
    for subsampling in (0, 1, 2):
        for quality in (5, 75, 100):
            made[f"jpeg-{subsampling}-{quality}.jpg"] = saved(photograph(), subsampling=subsampling, quality=quality)
        made[f"jpeg-progressive-{subsampling}.jpg"] = saved(photograph(), subsampling=subsampling, progressive=True)
    made["jpeg-restart.jpg"] = saved(photograph(), restart_marker_blocks=2)
    made["jpeg-optimized.jpg"] = saved(photograph(), optimize=True)
    made["jpeg-grey.jpg"] = saved(photograph().convert("L"))
    made["jpeg-rgb.jpg"] = saved(photograph(), keep_rgb=True)
    cmyk = saved(photograph().convert("CMYK"))
    made["jpeg-cmyk-adobe.jpg"] = cmyk
    made["jpeg-cmyk-plain.jpg"] = without_adobe(cmyk)
    # Adobe's mark says by its last byte that the same numbers are YCCK.
    at = cmyk.index(b"\xff\xee")
    made["jpeg-ycck-adobe.jpg"] = cmyk[: at + 15] + b"\x02" + cmyk[at + 16 :]
    if shutil.which("jpegtran"):
        for name in ["jpeg-0-75.jpg", "jpeg-2-75.jpg", "jpeg-grey.jpg", "jpeg-cmyk-adobe.jpg"]:
            for mode in ["-arithmetic", "-arithmetic -progressive"]:
                coded = subprocess.run(
                    ["jpegtran", *mode.split()], input=made[name], capture_output=True, check=True
                ).stdout
                made[f"{'progressive-' if 'prog' in mode else ''}arithmetic-{name}"] = coded
    else:
        print("skipped: arithmetic coding, which needs jpegtran (libjpeg-turbo-progs)")
    rgb, grey = np.asarray(photograph()), np.asarray(photograph().convert("L"))
    made["p6.ppm"] = b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT) + rgb.tobytes()
    made["p6-comment.ppm"] = b"P6 # a comment\n%d %d\n255\n" % (WIDTH, HEIGHT) + rgb.tobytes()
    made["p6-100.ppm"] = b"P6\n%d %d\n100\n" % (WIDTH, HEIGHT) + (rgb % 101).tobytes()
    made["p6-16.ppm"] = (
        b"P6\n%d %d\n65535\n" % (WIDTH, HEIGHT)
        + generator.integers(0, 65536, (HEIGHT, WIDTH, 3)).astype(">u2").tobytes()
    )
    made["p5.pgm"] = b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + grey.tobytes()
    made["p4.pbm"] = b"P4\n%d %d\n" % (WIDTH, HEIGHT) + np.packbits(grey > 128, axis=1).tobytes()
    made["p3.ppm"] = b"P3\n%d %d\n255\n" % (WIDTH, HEIGHT) + " ".join(map(str, rgb.reshape(-1))).encode()
    made["p2.pgm"] = b"P2\n%d %d\n255\n" % (WIDTH, HEIGHT) + " ".join(map(str, grey.reshape(-1))).encode()
    made["p1.pbm"] = (
        b"P1\n%d %d\n" % (WIDTH, HEIGHT) + " ".join(map(str, (grey > 128).reshape(-1).astype(int))).encode()
    )
    refused = {
        "lossless.jpg": (grey_jpeg(0xC3, 64, 64, [(1, 0)]), "not supported"),
        "hierarchical.jpg": (grey_jpeg(0xC5, 64, 64, [(0, 63)]), "not supported"),
        "twelve-bit.jpg": (
            saved(photograph()).replace(b"\xff\xc0\x00\x11\x08", b"\xff\xc0\x00\x11\x0c"),
            "not supported",
        ),
        "bad-checksum.png": (
            bytes(made["png-2-8-plain.png"][:-16]) + b"\0\0\0\0" + bytes(made["png-2-8-plain.png"][-12:]),
            "corrupt",
        ),
        "cut.png": (made["png-2-8-plain.png"][:900], "truncated"),
        "cut.jpg": (made["jpeg-0-75.jpg"][:900], "truncated"),
        "cut.ppm": (made["p6.ppm"][:900], "truncated"),
        "gif.gif": (saved(photograph(), "GIF"), "not supported"),
        "webp.webp": (b"RIFF\x10\0\0\0WEBPVP8 ", "not supported"),
        "tiff.tiff": (saved(photograph(), "TIFF"), "not supported"),
    }
    return {name: (data, None) for name, data in made.items()} | refused


def expected(path):
    with Image.open(path) as image:
        # 16-bit grey: by its high byte, where Pillow makes everything above 255 white.
        if image.mode.startswith("I"):
            image = ImageOps.exif_transpose(
                Image.fromarray((np.asarray(image).astype(np.uint32) >> 8).astype(np.uint8))
            )
        return np.asarray(ImageOps.exif_transpose(image).convert("RGB"))


def main():
    program, model = sys.argv[1:3]
    wrong = compared = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (data, words) in sorted(files().items()):
            path, array = Path(folder, name), Path(folder, "array.npy")
            path.write_bytes(data)
            array.unlink(missing_ok=True)
            done = subprocess.run(
                [program, "preprocess", str(path), "--stage", "decoded", "--output", str(array), "--model", model],
                capture_output=True,
                text=True,
            )
            if words is not None:
                refused += 1
                good = (
                    done.returncode == 1
                    and words in done.stderr
                    and done.stderr.count("\n") == 1
                    and not array.exists()
                )
                problem = f"status {done.returncode}: {done.stderr.strip()}"
            elif done.returncode != 0:
                good, problem = False, done.stderr.strip()
            else:
                compared += 1
                found, pillow = np.load(array), expected(path)
                differences = -1 if found.shape != pillow.shape else int((found != pillow).sum())
                good, problem = differences == 0, f"{differences} values differ ({found.shape}, {pillow.shape})"
            if not good:
                wrong += 1
                print(f"{name}: {problem}")
    print(f"{compared} files compared with Pillow in every pixel, {refused} refused as stated, {wrong} wrong")
    sys.exit(wrong > 0)


main()
