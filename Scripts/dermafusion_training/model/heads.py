"""The kind of head that a configuration or a training names: one class of several, or several labels.

ModelHead.swift has the same rules for a folder that the program reads.
"""

import argparse
import re

from dermafusion_training.model.folder import CheckpointError

# Keys below which words are names of classes, prose or numbers of the training.
NAMES = {
    "labelnames", "labels", "labeldescriptions", "id2label", "label2id", "classes", "training", "description",
    "license", "citation", "optimizer", "optimizerstates",
}  # fmt: skip
ACTIVATIONS = {
    "activation", "finalactivation", "outputactivation", "classifieractivation", "headactivation", "functiontoapply",
}  # fmt: skip
LOSSES = {"loss", "losstype", "lossfn", "criterion"}
LOSSES_OF_SEVERAL_LABELS = {"twoway", "zlpr", "db"}  # of timm, which need a yes or no for each class


def letters(text):
    """A text in lower case without anything but letters and digits: `multi-label` and `MultiLabel` are one word."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def is_multi_label(value, path=""):
    """True if a key says that each output is a yes or no of its own.

    Raises CheckpointError, naming the key, where the outputs are no logits of classes.
    """
    if isinstance(value, argparse.Namespace):
        value = vars(value)
    if isinstance(value, (list, tuple)):
        entries = [entry for entry in value if isinstance(entry, (dict, argparse.Namespace))]
        return any([is_multi_label(entry, path) for entry in entries])
    if not isinstance(value, dict):
        return False
    found = False
    for key, entry in value.items():
        if not isinstance(key, str) or letters(key) in NAMES:
            continue
        shown = f"{path}.{key}" if path else key
        if isinstance(entry, (dict, list, tuple, argparse.Namespace)):
            found |= is_multi_label(entry, shown)
        elif isinstance(entry, (str, bool, int, float)):
            found |= says(letters(key), entry, shown)
    return found


def says(key, value, shown):
    word = letters(value) if isinstance(value, str) else "true" if value else "false"
    if key == "problemtype" and word == "regression":
        raise CheckpointError(f"{shown} is {value}: the outputs are measurements; only models of classes run")
    by_key = "multilabel" in key and word not in ("false", "no", "none", "")
    by_loss = key in LOSSES and word in LOSSES_OF_SEVERAL_LABELS
    return by_key or "multilabel" in word or by_loss or (key in ACTIVATIONS and word == "sigmoid")


def uses_binary_loss(arguments):
    """True if a training compared each output with a yes or no, as timm's --bce-loss does for single labels too."""
    return bool(arguments.get("bce_loss")) or letters(str(arguments.get("loss"))) in ("bce", "bcewithlogitsloss")
