"""The columns and rows that Spark, Ray, Daft and to_arrow share, without any of the three."""

import json
import math
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from conftest import COMMAND, IMAGES, pixels

from dermafusion import ArgumentError, Classifier, DermaFusionError, ExplanationError, ModelNotFoundError, _frame
from dermafusion.ray import Classify

PHOTOGRAPH = IMAGES / "jpeg_420.jpg"
BINARY_FILE = {"path": "string", "modificationTime": "timestamp", "length": "bigint", "content": "binary"}


def made(model: Path, frame: dict[str, list[Any]], outputs: list[str] | None = None, **kinds: str) -> list[Any]:
    known = {"content": "binary", "bytes": "binary", "path": "string"}
    plan = _frame.Plan({name: kinds.get(name, known.get(name, "string")) for name in frame}, outputs or ["result"])
    return list(plan.rows(str(model), frame))


def test_a_frame_of_spark_s_source_of_files_is_read_by_its_content() -> None:
    plan = _frame.Plan({**BINARY_FILE, "lesion_id": "bigint", "patient_id": "string", "age_approx": "double"})
    assert plan.read == ["path", "content", "lesion_id", "patient_id", "age_approx"]
    assert plan.kept == ["path", "lesion_id", "patient_id"]


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ({"id": "bigint"}, "no column path, content or bytes; it has id"),
        ({**BINARY_FILE, "bytes": "binary"}, "both content and bytes"),
        ({"bytes": "string"}, "bytes is of type string, not binary"),
        ({"path": "struct", "content": "binary"}, "path is of type struct, not string"),
        ({"image": "struct"}, "column image holds decoded pixels"),
        (dict.fromkeys(("origin", "height", "width", "nChannels", "mode", "data"), "binary"), "data holds decoded"),
    ],
)
def test_a_frame_that_is_not_of_files_is_refused(kinds: dict[str, str], words: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(words)) as caught:
        _frame.Plan(kinds)
    assert caught.value.remedy


def test_a_path_beside_content_is_a_name(small_model: Path, tmp_path: Path) -> None:
    content = PHOTOGRAPH.read_bytes()
    (tmp_path / "here.jpg").write_bytes(content)
    names = ["s3a://bucket/a%20b.jpg", "dbfs:/x", f"file:{tmp_path}/here.jpg", "", None, str(tmp_path / "here.jpg")]
    rows = made(small_model, {"path": names, "content": [content] * 5 + [None]})
    classifier = Classifier(small_model)
    assert [row["json"] for row in rows[:5]] == [
        classifier.classify(content, name=name or "").json for name in names[:5]
    ]
    # A file of that name is there, but the row's content is what was asked for.
    assert rows[5] == {"error": f"{tmp_path}/here.jpg: the column content is null"}


def test_a_path_is_opened_as_spark_writes_it(small_model: Path, tmp_path: Path) -> None:
    contents = {}
    for place, name in enumerate(["a b.jpg", "100%.ppm", "ü%20ü.ppm", "file:"]):
        contents[name] = b"P6\n64 64\n255\n" + pixels(place, 64, 64).tobytes()
        (tmp_path / name).write_bytes(contents[name])
    forms = {
        f"{tmp_path}/a b.jpg": "a b.jpg",
        f"file:{tmp_path}/a b.jpg": "a b.jpg",
        f"file:{tmp_path}/a%20b.jpg": "a b.jpg",
        f"file://{tmp_path}/a%20b.jpg": "a b.jpg",
        f"FILE://localhost{tmp_path}/a%20b.jpg": "a b.jpg",
        f"file:{tmp_path}/100%.ppm": "100%.ppm",
        f"file://{tmp_path}/100%25.ppm": "100%.ppm",
        f"file:{tmp_path}/ü%20ü.ppm": "ü%20ü.ppm",
        f"file://{tmp_path}/%C3%BC%2520ü.ppm": "ü%20ü.ppm",
        f"{tmp_path}/file:": "file:",
    }
    rows = made(small_model, {"path": list(forms)})
    expected = [Classifier(small_model).classify(contents[name]).image_sha256 for name in forms.values()]
    assert [row.get("image_sha256") for row in rows] == expected
    assert [json.loads(row["json"])["image"] for row in rows] == list(forms)


def test_a_path_that_names_two_files_is_not_guessed(small_model: Path, tmp_path: Path) -> None:
    for name in ("a b.jpg", "a%20b.jpg"):
        (tmp_path / name).write_bytes(PHOTOGRAPH.read_bytes())
    forms = ("file:", "file://", "file://localhost")
    rows = made(small_model, {"path": [f"{form}{tmp_path}/a%20b.jpg" for form in forms]})
    assert f"both {tmp_path}/a b.jpg and {tmp_path}/a%20b.jpg are there" in rows[0]["error"]
    assert "json" not in rows[0] and rows[1]["json"] and rows[2]["json"], "a URI is always encoded"


@pytest.mark.parametrize("path", ["s3://b/a.jpg", "s3a://b/a.jpg", "dbfs:/a.jpg", "hdfs://n/a", "file://other/a.jpg"])
def test_another_system_s_path_without_content_is_the_frame_s_error(path: str, small_model: Path) -> None:
    with pytest.raises(ArgumentError, match=re.escape(path)) as caught:
        made(small_model, {"path": [str(PHOTOGRAPH), path]})
    assert "content" in caught.value.message and "binaryFile" in caught.value.remedy


@pytest.mark.parametrize("path", ["a:/b.jpg", "no/such:/a.jpg", "1:/a", "", "file:/", None])
def test_an_odd_path_is_a_row_s_error(path: str | None, small_model: Path) -> None:
    assert list(made(small_model, {"path": [path]})[0]) == ["error"]


def test_errors_are_rows_in_the_words_of_the_command(small_model: Path, tmp_path: Path) -> None:
    broken = [IMAGES / name for name in ("refused_empty.jpg", "refused_text.png", "refused_truncated.jpg")]
    names = [str(path) for path in [*broken, tmp_path / "none.jpg"]]
    run = subprocess.run([COMMAND, "classify", *names, "--model", small_model], capture_output=True, text=True)
    told = [line.removeprefix("Error: ") for line in run.stderr.splitlines() if line.startswith("Error: ")]
    assert len(told) == 4
    assert [row["error"] for row in made(small_model, {"path": names})] == told
    content = [path.read_bytes() for path in broken]
    assert [row["error"] for row in made(small_model, {"path": names[:3], "bytes": content})] == told[:3]


def test_the_patient_s_cells_have_a_table_s_words(small_model: Path) -> None:
    content = PHOTOGRAPH.read_bytes()
    ages, sites = ["85+", None, 55, math.nan, "old"], ["thigh", "scalp", None, "", None]
    rows = made(small_model, {"bytes": [content] * 5, "Age_approx": ages, "note": ["?"] * 5, "localization": sites})
    classifier = Classifier(small_model)
    known = [{"age": 85, "site": "lower extremity"}, {"site": "scalp"}, {"age": 55}, {}]
    assert [row["json"] for row in rows[:4]] == [classifier.classify(content, **each).json for each in known]
    assert "old" in rows[4]["error"] and "json" not in rows[4]


def test_a_fault_of_the_job_is_not_a_row(small_model: Path, tmp_path: Path) -> None:
    frame = {"path": [str(PHOTOGRAPH)]}
    with pytest.raises(ModelNotFoundError):
        made(tmp_path / "none", frame)
    ensemble = tmp_path / "ensemble"
    ensemble.mkdir()
    (ensemble / "a").symlink_to(small_model)
    (ensemble / "b").symlink_to(small_model)
    members = [{"folder": "a", "weight": 1}, {"folder": "b", "weight": 1}]
    config = {"format_version": 1, "name": "two", "version": "1", "temperature": 1, "training": {}, "members": members}
    (ensemble / "config.json").write_text(json.dumps(config))
    for output in ("features", "gradcam"):
        with pytest.raises(ExplanationError):
            made(ensemble, frame, [output])
    for outputs in ([], "result", ["embed"], ["result", "all"]):
        with pytest.raises(ArgumentError, match="outputs is"):
            _frame.Plan(BINARY_FILE, outputs)


def test_features_and_maps_are_those_of_embed_and_gradcam(small_model: Path, tmp_path: Path) -> None:
    names = [str(IMAGES / "phantom_brown.jpg"), str(IMAGES / "phantom_pale.jpg")]
    output = tmp_path / "features.npy"
    subprocess.run([COMMAND, "embed", *names, "--model", small_model, "--output", output], check=True)
    rows = made(small_model, {"path": names}, ["features", "gradcam"])
    assert np.array_equal(np.array([row["features"] for row in rows], np.float32), np.load(output))
    for name, row in zip(names, rows, strict=True):
        command = [COMMAND, "gradcam", name, "--model", small_model, "--format", "json", "--signed"]
        told = json.loads(subprocess.run([*command, "--output", tmp_path / "map.png"], capture_output=True).stdout)
        (expected,) = told["maps"]
        assert (row["map_class"], row["map_status"]) == (expected["class"], expected["status"])
        assert np.array_equal(np.array(row["map"], np.float32), np.array(expected["signedMap"], np.float32))


def test_a_table_has_declared_types_also_of_nulls(small_model: Path) -> None:
    frame = pyarrow.table(
        {
            "lesion_id": pyarrow.array([2**60 + 1, None]),
            "path": pyarrow.array(["a", "b"], pyarrow.large_string()),
            "content": pyarrow.array([None, None], pyarrow.large_binary()),
        }
    )
    kinds = {field.name: _frame.kind(field.type) for field in frame.schema}
    outputs = list(_frame.OUTPUTS)
    table = _frame.Plan(kinds, outputs).table(str(small_model), frame)
    assert table.column("lesion_id").to_pylist() == [2**60 + 1, None]
    declared = {name: _frame.arrow(kind) for name, kind in _frame.columns(outputs).items()}
    assert {name: table.schema.field(name).type for name in declared} == declared
    assert table.column("error").null_count == 0 and table.column("json").null_count == 2
    full = _frame.Plan(kinds, outputs).table(
        str(small_model), frame.set_column(2, "content", pyarrow.array([PHOTOGRAPH.read_bytes()] * 2))
    )
    assert full.schema == table.schema and full.column("error").null_count == 2
    assert dict(full.column("probabilities")[0].as_py()).keys() == set(Classifier(small_model).classes)


def test_one_machine_s_table_is_the_cluster_s(small_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [str(PHOTOGRAPH), str(IMAGES / "refused_truncated.jpg"), str(IMAGES / "phantom_pale.jpg")]
    classifier = Classifier(small_model)
    table = classifier.classify_many(names, errors="return", features=True).to_arrow()
    plan = _frame.Plan({"path": "string"}, ["result", "features"])
    assert table == plan.table(str(small_model), pyarrow.table({"path": names}))
    assert classifier.classify_many([]).to_arrow().schema.names == ["path", *_frame.columns(["result"])]
    plain, full = classifier.classify(PHOTOGRAPH), classifier.classify(PHOTOGRAPH, features=True)
    assert plain.features is None and full == plain
    assert np.array_equal(pickle.loads(pickle.dumps(full)).features, full.features)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DermaFusionError, match="pyarrow is not installed") as caught:
        classifier.classify_many(names).to_arrow()
    assert "pip install" in caught.value.remedy


def test_an_actor_takes_ray_s_three_forms_of_batches(small_model: Path) -> None:
    content = PHOTOGRAPH.read_bytes()
    table = pyarrow.table({"bytes": [content, None], "path": ["a.jpg", "b.jpg"], "patient_id": ["p", "q"]})
    actor = Classify(str(small_model))
    expected = actor(table)
    assert actor(table.to_pandas()).to_pydict() == expected.to_pydict()
    as_numpy = {name: table.column(name).to_numpy() for name in table.column_names}
    assert actor(as_numpy) == expected
    assert actor({**as_numpy, "image": np.zeros((2, 4, 4, 3), np.uint8)}) == expected, "pixels beside are not read"
    with pytest.raises(ArgumentError, match="decoded pixels"):
        actor({"image": np.zeros((2, 4, 4, 3), np.uint8)})
    with pytest.raises(ArgumentError, match="lose zeros"):
        actor({"bytes": np.array([content + b"\0\0"])})
    with pytest.raises(ArgumentError, match="loses digits"):
        actor({**as_numpy, "patient_id": np.array([12345678901234567, np.nan])})
    mixed = np.array([55, "60+"], object)
    with_age = actor({**as_numpy, "bytes": np.array([content] * 2, object), "age": mixed})
    assert [json.loads(text)["metadata"]["age"] for text in with_age.column("json").to_pylist()] == [55, 60]
