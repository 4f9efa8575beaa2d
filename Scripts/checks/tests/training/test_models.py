"""Exported folders, batch norms that hold their statistics, and what training draws."""

import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch

from dermafusion_training.data.dataset import Record
from dermafusion_training.model.build import build_config, build_model
from dermafusion_training.model.checkpoint import unwrap
from dermafusion_training.model.config import CLASSES
from dermafusion_training.model.export import export
from dermafusion_training.model.folder import CheckpointError, expected_tensors, load_folder, model_identity
from dermafusion_training.training.fast_layers import hold_statistics
from dermafusion_training.training.samples import class_shares, parse_epochs, sample_epoch


def random_state(config, seed):
    generator = torch.Generator().manual_seed(seed)
    state = expected_tensors(config)
    for name, tensor in state.items():
        values = torch.randn(tensor.shape, generator=generator) * 0.1
        state[name] = values.abs() + 0.5 if name.endswith("running_var") else values
    return state


class ExportTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.config = build_config("efficientnet_lite0", CLASSES, size=64)
        self.state = random_state(self.config, seed=21)

    def refused(self, state, pattern, dtype="float16"):
        with self.assertRaisesRegex(CheckpointError, pattern):
            export(state, self.config, self.folder / "refused", dtype)
        self.assertFalse((self.folder / "refused").exists())

    def test_a_folder_gives_back_its_weights(self):
        identity = export(self.state, self.config, self.folder / "model", "float32")
        config, model = load_folder(self.folder / "model")
        self.assertEqual(config, self.config)
        self.assertEqual(identity, model_identity(self.folder / "model"))
        loaded = model.state_dict()
        for name, tensor in self.state.items():
            self.assertTrue(torch.equal(loaded[name], tensor), name)

    def test_what_does_not_fit_is_refused_by_name(self):
        name = "blocks.1.0.conv_pw.weight"
        self.refused({key: value for key, value in self.state.items() if key != name}, f"{name}: missing")
        self.refused(self.state | {"head.weight": torch.zeros(3)}, "head.weight: surplus")
        self.refused(self.state | {name: torch.zeros(3, 5)}, f"{name}: shape \\[3, 5\\], expected")
        broken = self.state[name].clone()
        broken.view(-1)[7] = torch.nan
        self.refused(self.state | {name: broken}, f"{name}: holds NaN")
        self.refused(self.state | {name: broken.nan_to_num(7e4)}, f"{name}: 70000 overflows float16")

    def test_wrappers_and_prefixes_are_taken_off(self):
        wrapped = {
            "epoch": 3,
            "state_dict": {f"module._orig_mod.{name}": tensor for name, tensor in self.state.items()},
        }
        self.assertEqual(unwrap(wrapped).state.keys(), self.state.keys())
        with self.assertRaises(CheckpointError):
            unwrap({})


class HeldStatisticsTests(unittest.TestCase):
    def test_folded_norms_compute_what_they_did(self):
        for architecture in ("efficientnet_lite0", "efficientnet_b0", "mobilenetv3_small_100", "resnet18"):
            config = build_config(architecture, CLASSES, fusion=False, size=48)
            model = build_model(config).eval()
            model.load_state_dict(random_state(config, seed=22), strict=False)
            image = torch.randn(2, 3, 48, 48, generator=torch.Generator().manual_seed(23))
            with torch.no_grad():
                before = model(image)
                hold_statistics(model)
                after = model.train()(image)
            self.assertLess(float((before - after).abs().max() / before.abs().max()), 1e-4, architecture)


class DrawTests(unittest.TestCase):
    def setUp(self):
        counts = [9, 16, 25, 4, 36, 400, 1]
        self.records = [
            Record(f"{label}-{number}", f"{label}-{number}", "crop224", label, np.zeros(4, np.float32))
            for label, count in enumerate(counts)
            for number in range(count)
        ]

    def test_schedules_read_as_they_are_written(self):
        self.assertEqual(parse_epochs("160x4500*2,380x2000"), [(160, 4500), (160, 4500), (380, 2000)])

    def test_classes_are_drawn_by_the_root_of_their_size(self):
        everything = range(len(self.records))
        np.testing.assert_allclose(class_shares(self.records, everything) * 41, [3, 4, 5, 2, 6, 20, 1])
        drawn = sample_epoch(self.records, everything, 60_000, (5, 0))
        shares = np.bincount([self.records[i].label for i in drawn], minlength=7) / len(drawn)
        np.testing.assert_allclose(shares, class_shares(self.records, everything), atol=0.01)

    def test_runs_and_epochs_draw_apart(self):
        draws = [tuple(sample_epoch(self.records, range(491), 50, (run, epoch))) for run in (1, 2) for epoch in (0, 1)]
        self.assertEqual(len(set(draws)), 4)
        self.assertEqual(draws[0], tuple(sample_epoch(self.records, range(491), 50, (1, 0))))


if __name__ == "__main__":
    unittest.main()
