"""Views that are made a batch at a time on the device."""

import unittest

import numpy as np
import torch

from dermafusion_training.data.augmentation import SMALLEST_COPY
from dermafusion_training.data.dataset import Record
from dermafusion_training.data.metadata import encode_metadata
from dermafusion_training.data.preprocessing import color_constancy
from dermafusion_training.model.config import default_preprocessing
from dermafusion_training.training.device_views import DeviceViews, Draws, augment, balance, cut_out, reduce
from dermafusion_training.training.train import StyleMixer

CPU = torch.device("cpu")


def noise(count, side, seed):
    return torch.rand(count, 3, side, side, generator=torch.Generator().manual_seed(seed))


def generator(seed):
    return torch.Generator().manual_seed(seed)


def roughness(images):
    """The mean difference of neighbouring pixels of each image."""
    return (images[..., 1:] - images[..., :-1]).abs().mean((1, 2, 3))


class ChangeTests(unittest.TestCase):
    def test_views_are_pictures_of_their_size_that_the_seed_decides(self):
        images = noise(8, 150, 41)
        views = [augment(images, 96, (0.6, 1.7), 0.3, 6, generator(seed)) for seed in (1, 1, 2)]
        self.assertEqual(views[0].shape, (8, 3, 96, 96))
        self.assertTrue(0 <= views[0].min() < views[0].max() <= 1)
        self.assertTrue(torch.equal(views[0], views[1]))
        self.assertFalse(torch.equal(views[0], views[2]))

    def test_the_share_of_a_batch_is_shrunk_and_the_last_images_stay(self):
        images = noise(20, 2 * SMALLEST_COPY, 42)
        rough = roughness(reduce(images, Draws(20, generator(3)), 0.25)) / roughness(images)
        self.assertTrue((rough[:5] < 0.5).all(), rough)
        unchanged = (rough > 0.999).sum()
        self.assertEqual(unchanged, 9)  # of the fifteen others 40 % are shrunk too
        self.assertTrue(torch.equal(reduce(images[11:], Draws(9, generator(3)), 0)[-5:], images[-5:]))

    def test_a_small_batch_is_reduced_without_empty_calls(self):
        for count in (1, 2, 3):
            images = noise(count, 90, 43)
            self.assertEqual(reduce(images, Draws(count, generator(4)), 0.3).shape, images.shape)

    def test_colours_are_balanced_as_the_finished_network_sees_them(self):
        settings = default_preprocessing(380)["color_constancy"]
        image = np.random.default_rng(44).integers(0, 256, (90, 90, 3), np.uint8)
        image[..., 2] //= 2
        expected = color_constancy(image, settings)[0].astype(np.float32) / 255
        found = balance(torch.from_numpy(image).permute(2, 0, 1)[None].float() / 255, settings["p"])
        np.testing.assert_allclose(found[0].permute(1, 2, 0), expected, atol=0.51 / 255)

    def test_a_hidden_square_has_the_mean_colour(self):
        images = noise(60, 80, 45)
        found = cut_out(images, Draws(60, generator(5)))
        hidden = (found != images).all(1)
        mean = images.mean((2, 3))
        count = 0
        for image, place, colour in zip(found, hidden, mean, strict=True):
            if place.any():
                count += 1
                self.assertTrue(torch.allclose(image[:, place], colour[:, None].expand(3, int(place.sum()))))
        self.assertTrue(10 <= count <= 32, count)  # a third of sixty


class BatchTests(unittest.TestCase):
    def test_batches_hold_the_photographs_that_were_drawn(self):
        settings = default_preprocessing(48)
        cache = np.zeros((6, 48, 48, 3), np.uint8)
        cache += np.array([20, 50, 90, 130, 180, 230], np.uint8)[:, None, None, None]
        cache[:, ::2] //= 2
        records = [Record(f"I{i}", f"L{i}", "s", i, encode_metadata(age=10 * i)[0], "s") for i in range(6)]
        views = DeviceViews(cache, records, [1, 2, 4, 5], settings, CPU)
        batches = list(views.batches([5, 1, 4, 2, 5], 48, 2, (7, 0), 0.3))
        self.assertEqual([labels.tolist() for _, _, labels in batches], [[5, 1], [4, 2]])
        for inputs, metadata, _ in batches:
            self.assertEqual(inputs.shape, (2, 3, 48, 48))
            self.assertTrue(inputs.is_contiguous(memory_format=torch.channels_last))
            self.assertEqual((metadata.shape, metadata.dtype), ((2, 4), torch.float32))
        again = list(views.batches([5, 1, 4, 2, 5], 48, 2, (7, 0), 0.3))
        self.assertTrue(all(torch.equal(a[0], b[0]) for a, b in zip(batches, again, strict=True)))


class StyleTests(unittest.TestCase):
    def test_means_of_channels_move_between_those_of_two_images(self):
        stage, mixer = torch.nn.Identity().train(), StyleMixer()
        maps = noise(6, 9, 46) * torch.arange(1, 7)[:, None, None, None]
        torch.manual_seed(47)
        mixed = [result for result in (mixer(stage, None, maps) for _ in range(20)) if result is not None]
        self.assertTrue(3 <= len(mixed) <= 17, len(mixed))
        low, high = maps.mean((2, 3)).min(0).values, maps.mean((2, 3)).max(0).values
        for result in mixed:
            means = result.mean((2, 3))
            self.assertTrue(((means >= low - 1e-4) & (means <= high + 1e-4)).all())
        self.assertTrue(any(not torch.allclose(result, maps) for result in mixed))
        self.assertIsNone(mixer(stage.eval(), None, maps))


if __name__ == "__main__":
    unittest.main()
