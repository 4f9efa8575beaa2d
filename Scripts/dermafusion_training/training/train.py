"""The training loop of `train`: optimizer, averaged weights, epochs, checkpoints."""

import json
import math
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from dermafusion_training.data.dataset import (
    listed_sides,
    open_cache,
    read_copies,
    read_records,
    read_twins,
    split_by_lesion,
    split_list,
)
from dermafusion_training.evaluation.metrics import figures, rounded, softmax
from dermafusion_training.model.build import build_config, build_model
from dermafusion_training.model.config import CLASSES
from dermafusion_training.model.folder import load_folder
from dermafusion_training.training.device_views import DeviceViews
from dermafusion_training.training.fast_gradients import make_gradients_fast
from dermafusion_training.training.fast_layers import hold_statistics, make_relu6_lean
from dermafusion_training.training.pretrained import imagenet_backbone
from dermafusion_training.training.run_folder import (
    check_initial_split,
    check_schedule,
    keep_split,
    save,
    write_curves,
    write_recipe,
)
from dermafusion_training.training.samples import (
    Samples,
    batch_size_at,
    capped_validation,
    network_input,
    parse_epochs,
    predict,
    sample_epoch,
)
from dermafusion_training.training.teachers import Teachers

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
    # In one call, because on a GPU each call costs as much as the work on a small tensor.
    moving = {name: value for name, value in average.state_dict().items() if value.dtype.is_floating_point}
    torch._foreach_lerp_(list(moving.values()), [current[name] for name in moving], 1 - decay)


def make_optimizer(model, weight_decay):
    """AdamW that decays matrices and convolutions, but no norm, bias or embedding."""
    embeddings = {id(p) for m in model.modules() if isinstance(m, nn.Embedding) for p in m.parameters()}
    decayed = [p for p in model.parameters() if p.ndim > 1 and id(p) not in embeddings]
    others = [p for p in model.parameters() if p.ndim <= 1 or id(p) in embeddings]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0}])


def freeze_stages(model, count):
    """Keeps the stem and the first `count` stages as they are. They have the largest maps, so that a step takes about
    half of the time without their gradients."""
    for module in [model.conv_stem, model.bn1, *model.blocks[:count]] if count else []:
        module.requires_grad_(False)


class StyleMixer:
    """Gives the maps of a stage, in every other step, a part of the channels' mean and spread of other images
    of the batch (Zhou et al., "Domain generalization with MixStyle", 2021): a camera shows in these."""

    CONCENTRATION = 0.2  # of the Beta distribution of shares: mostly all or nothing

    def __call__(self, stage, _, maps):
        if not stage.training or torch.rand(()) < 0.5:
            return None
        values = maps.float()
        mean, spread = values.mean((2, 3), keepdim=True), values.var((2, 3), keepdim=True).add(1e-6).sqrt()
        concentration = torch.full((len(maps), 1, 1, 1), self.CONCENTRATION, device=maps.device)
        share = torch.distributions.Beta(concentration, concentration).sample()
        others = torch.randperm(len(maps), device=maps.device)
        scale = torch.lerp(spread[others], spread, share) / spread
        return ((values - mean) * scale + torch.lerp(mean[others], mean, share)).to(maps.dtype)


def mix_styles(model):
    """Mixes styles after the first two stages, which see colours and textures more than shapes."""
    for _, stage in model.named_stages()[:2]:
        stage.register_forward_hook(StyleMixer())


def smoothed(labels, smoothing):
    """Targets float32 [N, classes] of labels [N], of which `smoothing` is spread over all classes."""
    return F.one_hot(labels, len(CLASSES)) * (1 - smoothing) + smoothing / len(CLASSES)


def prepared_batches(samples, batch_size, options, device):
    """Batches of samples that processes prepare: the network's input, the metadata and the labels, on the device."""
    loader = DataLoader(
        samples,
        batch_size,
        num_workers=options.workers,
        prefetch_factor=4,
        drop_last=True,
        pin_memory=device.type == "cuda",
    )
    for images, metadata, labels in loader:
        yield network_input(images, samples.preprocessing, device), metadata.to(device), labels.to(device)


def train_epoch(run, batches, size, options, pixels_before, pixels_total, device):
    """One pass over `batches`; returns the mean loss. Progress is counted in pixels, as the work is."""
    run["model"].train()
    losses, pixels_seen = [], pixels_before
    full_size = size == options.size
    for images, metadata, labels in batches:
        rate = learning_rate(options.learning_rate, run["step"], pixels_seen / pixels_total)
        for group in run["optimizer"].param_groups:
            group["lr"] = rate
        target = smoothed(labels, options.label_smoothing)
        # On a CPU plain bfloat16 is slower than float32; see fast_gradients.py.
        with torch.autocast(device.type, torch.bfloat16, enabled=options.bfloat16 and device.type != "cpu"):
            logits = run["model"](images, metadata)
            if run["teachers"] is not None:
                target = torch.lerp(target, run["teachers"].answers(images, metadata), options.teacher_share)
        loss = F.cross_entropy(logits.float(), target)
        run["optimizer"].zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(run["model"].parameters(), 5.0)
        run["optimizer"].step()
        decay = options.full_size_decay if full_size else EMA_DECAY
        decay = min(decay, (1 + run["step"]) / (10 + run["step"]))
        update_average(run["average"], run["model"], decay)
        run["step"] += 1
        pixels_seen += len(labels) * size**2
        losses.append(loss.detach())  # its value is not waited for, so that a GPU always has work
        if run["step"] % 20 == 0:
            print(f"  step {run['step']} lr {rate:.2e} loss {torch.stack(losses[-20:]).mean():.4f}", flush=True)
    return torch.stack(losses).mean().item()


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


def train(options):
    """Runs the training that the options of `train` describe."""
    options.output.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    # The search for the fastest convolutions takes half a minute for each size; without it a step may take ten times
    # as long.
    torch.backends.cudnn.benchmark = True

    config = build_config(options.architecture, CLASSES, size=options.size)
    records = read_records(options.data)
    listed = listed_sides(options.sides) if options.sides else None
    twins = read_twins() + (read_copies(options.copies, records) if options.copies else [])
    split = split_by_lesion(records, options.validation_fraction, options.split_seed, options.fold, twins, listed)
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
    if device.type == "cpu":
        make_gradients_fast(model, options.cache, options.bfloat16)
    model = model.to(device, memory_format=torch.channels_last)
    average = build_model(config).to(device, memory_format=torch.channels_last)
    average.load_state_dict(model.state_dict())
    freeze_stages(model, options.frozen_stages)
    if options.mix_styles:
        mix_styles(model)
    run = {"model": model, "average": average, "optimizer": make_optimizer(model, options.weight_decay), "step": 0}
    run["teachers"] = make_teachers(options, device)
    curves = []
    if checkpoint_path.exists():
        checkpoint = torch.load(checkpoint_path, map_location=device)
        for name in ("model", "average", "optimizer"):
            run[name].load_state_dict(checkpoint[name])
        run["step"], curves = checkpoint["step"], checkpoint["curves"]
        check_schedule(checkpoint_path, curves, epochs, options.change_schedule)
    views = None
    if options.device_views and len(curves) < len(epochs):
        views = DeviceViews(cache, records, training, config["preprocessing"], device)
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
        seed = (options.seed, epoch)
        weights = options.small_weight, options.class_power
        indices = sample_epoch(records, training, images, seed, size, *weights)
        batch_size = batch_size_at(size) * options.batch_factor
        if views is not None:
            batches = views.batches(indices, size, batch_size, seed, options.small_share)
        else:
            samples = Samples(cache, records, indices, size, config["preprocessing"], seed, options.small_share)
            batches = prepared_batches(samples, batch_size, options, device)
        loss = train_epoch(run, batches, size, options, sum(pixels[:epoch]), sum(pixels), device)
        seconds = time.time() - started
        checks = Samples(cache, records, checked, size, config["preprocessing"])
        logits, labels = predict(average, checks, device, options.workers)
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
