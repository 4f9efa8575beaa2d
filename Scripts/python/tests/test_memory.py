"""Memory that stays in use."""

import gc
from pathlib import Path

import numpy as np
import pytest
from conftest import IMAGES, IS_QUICK, pixels

import dermafusion
from dermafusion import Classifier

# Images; a leak of one result's text alone, 2 KB each, would be 20 MB.
COUNT = 2_000 if IS_QUICK else 10_000


def resident_kilobytes() -> int:
    gc.collect()
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1])


def test_classifications_leak_nothing(small_model: Path, record_property) -> None:
    classifier = Classifier(small_model, threads=1)
    file = (IMAGES / "jpeg_420.jpg").read_bytes()
    image = pixels(1)

    def work(count: int) -> None:
        for index in range(count):
            classifier.classify(file if index % 2 else image, age=index % 100, sex="male", site="back").prediction
            if index % 50 == 0:
                classifier.heatmap(image)
            if index % 10 == 0:
                with pytest.raises(dermafusion.ImageError):
                    classifier.classify(b"no image")

    work(500)
    before = resident_kilobytes()
    work(COUNT)
    grown = resident_kilobytes() - before
    print(f"{COUNT} classifications: {before} KB resident before, {grown:+d} KB after")
    record_property("grown_kilobytes", grown)
    # Two fifths of what the texts alone would take.
    assert grown < COUNT * 2 * 0.4


def test_classifiers_of_one_model_share_its_weights() -> None:
    first = Classifier()
    before = resident_kilobytes()
    others = [Classifier(), Classifier(threads=1)] * 5
    grown = resident_kilobytes() - before
    print(f"10 more classifiers of the shipped model: {grown:+d} KB")
    assert grown < 1024
    image = pixels(2)
    assert all(np.array_equal(other.classify(image).logits, first.classify(image).logits) for other in others[:2])


def test_a_model_that_nobody_uses_is_freed(small_model: Path) -> None:
    for _ in range(3):
        Classifier(small_model, threads=2).classify(pixels(1))
    before = resident_kilobytes()
    for _ in range(30):
        # Each is freed before the next; a leak would be 7 MB each.
        Classifier(small_model, threads=2).classify(pixels(1))
    grown = resident_kilobytes() - before
    print(f"30 models opened and freed: {grown:+d} KB")
    assert grown < 20_000


def test_a_changed_model_is_read_again(copied_model: Path) -> None:
    first = Classifier(copied_model)
    weights = copied_model / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-4:] = np.float32(0.25).tobytes()
    weights.unlink()
    weights.write_bytes(content)
    second = Classifier(copied_model)
    assert first.classify(pixels(1)).model["sha256"] != second.classify(pixels(1)).model["sha256"]
