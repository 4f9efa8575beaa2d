"""Stand-ins for objects in a checkpoint's pickle, of classes that a training used beside tensors and plain values.

None of these classes is imported and none of their code runs. PyTorch's unpickler for weights alone asks for each
name; it gets a stand-in that keeps nothing, or a plain dict in the place of a kind of dict. A function is refused by
name, but for those with which numpy and pathlib write their values.
"""

import argparse
import re
import zipfile

import torch

# Functions and old spellings that are no classes by their names.
VALUES = (
    *(f"numpy.{core}.multiarray.{name}" for core in ("core", "_core") for name in ("scalar", "_reconstruct")),
    *(f"numpy.{core}.numeric._frombuffer" for core in ("core", "_core")),
    "numpy.ndarray", "numpy.dtype", "collections.deque",
    *(f"numpy.{name}" for name in ("float16", "float32", "float64", "int32", "int64", "uint8", "bool_", "str_")),
    *(f"datetime.{name}" for name in ("datetime", "date", "time", "timedelta", "timezone")),
)  # fmt: skip
TYPES = {"builtins": (list, dict, set, frozenset, tuple, int, float, str, bool, bytes, complex)}
REMEDY = "save the weights alone, where the model can be loaded: torch.save(model.state_dict(), 'weights.pth')"


class StandIn:
    """In the place of an object whose class is not loaded."""

    def __new__(cls, *_, **__):
        return super().__new__(cls)

    def __init__(self, *_, **__):
        pass

    def __setstate__(self, _):
        pass


def stand_in(name):
    """A function to be called where a pickle asks for the class or function `name`; it keeps none of its arguments."""
    if name.lower().endswith("dict"):
        # A kind of dict, filled by the pickle afterwards. defaultdict's argument is what it makes of a missing key.
        return type(name, (), {"__new__": lambda _, *__, **___: {}})
    return type(name, (StandIn,), {})


def is_class(name):
    """True if the last part of a dotted name is written as a class."""
    return bool(re.fullmatch(r"_*[A-Z]\w*", name.rpartition(".")[2]))


def safe_globals(path):
    """Objects that PyTorch's unpickler may be given for the names in a file."""
    allowed = [argparse.Namespace]
    allowed += [(kind, f"builtins.{kind.__name__}") for kind in TYPES["builtins"]]
    allowed += [(kind, f"__builtin__.{kind.__name__}") for kind in TYPES["builtins"]]
    names = {*VALUES, "collections.defaultdict", *(f"pathlib.{name}" for name in PATHS)}
    if zipfile.is_zipfile(path):
        wanted = torch.serialization.get_unsafe_globals_in_checkpoint(path)
        names |= {name for name in wanted if is_class(name) and name != "argparse.Namespace"}
    return allowed + [(stand_in(name), name) for name in sorted(names)]


PATHS = ("Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath")
