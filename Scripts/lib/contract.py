"""The common part of the checks of the contract: what answers of the built program must be."""

import functools
import json
import re
import struct

import checks
from checks import run

DISCLAIMER = (
    "DermaFusion is a research and educational tool. It is NOT a medical device and has NOT been approved by the FDA "
    "or any regulatory authority. Results should NOT be used for self-diagnosis. Always consult a qualified "
    "dermatologist for skin concerns."
)
check = functools.partial(checks.check, is_silent=True)
# The folders of these checks hold one photograph under many names.
COPIES = re.compile(rb"Note: \d+ files? (?:is a copy|are copies) of [^\n]*\n")


def passes(name, *words, said=b"", **more):
    """- said: what standard error must have; without it, nothing."""
    done = run(*words, **more)
    text = COPIES.sub(b"", done.stderr)
    check(
        f"{name}: status 0 and a silent standard error",
        done.returncode == 0 and (said in text if said else text == b""),
        f"status {done.returncode}, {done.stderr.decode()}",
    )
    return done.stdout


def refuses(name, status, *words, said="", **more):
    """One line and nothing else; of wrong usage, the usage or where the help is follows."""
    done = run(*words, **more)
    lines = COPIES.sub(b"", done.stderr).decode(errors="replace").splitlines() or [""]
    one = len(lines) == 1 if status == 1 else " --help' for more information" in lines[-1]
    holds = (
        done.returncode == status and done.stdout == b"" and lines[0].startswith("Error: ") and one and said in lines[0]
    )
    check(
        f"{name}: refused with status {status}",
        holds,
        f"status {done.returncode}, {len(done.stdout)} bytes of output, {lines}",
    )


def parsed(name, text):
    try:
        return json.loads(text)
    except ValueError as error:
        check(f"{name}: is JSON", False, error)
        return {}


def plain(text):
    return " ".join(text.split())


def npy_start(data):
    """The offset at which the values of a NumPy array begin."""
    return 10 + struct.unpack("<H", data[8:10])[0]


def npy_values(data):
    """The bytes of the values of a NumPy array."""
    return data[npy_start(data) :]


def npy(data):
    """The type and the shape of a NumPy array."""
    header = data[10 : npy_start(data)].decode()
    return re.search(r"'descr': '([^']*)'", header)[1], tuple(
        int(part) for part in re.search(r"'shape': \(([^)]*)\)", header)[1].split(",") if part.strip()
    )
