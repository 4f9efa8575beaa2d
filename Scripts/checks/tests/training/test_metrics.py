"""Figures, calibration and conformal sets against values worked out by hand."""

import unittest

import numpy as np

from dermafusion_training.evaluation.abstention_fit import conformal_thresholds
from dermafusion_training.evaluation.calibration import FOLDS, cross_fitted, fit_bias, fit_temperature
from dermafusion_training.evaluation.comparison import COMPARED, compared, resampled
from dermafusion_training.evaluation.metrics import (
    expected_calibration_error,
    figures,
    mean_figures,
    melanoma_sensitivity_at_90_specificity,
    per_class_recall,
    softmax,
)
from dermafusion_training.model.abstention import conformal_sets
from dermafusion_training.model.config import CLASSES

MEL, NV = CLASSES.index("mel"), CLASSES.index("nv")


def two_class(melanoma):
    """Probabilities [N, 7] of melanoma as given, of a mole the rest."""
    probabilities = np.zeros((len(melanoma), len(CLASSES)))
    probabilities[:, MEL] = melanoma
    probabilities[:, NV] = 1 - np.array(melanoma)
    return probabilities


def drawn(seed, count=700, scale=2.0):
    """Logits and the labels drawn from their softmax, so that temperature 1 without bias is right."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, scale, (count, len(CLASSES)))
    labels = np.array([rng.choice(len(CLASSES), p=row) for row in softmax(logits)])
    return logits, labels


class FigureTests(unittest.TestCase):
    def test_calibration_error_by_hand(self):
        # Bins of a fifteenth: 0.9 and 0.92 fall into one (one of two right), 0.6 alone into another (right).
        probabilities = two_class([0.9, 0.08, 0.6])
        labels = np.array([MEL, MEL, MEL])
        expected = abs(0.5 - 0.91) * 2 / 3 + abs(1 - 0.6) / 3
        self.assertAlmostEqual(expected_calibration_error(probabilities, labels), expected, places=12)

    def test_certainty_belongs_to_the_last_bin(self):
        self.assertEqual(expected_calibration_error(two_class([1.0, 0.0]), np.array([MEL, NV])), 0)

    def test_sensitivity_where_one_in_ten_of_the_others_may_be_called_melanoma(self):
        # Above the threshold between 0.5 and 0.6 lies one of ten moles, and three of four melanomas.
        moles, melanomas = [0.6, 0.5, 0.4, 0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.0], [0.9, 0.8, 0.55, 0.45]
        probabilities = two_class(moles + melanomas)
        labels = np.array([NV] * 10 + [MEL] * 4)
        self.assertEqual(melanoma_sensitivity_at_90_specificity(probabilities, labels), 0.75)

    def test_sensitivity_at_a_point_on_a_straight_piece_of_the_curve(self):
        # Each threshold lets one melanoma and one mole more pass: three of thirty moles bring three of four melanomas.
        tied, below = [0.9, 0.8, 0.7, 0.6], np.arange(26) / 100
        probabilities = two_class([*tied, *tied, *below])
        labels = np.array([MEL] * 4 + [NV] * 30)
        self.assertEqual(melanoma_sensitivity_at_90_specificity(probabilities, labels), 0.75)

    def test_no_sensitivity_without_both_kinds(self):
        self.assertIsNone(melanoma_sensitivity_at_90_specificity(two_class([0.2, 0.7]), np.array([NV, NV])))
        self.assertIsNone(melanoma_sensitivity_at_90_specificity(two_class([0.2, 0.7]), np.array([MEL, MEL])))

    def test_the_mean_of_several_answers_figures(self):
        labels = np.array([MEL, MEL, NV, NV])
        one = figures(two_class([0.9, 0.3, 0.2, 0.1]), labels)
        other = figures(two_class([0.9, 0.7, 0.2, 0.6]), labels)
        mean = mean_figures([one, other, other])
        self.assertEqual(mean["n"], 4)
        self.assertAlmostEqual(mean["recall"]["mel"], (0.5 + 1 + 1) / 3)
        self.assertAlmostEqual(mean["ece"], (one["ece"] + 2 * other["ece"]) / 3)
        alone = figures(two_class([0.9]), np.array([MEL]))
        self.assertIsNone(mean_figures([alone, alone])["macro_auroc"])

    def test_means_are_over_the_classes_that_occur(self):
        result = figures(two_class([0.9, 0.3, 0.2, 0.1]), np.array([MEL, MEL, NV, NV]))
        self.assertEqual(per_class_recall(two_class([0.9, 0.3]), np.array([MEL, MEL])), {"mel": 0.5})
        self.assertEqual(result["recall"], {"mel": 0.5, "nv": 1.0})
        self.assertEqual(result["balanced_accuracy"], 0.75)
        self.assertEqual(result["macro_auroc"], 1.0)
        self.assertEqual(result["accuracy"], 0.75)


class CalibrationTests(unittest.TestCase):
    def test_the_temperature_undoes_a_scale(self):
        logits, labels = drawn(seed=11, count=4000)
        for scale in (0.6, 1.8):
            self.assertAlmostEqual(fit_temperature(logits * scale, labels) / scale, 1, delta=0.08, msg=f"scale {scale}")
        self.assertEqual(fit_temperature(logits, labels), 1)

    def test_the_bias_undoes_a_shift(self):
        logits, labels = drawn(seed=12, count=6000)
        shift = np.array([1.0, -0.5, 0.25, 0.0, -1.0, 0.75, -0.5])
        bias = fit_bias(logits - shift, labels, melanoma=None)
        self.assertAlmostEqual(bias.sum(), 0, places=9)
        np.testing.assert_allclose(bias, shift - shift.mean(), atol=0.25)

    def test_a_missed_melanoma_weighs_twice(self):
        logits, labels = drawn(seed=14, count=6000)
        without = fit_bias(logits, labels, melanoma=None)
        twice = fit_bias(logits, labels)
        probabilities = softmax(logits + without), softmax(logits + twice)
        recalls = [(p.argmax(axis=1) == labels)[labels == MEL].mean() for p in probabilities]
        self.assertGreater(recalls[1], recalls[0])
        # At the least loss with a melanoma counted twice, its slope is that of the preference for small values.
        sizes = np.bincount(labels)
        weighed = [(weight, fit_bias(logits, labels, melanoma_weight=weight)) for weight in (1.5, 0.4)]
        for factor, bias in ((1, without), (2, twice), *weighed):
            weights = np.where(labels == MEL, factor, 1) / np.sqrt(sizes[labels])
            p = softmax(logits + bias)
            slope = weights @ p - np.bincount(labels, weights, len(CLASSES))
            np.testing.assert_allclose(slope / weights.sum(), -2 * 0.02 * bias / len(CLASSES), atol=2e-3)

    def test_no_lesion_has_a_say_in_its_own_calibration(self):
        logits, labels = drawn(seed=13)
        lesions = [f"{number // 2:04}" for number in range(len(labels))]
        before = cross_fitted(logits, labels, lesions)
        names = np.random.default_rng(0).permutation(sorted(set(lesions)))
        third = set(names[3::FOLDS])
        inside = np.array([lesion in third for lesion in lesions])
        changed = labels.copy()
        changed[inside] = (changed[inside] + 1) % len(CLASSES)
        after = cross_fitted(logits, changed, lesions)
        np.testing.assert_array_equal(before[inside], after[inside])
        self.assertGreater(abs(before[~inside] - after[~inside]).max(), 1e-3)
        self.assertGreater(abs(before - cross_fitted(logits, labels, lesions, deal=1)).max(), 1e-3)

    def test_the_weight_of_a_melanoma_reaches_every_fold(self):
        logits, labels = drawn(seed=15)
        lesions = [f"{number:04}" for number in range(len(labels))]
        means = [
            cross_fitted(logits, labels, lesions, melanoma_weight=weight)[:, MEL].mean() for weight in (1.0, 1.5, 2.0)
        ]
        self.assertLess(means[0], means[1])
        self.assertLess(means[1], means[2])
        np.testing.assert_array_equal(
            cross_fitted(logits, labels, lesions), cross_fitted(logits, labels, lesions, melanoma_weight=2.0)
        )


class ComparisonTests(unittest.TestCase):
    def test_a_lesion_is_drawn_with_all_of_its_photographs(self):
        lesions = ["b", "a", "b", "c", "c", "c"]
        sizes = {"a": 1, "b": 2, "c": 3}
        for drawn in resampled(lesions, 50, seed=21):
            counts = {name: sum(lesions[i] == name for i in drawn) for name in sizes}
            self.assertTrue(all(counts[name] % sizes[name] == 0 for name in sizes), counts)
            self.assertEqual(sum(counts[name] // sizes[name] for name in sizes), 3)

    def test_a_model_that_is_better_everywhere_is_told_from_one_that_is_not(self):
        logits, labels = drawn(seed=22, count=400)
        lesions = [f"{number // 2}" for number in range(len(labels))]
        right = np.eye(len(CLASSES))[labels]
        same = compared(softmax(logits), softmax(logits), labels, lesions, resamples=20)
        better = compared(softmax(logits), softmax(logits + 2 * right), labels, lesions, resamples=20)
        for name in COMPARED:
            self.assertEqual(same[name]["interval"], [0, 0], name)
        self.assertGreater(better["accuracy"]["interval"][0], 0)
        self.assertLess(better["negative_log_likelihood"]["interval"][1], 0)
        gain = better["accuracy"]["second"] - better["accuracy"]["first"]
        self.assertAlmostEqual(better["accuracy"]["difference"], gain, places=12)


class ConformalTests(unittest.TestCase):
    def test_a_tenth_of_a_class_lies_below_its_threshold(self):
        probabilities = two_class(np.arange(1, 20) / 100)
        thresholds = conformal_thresholds(probabilities, np.full(19, MEL))
        # (19 + 1) / 10 = 2 may lie below; the second least is the threshold.
        self.assertEqual(thresholds[MEL], 0.02)
        self.assertEqual(thresholds[NV], 0)

    def test_too_few_of_a_class_give_no_threshold(self):
        self.assertEqual(conformal_thresholds(two_class([0.5] * 8), np.full(8, MEL))[MEL], 0)

    def test_the_likeliest_class_is_always_in_the_set(self):
        sets = conformal_sets(two_class([0.4, 0.9]), np.full(len(CLASSES), 0.95))
        self.assertEqual(sets.nonzero()[1].tolist(), [NV, MEL])


if __name__ == "__main__":
    unittest.main()
