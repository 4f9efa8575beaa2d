"""Decisions on probabilities, the distance's threshold and what it is fitted to."""

import unittest
from pathlib import Path

import numpy as np

from dermafusion_training.commands.card_tables import with_tables
from dermafusion_training.data.dataset import Record
from dermafusion_training.evaluation.abstention_fit import (
    PER_CLASS,
    distance_threshold,
    drawn_for_space,
    quality_limits,
)
from dermafusion_training.evaluation.decisions import balanced_decision, decision_figures, melanoma_points, risk_shares
from dermafusion_training.evaluation.dermoscopy_fit import CLOSE_UPS, KeptProbe, Picture, fit_probe, least_limit
from dermafusion_training.evaluation.validation import intervals
from dermafusion_training.model.abstention import measure, result_reasons
from dermafusion_training.model.config import CLASSES

AKIEC, BCC, BKL, MEL, NV = (CLASSES.index(name) for name in ("akiec", "bcc", "bkl", "mel", "nv"))


def probabilities(*rows):
    """Each row: {class: probability}; moles get the rest."""
    made = np.zeros((len(rows), len(CLASSES)))
    for line, row in zip(made, rows):
        for label, value in row.items():
            line[label] = value
        line[NV] += 1 - line.sum()
    return made


class DecisionTests(unittest.TestCase):
    def test_a_rare_class_needs_less(self):
        labels = np.array([MEL, NV])
        given = probabilities({MEL: 0.3}, {MEL: 0.1})
        even = np.full(len(CLASSES), 1 / len(CLASSES))
        self.assertEqual(balanced_decision(given, labels, even), 0.5)
        uneven = np.where(np.arange(len(CLASSES)) == NV, 0.7, 0.05)
        uneven[MEL] = 0.2
        self.assertEqual(balanced_decision(given, labels, uneven), 1)

    def test_points_by_hand(self):
        scores = [0.05, 0.2, 0.5, 0.01, 0.15, 0.4]
        labels = np.array([MEL, MEL, MEL, NV, NV, NV])
        points = melanoma_points(probabilities(*({MEL: score} for score in scores)), labels)
        self.assertAlmostEqual(points[0]["sensitivity"], 2 / 3)
        self.assertAlmostEqual(points[0]["specificity"], 1 / 3)
        self.assertAlmostEqual(points[1]["sensitivity"], 1 / 3)
        self.assertAlmostEqual(points[1]["specificity"], 2 / 3)
        self.assertEqual((points[2]["sensitivity"], points[2]["threshold"]), (1, 0.05))

    def test_the_risk_counts_both_malignant_classes_and_akiec_from_a_tenth(self):
        given = probabilities({MEL: 0.09}, {BCC: 0.3}, {AKIEC: 0.1}, {BKL: 0.9})
        shares = risk_shares(given, np.array([MEL, MEL, NV, BKL]))
        self.assertEqual(shares, {"melanomas_at_low_risk": 0.5, "harmless_above": 0.5})

    def test_no_melanoma_no_points(self):
        result = decision_figures(probabilities({}, {}), np.array([NV, NV]), np.full(len(CLASSES), 1 / 7))
        self.assertEqual(result, {"balanced_decision": 1.0})

    def test_intervals_hold_what_every_drawing_of_lesions_has(self):
        scores = np.arange(40) / 40
        lesions = np.repeat(np.arange(20), 2)

        def measured(places):
            rare = {"rare": 1.0} if 7 in places else {}
            return {"mean": float(scores[places].mean()), "of": {"count": len(places)}, "none": None} | rare

        found = intervals(measured, lesions)
        self.assertEqual(found["of.count"], [40, 40])
        self.assertEqual(sorted(found), ["mean", "of.count"])
        low, high = found["mean"]
        self.assertTrue(0.3 < low < scores.mean() < high < 0.7, found)


class CardTests(unittest.TestCase):
    def test_a_table_takes_the_place_of_that_with_its_head_whatever_the_version(self):
        card = "Text.\n\n| a | in 1.2.3 |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n| b |\n|---|\n| 5 |"
        new = [
            ["| a | in 1.10.0 |", "|---|---|", "| 6 | 7 |"],
            ["| c |", "|---|"],
            ["| b |", "|---|", "| 8 |", "| 9 |"],
        ]
        text, missing = with_tables(card, new)
        self.assertEqual(text, "Text.\n\n| a | in 1.10.0 |\n|---|---|\n| 6 | 7 |\n\n| b |\n|---|\n| 8 |\n| 9 |")
        self.assertEqual(missing, ["| c |"])


class DermoscopyTests(unittest.TestCase):
    def test_a_source_that_nobody_trained_on_may_lose_more_and_a_small_one_has_no_say(self):
        scores = np.concatenate([np.arange(1000), np.arange(200) + 5000, np.full(99, 1e6), np.full(50, 1e9)])
        sources = np.array(["ham10000"] * 1000 + ["ph2"] * 200 + ["few"] * 99 + [CLOSE_UPS] * 50)
        melanomas = sources == "ham10000"
        limit = least_limit(scores, sources, melanomas)
        self.assertEqual(limit, 5195.0)
        self.assertEqual((scores[sources == "ph2"] > limit).sum(), 4)
        self.assertEqual(least_limit(scores, sources, melanomas, "ph2"), 989.0)

    def test_the_melanomas_of_all_sources_together_lose_few(self):
        scores, melanomas = np.arange(2000.0), np.arange(2000) >= 1800
        limit = least_limit(scores, np.array(["ham10000"] * 2000), melanomas)
        self.assertEqual((scores[melanomas] > limit).sum(), 2)

    def test_the_limit_of_a_kept_probe_only_rises(self):
        pictures = [Picture(Path(f"{i}.jpg"), "ph2", str(i), False, i == 0) for i in range(200)]
        means = np.stack([np.arange(200) / 10, np.zeros(200)], 1)
        for given, expected in ((3.0, 19.5), (20.25, 20.25)):
            fit = KeptProbe([(picture, False) for picture in pictures], means, np.array([1.0, 7.0]), given)
            self.assertEqual(fit.threshold, expected)
            beyond = 0.02 if given < expected else 0.0
            self.assertEqual(fit.report()["validation"], {"ph2": {"n": 200, "beyond": beyond}})
            self.assertEqual(fit.report()["melanomas"], {"n": 1, "beyond": 0.0})

    def test_the_probe_finds_a_direction_whatever_the_channels_scales(self):
        rng = np.random.default_rng(3)
        is_close_up = np.arange(900) % 3 == 0
        sources = np.where(is_close_up, CLOSE_UPS, np.where(np.arange(900) % 3 == 1, "ham10000", "milk10k"))
        features = rng.normal(size=(900, 3)) + np.outer(is_close_up, [3, 0, 0])
        features = features * [1e-3, 1, 1e3] + [7, -1e4, 0]
        weights, bias = fit_probe(features, is_close_up, sources)
        found = features @ weights + bias > 0
        self.assertGreater(np.mean(found == is_close_up), 0.9)
        self.assertGreater(weights[0] * 1e-3, 20 * abs(weights[1]))
        self.assertGreater(weights[0] * 1e-3, 20 * abs(weights[2] * 1e3))

    def test_the_reason_comes_before_that_of_the_distance(self):
        measures = {"brightness": 128, "contrast": 9, "sharpness": 1, "structure": 1, "green": 0, "color_variety": 9}
        quality = {"minimum_brightness": 9, "maximum_brightness": 250, "minimum_contrast": 1, "minimum_sharpness": 0}
        settings = {"quality": quality | {"minimum_structure": 0}, "distance": {"threshold": 2}}
        settings["dermoscopy"] = {"threshold": -0.5}
        measures["warmth"] = 1
        self.assertEqual(result_reasons([], measures, 3, -0.25, settings), ["not_dermoscopic", "out_of_distribution"])
        self.assertEqual(result_reasons([], measures, 1, -0.5, settings), [])
        self.assertEqual(result_reasons([], measures, 3, None, settings), ["out_of_distribution"])


class AbstentionTests(unittest.TestCase):
    def test_a_limit_loses_little_of_any_source(self):
        ours, other, few = np.linspace(3, 5, 1000), np.linspace(2, 3, 400), np.full(9, 0.5)
        names = ("brightness", "contrast", "sharpness", "structure", "green", "color_variety", "warmth")
        values = np.concatenate([ours, other, few])
        rows = [dict.fromkeys(names, value) | {"green": value / 10, "warmth": value - 3} for value in values]
        sources = np.array(["ham10000"] * 1000 + ["other"] * 400 + ["few"] * 9)
        limits = quality_limits(rows, sources)
        self.assertEqual((limits["minimum_color_variety"], limits["minimum_warmth"]), (2.0, -1.0))
        self.assertLess(np.mean(other < limits["minimum_color_variety"]), 0.005)
        alone = quality_limits(rows[:1000], sources[:1000])
        self.assertEqual((alone["minimum_color_variety"], alone["minimum_warmth"]), (3.01, 0.01))
        # Beyond what all but a hundredth of each source have, by a tenth, a twentieth, or half of the way to the end.
        first, last = np.sort(other)[4], np.sort(ours)[-11]
        for name, expected in (
            ("minimum_brightness", 0.5 * first), ("maximum_brightness", (255 + last) / 2),
            ("minimum_contrast", 0.9 * first), ("minimum_sharpness", 0.95 * first),
            ("minimum_structure", 0.9 * first), ("maximum_green", 1.1 * last / 10),
        ):  # fmt: skip
            self.assertAlmostEqual(limits[name], expected, 2, name)

    def test_grey_and_tints_have_no_variety_and_exchanging_channels_turns_the_warmth(self):
        rng = np.random.default_rng(1)
        image = rng.integers(0, 200, (60, 60, 3)).astype(np.uint8)
        image[20:40, 20:40, 2] //= 2
        measures = measure(image)
        self.assertEqual(measure(image[..., ::-1])["warmth"], -measures["warmth"])
        self.assertGreater(measures["warmth"], 0)
        self.assertGreater(measures["color_variety"], 2.1)
        grey = np.repeat(image[..., :1], 3, axis=2)
        self.assertEqual(measure(grey)["color_variety"], 0)
        self.assertLess(measure((grey * [1.2, 1.0, 0.8]).astype(np.uint8))["color_variety"], 2.1)
        self.assertEqual(measure(np.zeros_like(image))["color_variety"], 0)

    def test_a_rare_camera_moves_the_threshold_and_a_handful_does_not(self):
        ours, other, few = np.linspace(0, 1, 201), np.linspace(1, 2, 101), np.full(9, 50.0)
        sources = np.array(["ham10000"] * 201 + ["other"] * 101 + ["few"] * 9)
        inside = np.concatenate([ours, other, few])
        self.assertAlmostEqual(distance_threshold(inside, sources), 1.94)
        self.assertAlmostEqual(distance_threshold(ours, sources[:201]), 0.99)
        kept = inside <= 1
        self.assertAlmostEqual(distance_threshold(inside[kept], sources[kept]), 0.99)

    def test_as_many_of_each_source_are_looked_at(self):
        kinds = [(0, "ham10000")] * 500 + [(0, "other")] * 130 + [(1, "other")] * 7
        records = [Record(str(i), str(i), kind[1], kind[0], None, kind[1]) for i, kind in enumerate(kinds)]
        drawn = drawn_for_space(records, list(range(len(records))))
        self.assertEqual(len(drawn), 2 * PER_CLASS + 7)
        self.assertEqual(len(set(drawn)), len(drawn))


if __name__ == "__main__":
    unittest.main()
