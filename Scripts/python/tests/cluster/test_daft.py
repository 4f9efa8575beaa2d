"""Daft with engines of its own."""

from pathlib import Path

import daft
import pytest
from conftest import IMAGES, Photographs

from dermafusion import ArgumentError, Classifier
from dermafusion.daft import classify


def test_each_photograph_is_one_row(photographs: Photographs) -> None:
    paths, _ = photographs.rows()
    frame = daft.from_pydict({"path": paths, "patient_id": paths})
    content = daft.col("path").download(on_error="null")
    found = classify(content, path=daft.col("path"), model="int8", batch_size=16, workers=2)
    rows = frame.select("patient_id", found.alias("found")).to_pylist()
    assert [row["patient_id"] for row in rows] == paths
    photographs.check({row["found"]["path"]: row["found"] for row in rows}, len(rows))


def test_what_is_known_of_a_patient_is_an_expression_or_one_value(small_model: Path) -> None:
    name = str(IMAGES / "jpeg_420.jpg")
    frame = daft.from_pydict({"path": [name, None], "years": ["85+", "3"], "id": [2**60 + 1, 7]})
    known = {"age_approx": daft.col("years"), "sex": "male", "lesion_id": daft.col("id")}
    content = daft.col("path").download(on_error="null")
    outputs = ["result", "features", "gradcam"]
    found = classify(content, path=daft.col("path"), model=str(small_model), outputs=outputs, **known)
    first, second = (row["found"] for row in frame.select(found.alias("found")).to_pylist())
    expected = Classifier(small_model).heatmap(name, age=85, sex="male", features=True)
    assert first["json"] == expected.classification.json and first["lesion_id"] == str(2**60 + 1)
    assert first["features"] == expected.classification.features.tolist()
    assert (first["map_class"], first["map"]) == (expected.label, expected.signed_values.tolist())
    assert dict(first["probabilities"]).keys() == set(expected.classification.classes)
    assert second["error"] == "the column content is null" and second["path"] is None and second["json"] is None
    assert second["lesion_id"] == "7"


def test_a_wrong_argument_is_refused_before_any_work() -> None:
    with pytest.raises(ArgumentError, match="no argument 'agee'"):
        classify(daft.col("content"), agee=daft.col("years"))
    with pytest.raises(ArgumentError, match="outputs is"):
        classify(daft.col("content"), outputs=["embed"])
