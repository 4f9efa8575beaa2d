"""Makes small files that ask for much: decompression bombs, damaged and unsupported images, sparse files, pipes that
stall.
"""

import os
import struct
import zlib
from pathlib import Path


def segment(marker, body):
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def grey_jpeg(frame, width, height, scans):
    """A JPEG of one component whose scans hold no data; `frame` is the marker of its kind."""
    data = b"\xff\xd8" + segment(0xDB, bytes([0]) + bytes([1] * 64))
    data += segment(frame, struct.pack(">BHHB", 8, height, width, 1) + bytes([1, 0x11, 0]))
    for spectrum in scans:
        data += segment(0xDA, bytes([1, 1, 0, *spectrum, 0]))
    return data + b"\xff\xd9"


def arithmetic_bomb(width=13000, height=13000):
    """About a hundred bytes that claim 169 million pixels: arithmetic coding needs no bits for them."""
    data = b"\xff\xd8" + segment(0xDB, bytes([0]) + bytes([1] * 64))
    data += segment(0xC9, struct.pack(">BHHB", 8, height, width, 3) + bytes([1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]))
    return data + segment(0xDA, bytes([3, 1, 0, 2, 0, 3, 0, 0, 63, 0])) + b"\xff\xd9"


def scan_bomb(scans=490, width=12000, height=12000):
    """Progressive, arithmetic, with hundreds of empty scans."""
    return grey_jpeg(0xCA, width, height, [(0, 0)] + [(1, 63)] * (scans - 1))


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, depth, colour, body, before=b"", interlace=0):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def thin_png(height=178_000_000):
    """One column of 178 million rows of a bit each: two zero bytes a row, deflated."""
    packer = zlib.compressobj(9)
    body = b"".join(packer.compress(bytes(2 * (1 << 20))) for _ in range(height // (1 << 20)))
    body += packer.compress(bytes(2 * (height % (1 << 20)))) + packer.flush()
    return png(1, height, 1, 0, body)


def solid_png(width=13000, height=13000):
    """169 million grey pixels in 165 kB."""
    packer = zlib.compressobj(9)
    row = bytes(width + 1)
    body = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    return png(width, height, 8, 0, body)


def text_bomb_png(count=2000):
    """Many compressed text chunks of 8 MB each, none of which is an image's."""
    text = chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(bytes(7_900_000), 9))
    return png(40, 40, 8, 0, zlib.compress(bytes(41 * 40)), before=text * count)


def sparse(path, byte_count, start=b""):
    with open(path, "wb") as file:
        file.write(start)
        file.truncate(byte_count)


def make(folder):
    """Writes them all; gives each path with a word of the refusal that is expected."""
    folder = Path(folder)
    files = {
        "arithmetic-bomb.jpg": (arithmetic_bomb(), "too large"),
        "scan-bomb.jpg": (scan_bomb(), "too large"),
        "thin.png": (thin_png(), "too small"),
        "tall.pbm": (b"P4 1 178000000\n", "too small"),
        "text-bomb.png": (text_bomb_png(), None),
        "lossless.jpg": (grey_jpeg(0xC3, 64, 64, [(1, 0)]), "not supported"),
        "hierarchical.jpg": (grey_jpeg(0xC5, 64, 64, [(0, 63)]), "not supported"),
        "many-pixels.jpg": (grey_jpeg(0xC0, 65000, 65000, [(0, 63)]), "too large"),
    }
    for name, (data, _) in files.items():
        (folder / name).write_bytes(data)
    sparse(folder / "sparse.jpg", 512 << 20)
    sparse(folder / "huge.jpg", 1 << 40)
    os.symlink("/dev/zero", folder / "zero.jpg")
    expected = {name: words for name, (_, words) in files.items()}
    return expected | {"sparse.jpg": "not a PNG", "huge.jpg": "larger than", "zero.jpg": "not a PNG"}
