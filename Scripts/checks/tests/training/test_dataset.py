"""The split by lesion, and the data list that keeps it."""

import random
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import numpy as np

from dermafusion_training.data.dataset import (
    Record,
    listed_sides,
    read_copies,
    read_records,
    side_indices,
    side_names,
    split_by_lesion,
    split_list,
)
from dermafusion_training.data.metadata import encode_metadata
from dermafusion_training.model.config import CLASSES
from dermafusion_training.training.run_folder import check_initial_split, keep_split


def records(seed, lesions_per_class=40):
    """One to four photographs of each lesion, shuffled."""
    rng = random.Random(seed)
    made = []
    for label in range(len(CLASSES)):
        for number in range(lesions_per_class + 3 * label):
            lesion = f"L{label}-{number}"
            for view in range(rng.randint(1, 4)):
                made.append(Record(f"{lesion}-{view}", lesion, "crop224", label, np.zeros(4, np.float32)))
    rng.shuffle(made)
    return made


def lesions(made, indices):
    return {made[i].lesion_id for i in indices}


class SplitTests(unittest.TestCase):
    def test_no_lesion_and_no_photograph_is_on_two_sides(self):
        made = records(seed=1)
        for fold in (None, (0, 4), (3, 4)):
            sides = split_by_lesion(made, 0.15, 2026, fold)
            self.assertEqual(sorted(i for side in sides.values() for i in side), list(range(len(made))))
            for one, indices in sides.items():
                for other, others in sides.items():
                    if one != other:
                        self.assertEqual(lesions(made, indices) & lesions(made, others), set(), (fold, one, other))

    def test_every_class_gives_its_share_of_lesions(self):
        made = records(seed=2)
        kept = lesions(made, split_by_lesion(made, 0.15, 2026)["validation"])
        for label in range(len(CLASSES)):
            count = 40 + 3 * label
            self.assertEqual(sum(name.startswith(f"L{label}-") for name in kept), round(0.15 * count), CLASSES[label])

    def test_folds_share_the_validation_lesions_and_divide_the_rest(self):
        made = records(seed=3)
        whole = split_by_lesion(made, 0.15, 2026)
        folds = [split_by_lesion(made, 0.15, 2026, (number, 4)) for number in range(4)]
        for fold in folds:
            self.assertEqual(fold["validation"], whole["validation"])
        counted = Counter(i for fold in folds for i in fold["fold"])
        self.assertEqual(sorted(counted), whole["training"])
        self.assertEqual(set(counted.values()), {1})

    def test_a_lesion_of_two_names_is_not_judged_when_it_is_trained_on(self):
        made = records(seed=6)
        plain = split_by_lesion(made, 0.15, 2026)
        aside, trained = (sorted(lesions(made, plain[side])) for side in ("validation", "training"))
        twins = [(aside[0], trained[0]), (trained[1], aside[1]), (aside[2], aside[3]), (trained[2], trained[3])]
        twins += [(aside[4], "another"), ("nothing", "at all")]
        sides = split_by_lesion(made, 0.15, 2026, twins=twins)
        self.assertEqual(lesions(made, sides["duplicate"]), {aside[0], aside[1]})
        self.assertEqual(lesions(made, sides["validation"]), set(aside[2:]))
        self.assertEqual(sides["training"], plain["training"])

    def test_listed_lesions_stay_and_the_others_are_dealt(self):
        made = records(seed=7)
        listed = {f"L{label}-0": "validation" for label in range(len(CLASSES))}
        listed |= {f"L{label}-1": "training" for label in range(len(CLASSES))} | {"elsewhere": "training"}
        sides = split_by_lesion(made, 0.15, 3, listed=listed)
        for side in ("validation", "training"):
            kept = {lesion for lesion, of in listed.items() if of == side and lesion != "elsewhere"}
            self.assertLessEqual(kept, lesions(made, sides[side]), side)
        for label in range(len(CLASSES)):
            count = sum(name.startswith(f"L{label}-") for name in lesions(made, sides["validation"]))
            self.assertEqual(count, 1 + round(0.15 * (38 + 3 * label)), CLASSES[label])

    def test_folds_leave_listed_validation_lesions_alone(self):
        made = records(seed=8)
        sides = split_by_lesion(made, 0.15, 3, (0, 2), listed={"L0-0": "validation", "L1-0": "training"})
        self.assertIn("L0-0", lesions(made, sides["validation"]))
        self.assertIn("L1-0", lesions(made, sides["training"] + sides["fold"]))

    def test_the_order_of_the_records_does_not_matter(self):
        made = records(seed=4)
        other = sorted(made, key=lambda record: record.image_id)
        for side, indices in split_by_lesion(made, 0.15, 2026).items():
            self.assertEqual(lesions(made, indices), lesions(other, split_by_lesion(other, 0.15, 2026)[side]), side)


class DataListTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.made = records(seed=5)

    def write(self, path, seed=2026, fold=None):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(split_list(self.made, split_by_lesion(self.made, 0.15, seed, fold)))
        return path

    def test_the_list_gives_back_the_sides(self):
        path = self.write(self.folder / "split.csv", fold=(1, 3))
        for side, indices in split_by_lesion(self.made, 0.15, 2026, (1, 3)).items():
            self.assertEqual(side_indices(self.made, path, side), indices)
            self.assertEqual(side_names(path, side), {self.made[i].image_id for i in indices})

    def test_the_list_gives_the_side_of_each_lesion(self):
        path = self.write(self.folder / "split.csv")
        kept = listed_sides(path)
        for side, indices in split_by_lesion(self.made, 0.15, 2026).items():
            self.assertEqual({kept[lesion] for lesion in lesions(self.made, indices)}, {side})

    def test_a_listed_photograph_lies_in_the_folder_of_its_source(self):
        header = "image_id,source,dx,lesion_id,age,sex,localization\n"
        (self.folder / "metadata.csv").write_text(header + "A,milk10k,mel,L1,,female,head/neck\nB,ph2,nv,L2,,,\n")
        first, second = read_records(self.folder)
        self.assertEqual(first.path(self.folder), self.folder / "milk10k" / "A.jpg")
        self.assertEqual((first.source, second.source), ("milk10k", "ph2"))
        self.assertEqual(first.metadata.tolist(), encode_metadata(sex="female")[0].tolist())

    def test_a_lesion_that_is_shown_again_keeps_its_first_name(self):
        header = "image_id,source,dx,lesion_id,same_lesion,age,sex,localization\n"
        (self.folder / "metadata.csv").write_text(header + "A,milk10k,mel,L9,L1,,,\nB,ham10000,mel,L1,,,,\n")
        self.assertEqual([record.lesion_id for record in read_records(self.folder)], ["L1", "L1"])

    def test_photographs_that_are_copies_of_each_other_join_their_lesions(self):
        def record(folder, image, lesion):
            return Record(image, lesion, folder, 5, np.zeros(4, np.float32), folder)

        made = [record("a", "1", "L1"), record("a", "2", "L2"), record("b", "1", "L3"), record("b", "4", "L1")]
        (self.folder / "copies.csv").write_text(
            "group,image_id,image,score,source\n"
            "1,1,/data/a/1.jpg,0.9700,given\n1,1,/data/b/1.jpg,0.9700,given\n1,9,/data/a/9.jpg,0.9100,given\n"
            "2,1,/data/a/1.jpg,1.0000,given\n2,4,/data/b/4.jpg,1.0000,given\n"
            "3,2,/data/a/2.jpg,1.0000,given\n3,2,/data/elsewhere/2.jpg,1.0000,given\n"
        )
        groups = read_copies(self.folder / "copies.csv", made)
        self.assertEqual(groups, [{"L1", "L3"}])
        listed = {"L1": "training", "L2": "validation", "L3": "validation"}
        self.assertEqual(split_by_lesion(made, 0.15, 1, twins=groups, listed=listed)["duplicate"], [2])

    def test_without_sources_the_best_copy_is_taken(self):
        for folder in ("crop224", "full600x450"):
            (self.folder / folder).mkdir()
            (self.folder / folder / "A.jpg").touch()
        (self.folder / "metadata.csv").write_text("image_id,dx,lesion_id,age,sex,localization\nA,nv,L1,40,male,back\n")
        (record,) = read_records(self.folder)
        self.assertEqual((record.folder, record.source), ("full600x450", "ham10000"))

    def test_weights_that_saw_what_is_kept_aside_are_refused(self):
        earlier = self.folder / "earlier"
        self.write(earlier / "split.csv")
        check_initial_split(earlier / "model", self.write(self.folder / "same.csv"))
        for name, options in {"seed": {"seed": 7}, "fold": {"fold": (0, 4)}}.items():
            with self.assertRaisesRegex(SystemExit, "photographs that this run keeps aside", msg=name):
                check_initial_split(earlier / "model", self.write(self.folder / f"{name}.csv", **options))

    def test_a_checkpoint_of_another_split_is_not_gone_on_from(self):
        path, checkpoint = self.folder / "split.csv", self.folder / "checkpoint.pt"
        keep_split(path, "first", checkpoint)
        keep_split(path, "second", checkpoint)
        checkpoint.touch()
        keep_split(path, "second", checkpoint)
        with self.assertRaisesRegex(SystemExit, "trained on another split"):
            keep_split(path, "third", checkpoint)
        self.assertEqual(path.read_text(), "second")


if __name__ == "__main__":
    unittest.main()
