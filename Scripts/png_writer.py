"""Every kind of PNG there is, which Pillow cannot write: all bit depths, 16-bit colour, Adam7."""

import struct
import zlib

import numpy as np

GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}

# Adam7's passes: first column, first row, column step, row step.
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed_rows(samples, bit_depth, filter_type):
    """Rows of unsigned samples [H, W, C] as bytes, each after its filter byte (0 none, 1 sub, 2 up)."""
    height = samples.shape[0]
    flat = samples.reshape(height, -1)
    if bit_depth == 16:
        rows = flat.astype(">u2").view(np.uint8)
    elif bit_depth == 8:
        rows = flat.astype(np.uint8)
    else:
        bits = np.unpackbits(flat.astype(np.uint8)[..., None], axis=-1)[..., 8 - bit_depth :]
        rows = np.packbits(bits.reshape(height, -1), axis=1)
    step = max(1, samples.shape[2] * bit_depth // 8)
    filtered = rows.copy()
    if filter_type == 1:
        filtered[:, step:] -= rows[:, :-step]
    elif filter_type == 2:
        filtered[1:] -= rows[:-1]
    return b"".join(bytes([filter_type]) + row.tobytes() for row in filtered)


def encode_png(
    samples, color_type, bit_depth, interlaced=False, palette=None, transparency=None, filter_type=0, extra=b""
):
    """A PNG file of unsigned samples [H, W, C] below 2^bit_depth.

    palette: uint8 [N, 3]; transparency: the tRNS chunk's bytes; extra: whole chunks to put before the pixels.
    """
    height, width = samples.shape[:2]
    assert samples.shape[2] == CHANNELS[color_type]
    header = struct.pack(">IIBBBBB", width, height, bit_depth, color_type, 0, 0, int(interlaced))
    if interlaced:
        passes = [samples[row::row_step, column::step] for column, row, step, row_step in ADAM7]
        data = b"".join(packed_rows(part, bit_depth, filter_type) for part in passes if part.size)
    else:
        data = packed_rows(samples, bit_depth, filter_type)
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra
    if palette is not None:
        file += chunk(b"PLTE", palette.astype(np.uint8).tobytes())
    if transparency is not None:
        file += chunk(b"tRNS", transparency)
    return file + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")
