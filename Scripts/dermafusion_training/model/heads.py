"""The kind of head that a configuration or a training names: one class of several is all that can be exported.

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
ONLY = "only models that choose one class of several, by softmax, can be run"


def letters(text):
    """A text in lower case without anything but letters and digits: `multi-label` and `MultiLabel` are one word."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def require_single_label(value, path=""):
    """Raises CheckpointError, naming the key, where the outputs are no logits of classes of which one is right."""
    if isinstance(value, argparse.Namespace):
        value = vars(value)
    if isinstance(value, (list, tuple)):
        for entry in value:
            if isinstance(entry, (dict, argparse.Namespace)):
                require_single_label(entry, path)
    if not isinstance(value, dict):
        return
    for key, entry in value.items():
        if not isinstance(key, str) or letters(key) in NAMES:
            continue
        shown = f"{path}.{key}" if path else key
        if isinstance(entry, (dict, list, tuple, argparse.Namespace)):
            require_single_label(entry, shown)
        elif isinstance(entry, (str, bool, int, float)):
            require(letters(key), entry, shown)


def require(key, value, shown):
    word = letters(value) if isinstance(value, str) else "true" if value else "false"
    says = "multilabel" in key and word not in ("false", "no", "none", "")
    if says or "multilabel" in word or (key in LOSSES and word in LOSSES_OF_SEVERAL_LABELS):
        raise CheckpointError(f"{shown} is {value}: each output is a yes or no of its own (a multi-label head); {ONLY}")
    if key in ACTIVATIONS and word == "sigmoid":
        raise CheckpointError(
            f"{shown} is {value}: each output is a sigmoid of its own, as in a multi-label head; {ONLY}"
        )
    if key == "problemtype" and word == "regression":
        raise CheckpointError(f"{shown} is {value}: the outputs are measurements and no classes; {ONLY}")


def uses_binary_loss(arguments):
    """Whether a training compared each output with a yes or no, as timm's --bce-loss does for single labels too."""
    return bool(arguments.get("bce_loss")) or letters(str(arguments.get("loss"))) in ("bce", "bcewithlogitsloss")
