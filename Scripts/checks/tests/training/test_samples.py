"""Tests of the samples that a training epoch draws, and of the changes of views."""

import unittest

import numpy as np
import torch
from PIL import Image

from dermafusion_training.data.augmentation import (
    SMALLEST_COPY,
    SMALLEST_SHARE,
    augment_image,
    augment_metadata,
    degrade,
    match_colors,
    mirror_around,
)
from dermafusion_training.data.dataset import Record
from dermafusion_training.data.metadata import encode_metadata
from dermafusion_training.data.preprocessing import normalize
from dermafusion_training.model.config import default_preprocessing
from dermafusion_training.training.samples import Samples, class_shares, network_input, photograph_weights


def record(number, label, source):
    return Record(f"I{number}", f"L{number}", source, label, np.zeros(4, np.float32), source)


class WeightTests(unittest.TestCase):
    def test_classes_get_their_shares_and_sources_the_root_of_their_sizes(self):
        kinds = [(0, "ham10000")] * 4 + [(0, "milk10k")] * 9 + [(1, "milk10k")] * 25
        records = [record(i, *kind) for i, kind in enumerate(kinds)]
        training = list(range(len(records)))
        weights = photograph_weights(records, training)
        self.assertAlmostEqual(weights.sum(), 1)
        self.assertAlmostEqual(weights[:13].sum(), class_shares(records, training)[0])
        self.assertAlmostEqual(weights[:4].sum() / weights[4:13].sum(), 2 * 2 / 3)
        self.assertAlmostEqual(weights[0], weights[3])

    def test_blurred_photographs_count_half_at_many_pixels(self):
        records = [record(i, 0, "bcn84" if i < 9 else "milk10k") for i in range(18)]
        shares = [photograph_weights(records, list(range(18)), size)[:9].sum() for size in (160, 256)]
        np.testing.assert_allclose(shares, [1 / 2, 1 / 3])

    def test_what_is_told_of_blurred_photographs_holds_at_many_pixels_alone(self):
        records = [record(i, 0, "bcn84" if i < 9 else "milk10k") for i in range(18)]
        shares = [photograph_weights(records, list(range(18)), size, 0.25)[:9].sum() for size in (160, 161)]
        np.testing.assert_allclose(shares, [1 / 2, 1 / 5])
        kept = [Samples(None, records, [], size, {}, smallest_share=0.12).smallest_share for size in (160, 161)]
        self.assertEqual(kept, [SMALLEST_SHARE, 0.12])

    def test_with_one_source_classes_alone_decide(self):
        records = [record(i, i % 2, "ham10000") for i in range(10)]
        np.testing.assert_allclose(photograph_weights(records, list(range(10))), 0.1)


class ViewTests(unittest.TestCase):
    def test_outside_an_image_lies_its_mirror_image(self):
        for side in (1, 7, 48, 95):
            image = np.random.default_rng(side).integers(0, 256, (side, side, 3), np.uint8)
            margin = side // 2
            expected = np.pad(image, ((margin, margin), (margin, margin), (0, 0)), "symmetric")
            np.testing.assert_array_equal(np.asarray(mirror_around(Image.fromarray(image), margin)), expected)

    def test_as_many_views_are_shrunk_to_the_smallest_copy_as_they_are_told(self):
        image = Image.new("RGB", (380, 380))
        rng = np.random.default_rng(4)
        for share in (0, 0.12, 1):
            shrunk = sum(degrade(image, 380, rng, share).width == SMALLEST_COPY for _ in range(1000)) / 1000
            self.assertAlmostEqual(shrunk, share, delta=0.03)
        self.assertEqual(degrade(image, 60, rng, 1).width, 60)

    def test_the_networks_input_is_the_normalized_image(self):
        images = np.random.default_rng(5).integers(0, 256, (2, 6, 6, 3), np.uint8)
        settings = default_preprocessing(6)
        inputs = network_input(torch.from_numpy(images), settings, torch.device("cpu"))
        self.assertTrue(inputs.is_contiguous(memory_format=torch.channels_last))
        for image, values in zip(images, inputs.numpy(), strict=True):
            np.testing.assert_allclose(values, normalize(image, settings), atol=1e-6)

    def test_every_kind_of_view_is_a_picture_and_a_seed_gives_it_again(self):
        image = np.random.default_rng(1).integers(0, 256, (48, 48, 3), np.uint8)
        for seed in range(60):
            first, second = (augment_image(image, 40, (0.8, 1.5), np.random.default_rng(seed)) for _ in range(2))
            self.assertEqual((first.shape, first.dtype), ((40, 40, 3), np.float32))
            self.assertTrue(first.min() >= 0 and first.max() <= 255, seed)
            np.testing.assert_array_equal(first, second)

    def test_metadata_is_often_hidden(self):
        known, missing = encode_metadata(50, "male", "back")[0], encode_metadata()[0]
        rng = np.random.default_rng(2)
        hidden = sum((augment_metadata(known, rng) == missing).all() for _ in range(2000))
        self.assertAlmostEqual(hidden / 2000, 0.5, delta=0.04)

    def test_matched_colors_have_the_mean_and_the_spread_of_the_other_image(self):
        rng = np.random.default_rng(3)
        image = rng.normal((150, 110, 90), (20, 9, 5), (66, 66, 3)).clip(0, 255).astype(np.uint8)
        other = rng.normal((190, 150, 160), (8, 14, 21), (72, 72, 3)).clip(0, 255).astype(np.uint8)
        moved = match_colors(image, other, 1).astype(np.float64)
        np.testing.assert_allclose(moved.mean((0, 1)), other.mean((0, 1)), atol=3)
        np.testing.assert_allclose(moved.std((0, 1)), other.std((0, 1)), rtol=0.25)
        np.testing.assert_allclose(match_colors(image, other, 0), image, atol=1)


if __name__ == "__main__":
    unittest.main()
