"""A small baseline JPEG encoder for the kinds that Pillow cannot write: any sampling factors, YCCK.

Huffman and quantisation tables are those of ITU T.81, annex K.
"""

import struct

import numpy as np

LUMINANCE = np.array([
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
]).reshape(8, 8)  # fmt: skip
QUANTISATION = (LUMINANCE + 2) // 4

DC_COUNTS = bytes([0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0])
DC_VALUES = bytes(range(12))
AC_COUNTS = bytes([0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7D])
AC_VALUES = bytes.fromhex(
    "01020300041105122131410613516107227114328191a1082342b1c11552d1f0"
    "2433627282090a161718191a25262728292a3435363738393a43444546474849"
    "4a535455565758595a636465666768696a737475767778797a83848586878889"
    "8a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5"
    "c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8"
    "f9fa"
)

ZIGZAG = sorted(
    ((row, column) for row in range(8) for column in range(8)),
    key=lambda p: (p[0] + p[1], p[0] if (p[0] + p[1]) % 2 else p[1]),
)


def huffman_codes(counts, values):
    """Symbol -> (code, length)."""
    codes, code, position = {}, 0, 0
    for length, count in enumerate(counts, 1):
        for _ in range(count):
            codes[values[position]] = (code, length)
            code, position = code + 1, position + 1
        code <<= 1
    return codes


DC_CODES, AC_CODES = huffman_codes(DC_COUNTS, DC_VALUES), huffman_codes(AC_COUNTS, AC_VALUES)


def dct_matrix():
    k, n = np.mgrid[0:8, 0:8]
    matrix = np.cos((2 * n + 1) * k * np.pi / 16) / 2
    matrix[0] /= np.sqrt(2)
    return matrix


def quantised_blocks(plane, block_rows, block_columns):
    """Quantised coefficients int [block_rows, block_columns, 64] in zigzag order of a plane 0...255."""
    height, width = plane.shape
    padded = np.pad(plane, ((0, block_rows * 8 - height), (0, block_columns * 8 - width)), "edge") - 128.0
    blocks = padded.reshape(block_rows, 8, block_columns, 8).transpose(0, 2, 1, 3)
    matrix = dct_matrix()
    quantised = np.rint(matrix @ blocks @ matrix.T / QUANTISATION).astype(int)
    return np.stack([quantised[..., row, column] for row, column in ZIGZAG], axis=-1)


def magnitude_bits(value):
    """JPEG's size category and its bits, as text."""
    size = abs(value).bit_length()
    bits = value if value >= 0 else value + (1 << size) - 1
    return size, format(bits, f"0{size}b") if size else ""


def block_bits(block, previous_dc):
    """One block's entropy-coded bits, as text."""
    size, bits = magnitude_bits(int(block[0]) - previous_dc)
    code, length = DC_CODES[size]
    parts, run = [format(code, f"0{length}b"), bits], 0
    last = max(np.flatnonzero(block), default=0)
    for value in block[1 : last + 1].tolist():
        if value == 0:
            run += 1
            continue
        while run > 15:
            code, length = AC_CODES[0xF0]
            parts.append(format(code, f"0{length}b"))
            run -= 16
        size, bits = magnitude_bits(value)
        code, length = AC_CODES[run << 4 | size]
        parts += [format(code, f"0{length}b"), bits]
        run = 0
    if last < 63:
        code, length = AC_CODES[0]
        parts.append(format(code, f"0{length}b"))
    return "".join(parts)


def segment(marker, data):
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def subsample(plane, horizontal, vertical):
    """Averages `vertical` x `horizontal` cells of a plane, whose border is repeated to fill the last cell."""
    height, width = plane.shape
    padded = np.pad(plane, ((0, -height % vertical), (0, -width % horizontal)), "edge")
    cells = padded.reshape(padded.shape[0] // vertical, vertical, padded.shape[1] // horizontal, horizontal)
    return cells.mean(axis=(1, 3))


def to_ycc(rgb):
    """JFIF's Y, Cb, Cr planes, float64 [H, W, 3], of RGB 0...255."""
    r, g, b = (rgb[..., channel].astype(np.float64) for channel in range(3))
    y = 0.299 * r + 0.587 * g + 0.114 * b
    return np.stack([y, (b - y) / 1.772 + 128, (r - y) / 1.402 + 128], axis=-1).clip(0, 255)


def encode_jpeg(planes, sampling, adobe_transform=None):
    """A baseline JPEG of planes [H, W, C], 0...255, already in the file's colour space.

    sampling: (horizontal, vertical) factor of each component; adobe_transform: 0 CMYK, 2 YCCK, or None for JFIF.
    """
    height, width, components = planes.shape
    widest, tallest = max(h for h, _ in sampling), max(v for _, v in sampling)
    unit_columns, unit_rows = -(-width // (8 * widest)), -(-height // (8 * tallest))
    blocks = [
        quantised_blocks(subsample(planes[..., c], widest // h, tallest // v), unit_rows * v, unit_columns * h)
        for c, (h, v) in enumerate(sampling)
    ]
    bits, previous = [], [0] * components
    for row in range(unit_rows):
        for column in range(unit_columns):
            for c, (h, v) in enumerate(sampling):
                for block_row in range(v):
                    for block_column in range(h):
                        block = blocks[c][row * v + block_row, column * h + block_column]
                        bits.append(block_bits(block, previous[c]))
                        previous[c] = int(block[0])
    text = "".join(bits)
    text += "1" * (-len(text) % 8)
    scan = int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\x00")

    if adobe_transform is None:
        application = segment(0xE0, b"JFIF\0" + bytes([1, 1, 0, 0, 1, 0, 1, 0, 0]))
    else:
        application = segment(0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, adobe_transform))
    table = bytes([0]) + bytes(int(QUANTISATION[position]) for position in ZIGZAG)
    frame = struct.pack(">BHHB", 8, height, width, components)
    frame += b"".join(bytes([c + 1, h << 4 | v, 0]) for c, (h, v) in enumerate(sampling))
    start = bytes([components]) + b"".join(bytes([c + 1, 0]) for c in range(components)) + bytes([0, 63, 0])
    return (
        b"\xff\xd8" + application + segment(0xDB, table) + segment(0xC0, frame)
        + segment(0xC4, bytes([0x00]) + DC_COUNTS + DC_VALUES) + segment(0xC4, bytes([0x10]) + AC_COUNTS + AC_VALUES)
        + segment(0xDA, start) + scan + b"\xff\xd9"
    )  # fmt: skip
