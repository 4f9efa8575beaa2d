"""The parts of the training lesions, and the classifier that is fitted on them."""

import unittest

import numpy as np

from dermafusion_training.data.dataset import Record
from dermafusion_training.data.metadata import encode_metadata
from dermafusion_training.evaluation.learning_curve import best_strength, fit, metadata_features, part_of
from dermafusion_training.model.config import CLASSES


def records(lesions_per_class=20, views=2):
    return [
        Record(f"{label}-{lesion}-{view}", f"{label}-{lesion}", "ham10000", label, encode_metadata(40.0, "female")[0])
        for label in range(len(CLASSES))
        for lesion in range(lesions_per_class)
        for view in range(views)
    ]


class LearningCurveTests(unittest.TestCase):
    def test_a_part_has_its_share_of_each_class_with_all_views_of_a_lesion(self):
        made = records()
        part = part_of(made, range(len(made)), 0.25, seed=3)
        for label in range(len(CLASSES)):
            own = [made[i].lesion_id for i in part if made[i].label == label]
            self.assertEqual((len(own), len(set(own))), (10, 5), CLASSES[label])
        self.assertNotEqual(part, part_of(made, range(len(made)), 0.25, seed=4))

    def test_only_lesions_of_the_indices_are_drawn(self):
        made = records()
        self.assertEqual(part_of(made, range(0, len(made), 2), 1.0, seed=1), list(range(0, len(made), 2)))

    def test_metadata_has_one_column_for_each_value(self):
        row = metadata_features(records()[:1])[0]
        self.assertEqual(row.shape, (20,))
        self.assertAlmostEqual(float(row[0]), 0.4, places=6)
        self.assertEqual(row[2:5].tolist(), [0, 1, 0])
        self.assertEqual(row[5:].sum(), 1)

    def test_a_classifier_finds_what_tells_the_classes_apart(self):
        made = records()
        rng = np.random.default_rng(7)
        features = rng.normal(size=(len(made), 12)).astype(np.float32)
        for row, record in zip(features, made):
            row[record.label] += 4
        strength = best_strength(features, made, list(range(len(made))), seed=1)
        answers = fit(features, made, list(range(len(made))), strength)(features)
        self.assertGreater((answers.argmax(1) == [record.label for record in made]).mean(), 0.9)


if __name__ == "__main__":
    unittest.main()
