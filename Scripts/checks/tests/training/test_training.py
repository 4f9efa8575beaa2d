"""The targets and weights of training."""

import tempfile
import unittest
from pathlib import Path

import torch
from test_models import random_state
from torch.nn import functional as F

from dermafusion_training.commands.average import average
from dermafusion_training.model.build import build_config, build_model
from dermafusion_training.model.config import CLASSES
from dermafusion_training.model.export import export
from dermafusion_training.model.folder import load_folder
from dermafusion_training.training.teachers import Teachers
from dermafusion_training.training.train import learning_rate, mix_in, smoothed, update_average


class TargetTests(unittest.TestCase):
    def test_smoothed_targets_give_the_loss_of_label_smoothing(self):
        generator = torch.Generator().manual_seed(31)
        logits = torch.randn(9, len(CLASSES), generator=generator)
        labels = torch.arange(9) % len(CLASSES)
        expected = F.cross_entropy(logits, labels, label_smoothing=0.07)
        self.assertAlmostEqual(float(F.cross_entropy(logits, smoothed(labels, 0.07))), float(expected), places=6)

    def test_every_teacher_is_asked_and_answers_what_it_thinks(self):
        config = build_config("efficientnet_lite0", CLASSES, size=64)
        images = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(32))
        metadata = torch.tensor([[0.5, 0, 1, 2], [0, 1, 2, 13]])
        with tempfile.TemporaryDirectory() as folder:
            expected = []
            for seed in (33, 34):
                state = random_state(config, seed)
                export(state, config, Path(folder) / str(seed), "float32")
                model = build_model(config).eval()
                model.load_state_dict(state, strict=False)
                with torch.no_grad():
                    expected.append(F.softmax(model(images, metadata), dim=1))
            teachers = Teachers([Path(folder) / "33", Path(folder) / "34"], [0.5, 0.5], torch.device("cpu"))
            teachers.begin(35, 0)
            seen = set()
            for _ in range(20):
                answers = teachers.answers(images, metadata)
                errors = [float((answers - wanted).abs().max()) for wanted in expected]
                self.assertLess(min(errors), 1e-4)
                seen.add(errors.index(min(errors)))
        self.assertEqual(seen, {0, 1})

    def test_a_batch_is_shown_at_most_at_its_own_size(self):
        config = build_config("efficientnet_lite0", CLASSES, size=64)
        images = torch.randn(1, 3, 260, 260, generator=torch.Generator().manual_seed(36))
        with tempfile.TemporaryDirectory() as folder:
            export(random_state(config, 37), config, Path(folder) / "model", "float32")
            teachers = Teachers([Path(folder) / "model"], [1.0], torch.device("cpu"))
        sizes = set()
        answer = teachers.models[0].forward
        teachers.models[0].forward = lambda images, metadata: sizes.add(images.shape[-1]) or answer(images, metadata)
        teachers.begin(38, 0)
        for _ in range(30):
            teachers.answers(images, torch.zeros(1, 4))
        self.assertEqual(sizes, {224, 256, 260})


class WeightTests(unittest.TestCase):
    def test_the_average_and_the_mixture_move_by_their_shares(self):
        ones, threes = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        for parameter in ones.parameters():
            parameter.data.fill_(1)
        for parameter in threes.parameters():
            parameter.data.fill_(3)
        update_average(ones, threes, decay=0.75)
        self.assertTrue(torch.equal(ones.weight, torch.full((2, 3), 1.5)))
        mix_in(ones, threes.state_dict(), share=0.5)
        self.assertTrue(torch.equal(ones.bias, torch.full((2,), 2.25)))

    def test_the_mean_of_two_models_is_a_model(self):
        config = build_config("efficientnet_lite0", CLASSES, size=64)
        with tempfile.TemporaryDirectory() as place:
            folders = [Path(place) / name for name in ("first", "second", "other")]
            for seed, folder in enumerate(folders[:2], 38):
                export(random_state(config, seed), config, folder, "float32")
            average(folders[:2], Path(place) / "mean", "mean", "2.0.0")
            found, model = load_folder(Path(place) / "mean")
            self.assertEqual((found["name"], found["version"]), ("mean", "2.0.0"))
            states = [load_folder(folder)[1].state_dict() for folder in folders[:2]]
            for name, value in model.state_dict().items():
                if value.dtype.is_floating_point:
                    expected = ((states[0][name] + states[1][name]) / 2).half().float()
                    self.assertTrue(torch.allclose(value, expected, atol=1e-6), name)
            other = build_config("efficientnet_lite0", CLASSES, size=96)
            export(random_state(other, 40), other, folders[2], "float32")
            with self.assertRaisesRegex(ValueError, "other: preprocessing is not that of .*first"):
                average([folders[0], folders[2]], Path(place) / "none", "none", "1.0.0")

    def test_the_rate_rises_and_falls_to_a_hundredth(self):
        self.assertAlmostEqual(learning_rate(1e-3, 74, 0), 0.5e-3)
        self.assertAlmostEqual(learning_rate(1e-3, 10_000, 0), 1e-3)
        self.assertAlmostEqual(learning_rate(1e-3, 10_000, 0.5), 0.505e-3)
        self.assertAlmostEqual(learning_rate(1e-3, 10_000, 1), 1e-5)


if __name__ == "__main__":
    unittest.main()
