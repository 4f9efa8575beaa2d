"""State dicts in files that others wrote, read without running anything that the file asks for.

A .pth or .pt file may hold the state dict or wrap it, as timm's train.py does: {"state_dict", "state_dict_ema",
"args", "epoch", "optimizer", ...}. An average of the weights (EMA) is preferred, as timm's own loading does; it may lie
further inside, as {"model", "ema": {"module", "updates"}} or among Lightning's callbacks. An average without all
tensors of the weights beside it is refused. The option --take names the weights where a file holds several.
"""

import argparse
import pickle
import re
import tarfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from dermafusion_training.model.folder import CheckpointError, last_layer, some
from dermafusion_training.model.heads import is_multi_label
from dermafusion_training.model.names import (
    architectures_of,
    first_convolution,
    ignore,
    rename_head,
    rename_torchvision,
    take_off_prefix,
)
from dermafusion_training.model.pickles import REMEDY, StandIn, safe_globals
from dermafusion_training.model.timm_folder import (
    INDEXES,
    described,
    label_names,
    load_shards,
    read_configuration,
    snapshot,
    weights_path,
)

# A key or a prefix that names an average: state_dict_ema, ema1, net_ema., averaged_model, swa_model.
AVERAGE = re.compile(r"(^|[_.])(ema|average[ds]?|swa)\d*([_.]|$)")
WRAPPERS = ("state_dict", "model_state_dict", "model")
INNER = (*WRAPPERS, "module", "shadow", "ema_model", "ema_state_dict", "weights")  # inside an average
AVERAGE_PREFIXES = ("ema_model.", "model_ema.", "ema.")
PREFIXES = ("module.", "model.", "_orig_mod.", *AVERAGE_PREFIXES)
# Tensors of batch norms, and of Swin's windows in files of older versions of timm.
NO_PARAMETERS = (".num_batches_tracked", ".relative_position_index", ".attn_mask")
COUNTERS = ("n_averaged", "num_updates", "updates", "steps", "decay")  # beside the weights of an average


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
    is_multi_label: bool = False  # as the configuration or the arguments of the training say
    take: str | None = None  # the key or prefix of the weights that are meant, until it is found

    def description(self):
        """A line on the parts that were taken and those that were not."""
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
        self.require_colors()
        raise CheckpointError(
            "its tensors fit no architecture of this package; name one of timm's by --architecture; "
            f"there are {some(self.state)}"
        )

    def network_arguments(self):
        """Arguments of timm's create_model besides the name, by the configuration or by timm's train.py."""
        arguments = self.arguments
        more = arguments.get("model_kwargs")
        told = {"global_pool": arguments.get("gp"), "bn_eps": arguments.get("bn_eps")}
        return told | (more if isinstance(more, dict) else {}) | (self.configuration.get("model_args") or {})

    def require_colors(self):
        """Raises CheckpointError for a network that takes images of another number of channels than 3."""
        name = first_convolution(self.state)
        if name and self.state[name].shape[1] != 3:
            count = self.state[name].shape[1]
            raise CheckpointError(
                f"{name} is of a network for images of {count} channel{'s' * (count != 1)}, and photographs have 3 "
                "(red, green, blue); the network must be trained on those"
            )

    def classes(self):
        """The classes that the configuration beside the weights tells; None where it does not."""
        names = label_names(self.configuration) if self.configuration else None
        return described(names, self.configuration) if names else None

    def output_count(self):
        """The number of logits that the network gives; None where its last layer is not found."""
        layer = last_layer(self.state)
        return self.state[f"{layer}.weight"].shape[0] if layer else None


def refused_reason(error):
    """Why torch.load refused a file, in a few words."""
    match = re.search(r"(?:GLOBAL|global:?|class) [`']?([\w.]+)[`']? was not an allowed global", str(error))
    match = match or re.search(r"Unsupported (?:global|class|type)[^\w]*(?:GLOBAL )?[`']?([\w.]+)", str(error))
    if match:
        kinds = "only tensors, plain values and classes that need not run are loaded"
        return f"its pickle wants {match[1]}; {kinds}; {REMEDY}"
    return "not a checkpoint of PyTorch, or a damaged one"


OTHERS = {
    ".onnx": "an ONNX model", ".tflite": "a TensorFlow Lite model", ".h5": "weights of Keras",
    ".keras": "a Keras model", ".pb": "a TensorFlow model", ".msgpack": "weights of Flax",
    ".mlmodel": "a Core ML model",
}  # fmt: skip


def other_kind(path):
    """The kind of a file that is no checkpoint, and what to do; None for one that may be."""
    if kind := OTHERS.get(path.suffix.lower()):
        return f"{kind}; export the PyTorch checkpoint that it was made from"
    with path.open("rb") as file:
        start = file.read(512)
    if start.startswith(b"version https://git-lfs"):
        return "a pointer of Git LFS in the place of the file: run git lfs pull"
    if start.startswith(b"PK\3\4") and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        if any(name.endswith("/constants.pkl") for name in names):
            return f"a TorchScript program, whose code is not run; {REMEDY}"
        if not any(name.endswith("data.pkl") for name in names):
            return "a ZIP archive: unzip it and give the checkpoint or the folder in it"
    if start.startswith(b"\x1f\x8b") or tarfile.is_tarfile(path):
        return "an archive: unpack it and give the checkpoint or the folder in it"
    return None


def load(path):
    """The value that a file holds. Raises CheckpointError."""
    if not Path(path).is_file():
        raise CheckpointError(f"{path}: no such file")
    if reason := other_kind(Path(path)):
        raise CheckpointError(f"{path}: {reason}")
    try:
        if Path(path).name.endswith(INDEXES):
            return load_shards(path, load)
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


def is_average(name):
    return bool(AVERAGE.search(name))


def holds_weights(value):
    """True if a value is a dict of tensors by name, or has one inside."""
    if not isinstance(value, dict):
        return False
    return any(isinstance(name, str) and isinstance(inner, torch.Tensor) for name, inner in value.items()) or any(
        holds_weights(value.get(key)) for key in INNER
    )


def averages_of(value):
    """The averages in a dict as {path: value}: under a key of their own, or inside one of Lightning's callbacks."""
    found = {(key,): inner for key, inner in value.items() if isinstance(key, str) and is_average(key)}
    callbacks = value.get("callbacks")
    for name, entry in (callbacks if isinstance(callbacks, dict) else {}).items():
        if isinstance(entry, dict):
            found |= {("callbacks", str(name), key): entry[key] for key in entry if is_average(str(key))}
    return {path: inner for path, inner in found.items() if holds_weights(inner)}


def choose_weights(value, checkpoint):
    """(path, value) of what --take names in a wrapper, or of its average, or of its weights; None for no wrapper."""
    averages = averages_of(value)
    wrappers = INNER if checkpoint.taken_from else WRAPPERS
    plain = {(key,): value[key] for key in wrappers if holds_weights(value.get(key))}
    both = plain | averages
    if checkpoint.take:
        for path in both:
            if ".".join(path) == checkpoint.take:
                checkpoint.take = None
                return path, both[path]
        if holds_weights(value.get(checkpoint.take)):
            key, checkpoint.take = checkpoint.take, None
            return (key,), value[key]
    if len(averages) > 1 and not plain:
        shown = ", ".join(".".join(path) for path in averages)
        raise CheckpointError(f"holds {len(averages)} averages of the weights ({shown}); choose one by --take")
    chosen = averages if len(averages) == 1 else plain
    if not chosen:
        return None
    path = next(iter(chosen))
    if chosen is averages and plain:
        require_whole(path, chosen[path], next(iter(plain)), next(iter(plain.values())))
    return path, chosen[path]


def require_whole(path, average, plain_path, plain):
    """Raises CheckpointError for an average that lacks tensors of the weights beside it."""
    missing = [name for name in bare_names(plain) if name not in set(bare_names(average))]
    if missing:
        raise CheckpointError(
            f"{'.'.join(path)} lacks {len(missing)} of the tensors of {'.'.join(plain_path)} ({some(missing)}); "
            f"take the whole ones by --take {'.'.join(plain_path)}"
        )


def bare_names(value):
    """The names of the tensors in a dict or inside its wrappers, without the prefixes of other modules around them."""
    while inner := next((value[key] for key in INNER if holds_weights(value.get(key))), None):
        value = inner
    names = [name for name, inner in value.items() if isinstance(inner, torch.Tensor) and name not in COUNTERS]
    bare = []
    for name in names:
        while prefix := next((prefix for prefix in PREFIXES if name.startswith(prefix)), None):
            name = name.removeprefix(prefix)
        if not name.endswith(".num_batches_tracked"):
            bare.append(name)
    return bare


def find_state_dict(value, checkpoint):
    """The dict with the tensors inside a checkpoint's usual wrappers; notes in `checkpoint` what lies beside it."""
    while isinstance(value, dict):
        chosen = choose_weights(value, checkpoint)
        if chosen is None:
            break
        path, inner = chosen
        checkpoint.taken_from += path
        beside = {key: other for key, other in value.items() if not holds_weights(other)}
        checkpoint.is_multi_label |= is_multi_label(beside)
        checkpoint.ignored += [str(other) for other in value if other != path[0]]
        arguments = value.get("args")
        if isinstance(arguments, (argparse.Namespace, dict)):
            checkpoint.arguments = arguments if isinstance(arguments, dict) else vars(arguments)
        if isinstance(value.get("arch"), str):
            checkpoint.stated_architecture = value["arch"]
        value = inner
    module = value if isinstance(value, StandIn) else None
    if isinstance(value, dict) and not any(isinstance(inner, torch.Tensor) for inner in value.values()):
        module = next((inner for inner in value.values() if is_module(inner)), None)
    if module is not None:
        raise CheckpointError(f"holds a whole pickled {type(module).__name__}, whose code is not run; {REMEDY}")
    if not isinstance(value, dict) or not any(isinstance(inner, torch.Tensor) for inner in value.values()):
        raise CheckpointError("the checkpoint holds no state dict")
    return value


def is_module(value):
    """True if a value stands for a whole network."""
    return isinstance(value, StandIn) and not type(value).__name__.startswith(("numpy.", "pathlib.", "datetime."))


def only_taken(state, checkpoint):
    """The tensors under the prefix that --take names, where it does."""
    prefix = checkpoint.take and f"{checkpoint.take.removesuffix('.')}."
    if not prefix:
        return state
    inside = {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}
    if not inside:
        raise CheckpointError(
            f"--take {checkpoint.take}: no such key and no such prefix of names; there are {some(state)}"
        )
    checkpoint.prefixes.append(prefix)
    ignore([name for name in state if not name.startswith(prefix)], checkpoint)
    return inside


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


def unwrap(value, take=None):
    """The Checkpoint inside what a file holds; `take` names the weights where there are several."""
    checkpoint = Checkpoint({}, take=take)
    state = only_taken(find_state_dict(value, checkpoint), checkpoint)
    state = take_off_prefixes(state, checkpoint)
    state = rename_head(rename_torchvision(take_off_prefix(state, checkpoint), checkpoint), checkpoint)
    for name, tensor in state.items():
        if name in COUNTERS:
            checkpoint.ignored.append(name)
            continue
        if not isinstance(tensor, torch.Tensor):
            raise CheckpointError(f"{name}: not a tensor but {type(tensor).__name__}")
        if not name.endswith(NO_PARAMETERS):
            checkpoint.state[name] = tensor.detach().cpu()
    return checkpoint


def read_checkpoint(path, take=None):
    """Reads a .safetensors, .pth or .pt file, or timm's folder. Raises CheckpointError, which names the file.

    `take` is the key, or the prefix of the names, of the weights that are meant where a file holds several.
    """
    path = snapshot(path)
    file = weights_path(path)
    value = load(file)
    try:
        checkpoint = unwrap(value, take)
        checkpoint.configuration = read_configuration(path) or {}
        checkpoint.is_multi_label |= is_multi_label(checkpoint.configuration)
        return checkpoint
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None
