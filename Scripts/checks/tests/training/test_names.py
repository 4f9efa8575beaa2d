"""Checkpoints whose tensors have other names than timm's, and what may lie beside them."""

import collections
import pathlib
import unittest

import numpy as np
import torch
from test_checkpoints import Folder
from test_models import random_state

from dermafusion_training.model.build import build_config
from dermafusion_training.model.checkpoint import read_checkpoint
from dermafusion_training.model.folder import CheckpointError


class Setting:
    """A class of a person's own, whose code must not run."""

    ran = False

    def __init__(self, value):
        self.value = value

    def __setstate__(self, state):
        Setting.ran = True


class NamesTests(Folder):
    """Names as people's own modules and torchvision give them."""

    @classmethod
    def setUpClass(cls):
        cls.small = random_state(build_config("mobilenetv3_small_100", ["a", "b"], False), seed=71)
        cls.resnet = random_state(build_config("resnet18", ["a", "b"], False), seed=72)

    def read(self, value):
        torch.save(value, self.folder / "weights.pth")
        return read_checkpoint(self.folder / "weights.pth")

    def same(self, checkpoint, state, architecture):
        self.assertEqual(checkpoint.state.keys(), state.keys())
        self.assertEqual(checkpoint.architecture(), architecture)

    def test_a_prefix_of_all_tensors_is_taken_off_whatever_it_is(self):
        beside = {"criterion.weight": torch.ones(2), "val_metric.total": torch.ones(1)}
        for prefix in ("net.", "backbone.", "timm_model.", "0.model.", "my.own_module.cnn.", "fc."):
            for state, name in ((self.small, "mobilenetv3_small_100"), (self.resnet, "resnet18")):
                checkpoint = self.read({"state_dict": {prefix + key: value for key, value in state.items()} | beside})
                self.same(checkpoint, state, name)
                self.assertIn(prefix, checkpoint.description())
                self.assertIn("criterion.*", checkpoint.ignored)
        self.same(self.read(self.small | beside), self.small, "mobilenetv3_small_100")

    def test_a_last_layer_in_another_module_is_found(self):
        for state, layer in ((self.small, "classifier"), (self.resnet, "fc")):
            for other in ("classifier.1", "fc.1", "head.fc", "head", "classifier.2.linear"):
                renamed = {name.replace(f"{layer}.", f"{other}.", 1): tensor for name, tensor in state.items()}
                checkpoint = self.read(renamed)
                self.assertEqual(checkpoint.state.keys(), state.keys(), other)
        apart = {f"net.backbone.{name}": tensor for name, tensor in self.resnet.items() if not name.startswith("fc.")}
        apart |= {f"net.head.{kind}": self.resnet[f"fc.{kind}"] for kind in ("weight", "bias")}
        self.same(self.read(apart), self.resnet, "resnet18")
        two = {name: tensor for name, tensor in self.resnet.items() if not name.startswith("fc.")}
        two |= {
            f"fc.{place}.{kind}": torch.ones(2, 2)[: 1 + (kind == "weight")].squeeze()
            for place in (0, 2)
            for kind in ("weight", "bias")
        }
        with self.assertRaisesRegex(CheckpointError, r"the head has 2 Linear layers \(fc.0, fc.2\)"):
            self.read(two)

    def test_two_networks_are_not_chosen_between(self):
        both = {f"{prefix}.{name}": tensor for prefix in ("student", "teacher") for name, tensor in self.resnet.items()}
        with self.assertRaisesRegex(CheckpointError, "holds 2 networks, under the prefixes student., teacher."):
            self.read(both)

    def test_what_fits_nothing_or_two_is_said_with_names(self):
        lite = random_state(build_config("efficientnet_b0", ["a", "b"], False), seed=73)
        with self.assertRaisesRegex(CheckpointError, "fit efficientnet_b0 and tf_efficientnet_b0: say which"):
            self.read(lite).architecture()
        with self.assertRaisesRegex(CheckpointError, r"there are a\.w, b\.w, c\.w, d\.w, e\.w, \.\.\."):
            self.read({f"{letter}.w": torch.ones(2, 2) for letter in "abcdef"}).architecture()

    def test_classes_beside_the_weights_are_not_loaded(self):
        beside = {
            "best": np.float64(0.9),
            "history": np.arange(4.0),
            "names": {np.str_("mel"): np.int64(4)},
            "path": pathlib.PurePosixPath("/data"),
            "folder": pathlib.Path("/data"),
            "losses": collections.defaultdict(list, {"loss": [1.0]}),
            "setting": Setting(3),
        }
        for name, value in beside.items():
            with self.subTest(name):
                checkpoint = self.read({"state_dict": self.resnet, name: value, "hparams": {name: value}})
                self.same(checkpoint, self.resnet, "resnet18")
        self.assertFalse(Setting.ran)

    def test_a_whole_module_is_refused_with_the_remedy(self):
        for value in (torch.nn.Linear(2, 2), {"model": torch.nn.Linear(2, 2)}):
            with self.assertRaisesRegex(CheckpointError, r"whole pickled .*Linear.*torch\.save\(model\.state_dict\(\)"):
                self.read(value)


if __name__ == "__main__":
    unittest.main()
