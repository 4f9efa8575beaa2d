"""The pictures that the parity fixtures are made of: every kind of file that the decoders must read."""

import io
import struct

import numpy as np
from PIL import Image

from jpeg_writer import encode_jpeg, to_ycc
from phantoms import DARK_SKIN, KERATOSIS, MELANOMA, NEVUS, PALE_LESION, VASCULAR, draw_phantom
from png_writer import GREY, GREY_ALPHA, PALETTE, RGB, RGBA, chunk, encode_png

LESIONS = {
    "nevus": NEVUS, "melanoma": MELANOMA, "keratosis": KERATOSIS,
    "vascular": VASCULAR, "pale": PALE_LESION, "dark_skin": DARK_SKIN,
}  # fmt: skip


def shrunk(pixels, width, height):
    return np.array(Image.fromarray(pixels).resize((width, height), Image.Resampling.LANCZOS))


def grey_of(pixels):
    return np.array(Image.fromarray(pixels).convert("L"))


def with_16_bits(pixels, rng):
    """uint16 samples whose high bytes are `pixels` and whose low bytes are random."""
    return pixels.astype(np.uint16) << 8 | rng.integers(0, 256, pixels.shape, dtype=np.uint16)


def pillow_file(pixels, kind, mode=None, **options):
    """`pixels` as Pillow writes them."""
    image = Image.fromarray(pixels)
    file = io.BytesIO()
    (image.convert(mode) if mode else image).save(file, kind, **options)
    return file.getvalue()


def jpeg(pixels, quality=88, subsampling="4:2:0", **options):
    return pillow_file(pixels, "JPEG", quality=quality, subsampling=subsampling, **options)


def oriented_jpeg(pixels, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return jpeg(pixels, exif=exif)


def phantom_files():
    for name, phantom in LESIONS.items():
        yield f"phantom_{name}.jpg", jpeg(draw_phantom(phantom))


def png_files(lesion, rng):
    """`lesion` is a small uint8 [H, W, 3] with odd sides."""
    height, width = lesion.shape[:2]
    grey = grey_of(lesion)[..., None]
    alpha = np.linspace(0, 255, width).astype(np.uint8)[None, :, None].repeat(height, 0)
    indexed = Image.fromarray(lesion).quantize(200)
    palette = np.array(indexed.getpalette(), dtype=np.uint8).reshape(-1, 3)[:200]
    indices = np.asarray(indexed)[..., None]
    few = Image.fromarray(lesion).quantize(14)
    few_palette = np.array(few.getpalette(), dtype=np.uint8).reshape(-1, 3)[:14]
    few_indices = np.asarray(few)[..., None]
    grey16, rgb16, alpha16 = with_16_bits(grey, rng), with_16_bits(lesion, rng), with_16_bits(alpha, rng)
    half_transparent = bytes(range(0, 200))
    gamma = chunk(b"gAMA", struct.pack(">I", 100000))

    for bits in (1, 2, 4):
        yield f"png_grey{bits}.png", encode_png(grey >> (8 - bits), GREY, bits)
    yield "png_grey8.png", encode_png(grey, GREY, 8, filter_type=2)
    yield "png_grey16.png", encode_png(grey16, GREY, 16)
    yield "png_rgb8.png", encode_png(lesion, RGB, 8, filter_type=1)
    yield "png_rgb16.png", encode_png(rgb16, RGB, 16)
    yield "png_rgba8.png", encode_png(np.concatenate([lesion, alpha], 2), RGBA, 8)
    yield "png_rgba16.png", encode_png(np.concatenate([rgb16, alpha16], 2), RGBA, 16)
    yield "png_grey_alpha8.png", encode_png(np.concatenate([grey, alpha], 2), GREY_ALPHA, 8)
    yield "png_grey_alpha16.png", encode_png(np.concatenate([grey16, alpha16], 2), GREY_ALPHA, 16)
    yield "png_palette1.png", encode_png(grey > 128, PALETTE, 1, palette=np.array([[120, 60, 40], [230, 190, 170]]))
    yield "png_palette2.png", encode_png(few_indices % 4, PALETTE, 2, palette=few_palette[:4])
    yield "png_palette4.png", encode_png(few_indices, PALETTE, 4, palette=few_palette)
    yield "png_palette8.png", encode_png(indices, PALETTE, 8, palette=palette)
    yield (
        "png_palette8_transparent.png",
        encode_png(indices, PALETTE, 8, palette=palette, transparency=half_transparent),
    )
    yield (
        "png_grey8_transparent.png",
        encode_png(grey, GREY, 8, transparency=struct.pack(">H", int(grey[height // 2, width // 2, 0]))),
    )
    yield (
        "png_rgb8_transparent.png",
        encode_png(lesion, RGB, 8, transparency=struct.pack(">3H", *map(int, lesion[0, 0]))),
    )
    yield "png_rgb8_gamma.png", encode_png(lesion, RGB, 8, extra=gamma)
    yield "png_rgb8_interlaced.png", encode_png(lesion, RGB, 8, interlaced=True, filter_type=1)
    yield "png_grey1_interlaced.png", encode_png(grey >> 7, GREY, 1, interlaced=True)
    yield "png_palette4_interlaced.png", encode_png(few_indices, PALETTE, 4, interlaced=True, palette=few_palette)
    yield "png_grey16_interlaced.png", encode_png(grey16, GREY, 16, interlaced=True)


def jpeg_files(lesion):
    """`lesion` is a small uint8 [H, W, 3] with odd sides."""
    ycc = to_ycc(lesion)
    ycck = np.concatenate([to_ycc(255 - lesion), np.full_like(ycc[..., :1], 215)], 2)
    for name, factors in (("444", (1, 1)), ("422", (2, 1)), ("420", (2, 2)), ("411", (4, 1)), ("440", (1, 2))):
        yield f"jpeg_{name}.jpg", encode_jpeg(ycc, [factors, (1, 1), (1, 1)])
    yield "jpeg_progressive.jpg", jpeg(lesion, progressive=True)
    yield "jpeg_progressive_444.jpg", jpeg(lesion, subsampling="4:4:4", progressive=True)
    yield "jpeg_restart.jpg", jpeg(lesion, subsampling="4:2:2", restart_marker_blocks=3)
    yield "jpeg_low_quality.jpg", jpeg(lesion, quality=12)
    yield "jpeg_grey.jpg", jpeg(grey_of(lesion))
    yield "jpeg_cmyk.jpg", pillow_file(lesion, "JPEG", mode="CMYK", quality=88)
    # Adobe stores inks inverted and YCCK inverts them once more: its first three planes are the YCC of 255 - RGB.
    yield "jpeg_ycck.jpg", encode_jpeg(ycck, [(1, 1)] * 4, adobe_transform=2)
    yield "jpeg_ycck_420.jpg", encode_jpeg(ycck, [(2, 2), (1, 1), (1, 1), (2, 2)], adobe_transform=2)
    for orientation in range(1, 9):
        yield f"jpeg_orientation{orientation}.jpg", oriented_jpeg(lesion, orientation)


def pnm_files(lesion, rng):
    """`lesion` is a small uint8 [H, W, 3]."""
    height, width = lesion.shape[:2]
    size = f"{width} {height}".encode()
    grey = grey_of(lesion)
    plain_grey = "\n".join(" ".join(map(str, row)) for row in grey).encode()
    plain_rgb = "\n".join(" ".join(map(str, row.ravel())) for row in lesion).encode()
    yield "pnm_p2.pgm", b"P2\n# a comment\n" + size + b"\n255\n" + plain_grey + b"\n"
    yield "pnm_p3.ppm", b"P3\n" + size + b"\n255\n" + plain_rgb + b"\n"
    yield "pnm_p5.pgm", b"P5 " + size + b" 255\n" + grey.tobytes()
    yield "pnm_p6.ppm", b"P6\n" + size + b"\n# a comment\n255\n" + lesion.tobytes()
    to_hundred = (lesion.astype(int) * 100 // 255).astype(np.uint8)
    yield "pnm_p6_max100.ppm", b"P6\n" + size + b"\n100\n" + to_hundred.tobytes()
    yield "pnm_p5_16bit.pgm", b"P5\n" + size + b"\n65535\n" + with_16_bits(grey, rng).astype(">u2").tobytes()
    yield "pnm_p6_16bit.ppm", b"P6\n" + size + b"\n65535\n" + with_16_bits(lesion, rng).astype(">u2").tobytes()


def shape_and_level_files(lesion, rng):
    """Extreme shapes and levels. `lesion` is uint8 [450, 600, 3]."""
    rows, columns = np.mgrid[0:120, 0:160]
    gradient = np.stack([columns * 255 // 159, rows * 255 // 119, (columns + rows) * 255 // 278], -1).astype(np.uint8)
    checks = np.where((columns // 3 + rows // 3) % 2 == 0, 255, 0).astype(np.uint8)[..., None].repeat(3, 2)
    solid = np.full((110, 130, 3), (200, 150, 130), np.uint8)
    nearly_solid = solid + rng.integers(0, 2, (110, 130, 1), dtype=np.uint8)
    no_blue = shrunk(lesion, 150, 113) * np.array([1, 1, 0], np.uint8)
    yield "gradient.png", pillow_file(gradient, "PNG")
    yield "checks.png", pillow_file(checks, "PNG")
    yield "noise.png", pillow_file(rng.integers(0, 256, (128, 101, 3), dtype=np.uint8), "PNG")
    yield "solid.png", pillow_file(solid, "PNG")
    yield "nearly_solid_one_level.png", pillow_file(np.minimum(nearly_solid, 201), "PNG")
    yield "near_black.png", pillow_file((rng.random((120, 120, 3)) < 0.001).astype(np.uint8) * 3, "PNG")
    yield "black.png", pillow_file(np.zeros((100, 100, 3), np.uint8), "PNG")
    yield "white.png", pillow_file(np.full((100, 100, 3), 255, np.uint8), "PNG")
    yield "no_blue.png", pillow_file(no_blue, "PNG")
    yield "tall_40x700.png", pillow_file(shrunk(lesion, 40, 700), "PNG")
    yield "wide_1000x33.jpg", jpeg(shrunk(lesion, 1000, 33))
    yield "smallest_32x32.png", pillow_file(shrunk(lesion, 32, 32), "PNG")
    yield "small_99x99.png", pillow_file(shrunk(lesion, 99, 99), "PNG")
    yield "network_size_380x380.jpg", jpeg(shrunk(lesion, 380, 380))
    yield "one_more_381x381.jpg", jpeg(shrunk(lesion, 381, 381))
    yield "odd_457x383.jpg", jpeg(shrunk(lesion, 457, 383))
    yield "large_1501x1127.jpg", jpeg(shrunk(lesion, 1501, 1127), quality=70)


def fixture_files():
    """Yields (file name, bytes) of every picture that can be classified."""
    rng = np.random.default_rng(20260101)
    yield from phantom_files()
    lesion = draw_phantom(NEVUS)
    yield from png_files(shrunk(lesion, 157, 119), rng)
    yield from jpeg_files(shrunk(draw_phantom(MELANOMA), 163, 121))
    yield from pnm_files(shrunk(draw_phantom(VASCULAR), 103, 101), rng)
    yield from shape_and_level_files(lesion, rng)


def refused_files():
    """Yields (file name, bytes, rule) of files that must be refused."""
    lesion = draw_phantom(NEVUS)
    whole = jpeg(shrunk(lesion, 200, 150))
    png = pillow_file(shrunk(lesion, 120, 100), "PNG")
    yield "refused_empty.jpg", b"", "empty"
    yield "refused_text.png", b"This is not an image.\n", "unknown type"
    yield "refused_truncated.jpg", whole[: len(whole) // 2], "truncated"
    yield "refused_truncated.png", png[: len(png) // 2], "truncated"
    yield "refused_truncated.ppm", b"P6\n100 100\n255\n" + bytes(1000), "truncated"
    yield "refused_31x200.png", pillow_file(shrunk(lesion, 31, 200), "PNG"), "a side under 32 pixels"
