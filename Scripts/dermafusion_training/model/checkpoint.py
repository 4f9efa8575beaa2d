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

from dermafusion_training.model.folder import CheckpointError, some
from dermafusion_training.model.names import architectures_of, rename_head, rename_torchvision, take_off_prefix
from dermafusion_training.model.pickles import REMEDY, StandIn, safe_globals
from dermafusion_training.model.timm_folder import INDEX, label_names, load_shards, read_configuration, weights_path

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
    configuration: dict = field(default_factory=dict)  # timm's config.json, where it lies beside the weights
    library: str | None = None  # whose names the tensors had, where they were not timm's
    head: str | None = None  # the name that the last layer had, where it was not timm's
    stated_architecture: str | None = None

    def description(self):
        """What was taken and what was not, as one line."""
        source = ".".join(self.taken_from) or "the state dict"
        prefixes = f", without the prefix {''.join(self.prefixes)}" if self.prefixes else ""
        ignored = f"; ignored: {', '.join(self.ignored)}" if self.ignored else ""
        library = f", named as in {self.library}" if self.library else ""
        head = f", the last layer from {self.head}" if self.head else ""
        return f"took {source}{prefixes}{library}{head}, {len(self.state)} tensors{ignored}"

    def architecture(self):
        """The architecture that the file states, or that its tensors' names and shapes fit. Raises CheckpointError."""
        stated = self.configuration.get("architecture") or self.stated_architecture or self.arguments.get("model")
        if isinstance(stated, str) and stated:
            return stated.partition(".")[0]
        fitting = architectures_of(self.state, self.library)
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise CheckpointError(f"its tensors fit {' and '.join(fitting)}: say which by --architecture")
        raise CheckpointError(f"its tensors fit no architecture that is known here; there are {some(self.state)}")

    def classes(self):
        """The names of the outputs, where the configuration beside the weights tells them."""
        return label_names(self.configuration) if self.configuration else None


def refused_reason(error):
    """Why torch.load refused a file, in a few words."""
    match = re.search(r"(?:GLOBAL|global:?|class) [`']?([\w.]+)[`']? was not an allowed global", str(error))
    match = match or re.search(r"Unsupported (?:global|class|type)[^\w]*(?:GLOBAL )?[`']?([\w.]+)", str(error))
    if match:
        kinds = "only tensors, plain values and classes that need not run are loaded"
        return f"its pickle wants {match[1]}; {kinds}; {REMEDY}"
    return "not a checkpoint of PyTorch, or a damaged one"


def load(path):
    """The value that a file holds. Raises CheckpointError."""
    if not Path(path).is_file():
        raise CheckpointError(f"{path}: no such file")
    try:
        if Path(path).name.endswith(INDEX):
            return load_shards(path)
        if Path(path).suffix == ".safetensors":
            return load_file(path)
        with torch.serialization.safe_globals(safe_globals(path)):
            return torch.load(path, map_location="cpu", weights_only=True)
    except SafetensorError as error:
        raise CheckpointError(f"{path}: not a safetensors file: {error}") from error
    except CheckpointError:
        raise
    # A pickle may hold anything: what it does wrong with a stand-in is its fault, too.
    except (
        RuntimeError, ValueError, EOFError, KeyError, TypeError, AttributeError, pickle.UnpicklingError,
        zipfile.BadZipFile,
    ) as error:  # fmt: skip
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
        if isinstance(value.get("arch"), str):
            checkpoint.stated_architecture = value["arch"]
        value = value[key]
    module = value if isinstance(value, StandIn) else None
    if isinstance(value, dict) and not any(isinstance(inner, torch.Tensor) for inner in value.values()):
        module = next((inner for inner in value.values() if is_module(inner)), None)
    if module is not None:
        raise CheckpointError(f"holds a whole pickled {type(module).__name__}, whose code is not run; {REMEDY}")
    if not isinstance(value, dict) or not any(isinstance(inner, torch.Tensor) for inner in value.values()):
        raise CheckpointError("the checkpoint holds no state dict")
    return value


def is_module(value):
    """Whether a value stands for a whole network."""
    return isinstance(value, StandIn) and not type(value).__name__.startswith(("numpy.", "pathlib.", "datetime."))


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
    state = rename_head(rename_torchvision(take_off_prefix(state, checkpoint), checkpoint), checkpoint)
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
    """Reads a .safetensors, .pth or .pt file, or timm's folder. Raises CheckpointError, which names the file."""
    file = weights_path(path)
    value = load(file)
    try:
        checkpoint = unwrap(value)
        checkpoint.configuration = read_configuration(path) or {}
        return checkpoint
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None
