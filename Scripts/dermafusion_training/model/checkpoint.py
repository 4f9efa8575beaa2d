"""State dicts in files that others wrote, read without running anything that the file asks for.

A .pth or .pt file may hold the state dict or wrap it, as timm's train.py does: {"state_dict", "state_dict_ema",
"args", "epoch", "optimizer", ...}. An average of the weights (EMA) is preferred, as timm's own loading does.
"""

import argparse
import pickle
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from dermafusion_training.model.folder import CheckpointError

AVERAGES = ("state_dict_ema", "model_ema", "ema_state_dict", "ema")
WRAPPERS = (*AVERAGES, "state_dict", "model_state_dict", "model")
AVERAGE_PREFIXES = ("ema_model.", "model_ema.", "ema.")
PREFIXES = ("module.", "model.", "_orig_mod.", *AVERAGE_PREFIXES)
COUNTERS = ("n_averaged",)  # beside the weights that torch's AveragedModel holds


@dataclass
class Checkpoint:
    """A state dict with timm's names, and what became of the rest of its file."""

    state: dict
    taken_from: list = field(default_factory=list)  # keys on the way to the state dict
    prefixes: list = field(default_factory=list)  # taken off the names, in order
    ignored: list = field(default_factory=list)
    arguments: dict = field(default_factory=dict)  # of the training, where the file has them

    def description(self):
        """What was taken and what was not, as one line."""
        source = ".".join(self.taken_from) or "the state dict"
        prefixes = f", without the prefix {''.join(self.prefixes)}" if self.prefixes else ""
        ignored = f"; ignored: {', '.join(self.ignored)}" if self.ignored else ""
        return f"took {source}{prefixes}, {len(self.state)} tensors{ignored}"


def refused_reason(error):
    """Why torch.load refused a file, in a few words."""
    match = re.search(r"(?:GLOBAL|global:?|class) [`']?([\w.]+)[`']? was not an allowed global", str(error))
    match = match or re.search(r"Unsupported (?:global|class|type)[^\w]*(?:GLOBAL )?[`']?([\w.]+)", str(error))
    if match:
        return f"its pickle wants {match[1]}; only tensors, plain values and argparse.Namespace are loaded"
    return "not a checkpoint of PyTorch, or a damaged one"


def load(path):
    """The value that a file holds. Raises CheckpointError."""
    if not Path(path).is_file():
        raise CheckpointError(f"{path}: no such file")
    try:
        if Path(path).suffix == ".safetensors":
            return load_file(path)
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except SafetensorError as error:
        raise CheckpointError(f"{path}: not a safetensors file: {error}") from error
    except (RuntimeError, ValueError, EOFError, KeyError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"{path}: {refused_reason(error)}") from error


def find_state_dict(value, checkpoint):
    """The dict with the tensors inside a checkpoint's usual wrappers; notes in `checkpoint` what lies beside it."""
    while isinstance(value, dict):
        key = next((key for key in WRAPPERS if isinstance(value.get(key), dict) and value[key]), None)
        if key is None:
            break
        checkpoint.taken_from.append(key)
        checkpoint.ignored += [str(other) for other in value if other != key]
        arguments = value.get("args")
        if isinstance(arguments, argparse.Namespace):
            checkpoint.arguments = vars(arguments)
        value = value[key]
    if not isinstance(value, dict) or not any(isinstance(inner, torch.Tensor) for inner in value.values()):
        raise CheckpointError("the checkpoint holds no state dict")
    return value


def take_off_prefixes(state, checkpoint):
    """Takes wrappers' prefixes off the names. Where averaged and other weights lie side by side, the averaged stay."""
    while True:
        prefix = next((p for p in PREFIXES if any(name.startswith(p) for name in state)), None)
        average = next((p for p in AVERAGE_PREFIXES if any(name.startswith(p) for name in state)), None)
        if average is not None:
            others = [name for name in state if not name.startswith(average)]
            checkpoint.ignored += sorted({f"{name.split('.')[0]}.*" if "." in name else name for name in others})
            state = {name: tensor for name, tensor in state.items() if name.startswith(average)}
            prefix = average
        if prefix is None:
            return state
        checkpoint.prefixes.append(prefix)
        renamed = {}
        for name, tensor in state.items():
            short = name.removeprefix(prefix)
            if short in renamed:
                raise CheckpointError(f"{short}: there twice, with and without the prefix {prefix}")
            renamed[short] = tensor
        state = renamed


def unwrap(value):
    """The Checkpoint inside what a file holds."""
    checkpoint = Checkpoint({})
    state = take_off_prefixes(find_state_dict(value, checkpoint), checkpoint)
    for name, tensor in state.items():
        if name in COUNTERS:
            checkpoint.ignored.append(name)
            continue
        if not isinstance(tensor, torch.Tensor):
            raise CheckpointError(f"{name}: not a tensor but {type(tensor).__name__}")
        if not name.endswith(".num_batches_tracked"):
            checkpoint.state[name] = tensor.detach().cpu()
    return checkpoint


def read_checkpoint(path):
    """Reads a .safetensors, .pth or .pt file. Raises CheckpointError, which names the file."""
    value = load(path)
    try:
        return unwrap(value)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None
