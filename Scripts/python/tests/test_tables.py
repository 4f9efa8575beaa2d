"""A table of patients means through this door what it means on the command line."""

import copy
import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from conftest import COMMAND, ROOT, SEED, pixels

import dermafusion
from dermafusion import ArgumentError, Classifier, MetadataError

sys.path.insert(0, str(ROOT / "Scripts/lib"))
from table_cases import CASES  # noqa: E402  the cases of Scripts/checks/contract

NAMES = ["a.b.png", "Ünder.PNG", " edge .png", "=sum.png", "1.2.840.png"]


@pytest.fixture
def images(tmp_path: Path) -> list[str]:
    from PIL import Image

    folder = tmp_path / "images"
    folder.mkdir()
    for place, name in enumerate(NAMES):
        Image.fromarray(pixels(place, 64, 64)).save(folder / name, format="png")
    return [str(folder / name) for name in NAMES]


def told(classifier: Classifier, images: list[str], metadata: Any) -> tuple[list[Any], list[str]]:
    """The patient in each image's result, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = list(classifier.classify_many(images, metadata=metadata, errors="return"))
    known = [None if isinstance(one, dermafusion.DermaFusionError) else one.metadata for one in found]
    return known, [str(warning.message) for warning in caught]


def commanded(model: Path, images: list[str], table: Path) -> tuple[list[Any], str]:
    run = subprocess.run(
        [COMMAND, "classify", *images, "--model", model, "--metadata", table, "--format", "json"],
        capture_output=True,
        text=True,
    )
    found = {line["image"]: line["metadata"] for line in map(json.loads, run.stdout.splitlines())}
    return [found.get(image) for image in images], run.stderr


@pytest.mark.parametrize("seed", range(SEED, SEED + 6))
def test_a_table_through_every_door(small_model: Path, images: list[str], tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    image_column = random.choice(["image_id", "isic_id", "Image", "file_name", "path"])
    names = [name if random.random() < 0.4 else name.rpartition(".")[0] for name in NAMES]
    names[1] = str(random.choice([names[1].lower(), "U\u0308nder"]))
    rows = {
        image_column: names,
        str(random.choice(["age", "age_approx", "age (years)"])): random.choice(
            ["55", "85+", "045Y", "018M", "NaN", "", "5,5", "old"], len(names)
        ).tolist(),
        str(random.choice(["sex", "Gender"])): random.choice(["m", "FEMALE", "w", "NA", ""], len(names)).tolist(),
        str(random.choice(["localization", "anatom_site_general", "anatom_site_2"])): random.choice(
            ["back", "lower extremity", "Head/Neck", "palm", "moon", "a,;\"b", ""], len(names)
        ).tolist(),
        "note": ["x"] * len(names),
    }  # fmt: skip
    frame = pandas.DataFrame(rows).iloc[random.permutation(len(names))]
    table = tmp_path / "table.csv"
    frame.to_csv(table, index=False, sep=str(random.choice([",", ";", "\t"])), encoding="utf-16")
    expected, stderr = commanded(small_model, images, table)
    classifier = Classifier(small_model)
    forms = (table, frame, frame.set_index(image_column), {name: list(frame[name]) for name in frame.columns})
    for form in forms:
        known, notes = told(classifier, images, form)
        assert known == expected, (seed, type(form))
        for note in notes:
            if isinstance(form, Path):
                assert note in stderr, (seed, note, stderr)
    assert known != [None] * len(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_table_that_people_have(small_model: Path, tmp_path: Path, case: Any) -> None:
    from PIL import Image

    paths = [tmp_path / name for name in case.names]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(pixels(1, 64, 64)).save(path, format="png")
    table = tmp_path / "table.csv"
    table.write_bytes(case.table)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = list(Classifier(small_model).classify_many(paths, metadata=table, errors="return"))
        except MetadataError as error:
            found = [error] * len(paths)
    said = " ".join([str(warning.message) for warning in caught] + [str(one) for one in found])
    assert [word for word in case.words if word not in said] == [], said
    known = [
        "refused" if isinstance(one, MetadataError) else tuple(one.metadata[key] for key in ("age", "sex", "site"))
        for one in found
    ]
    assert known == [case.wanted(name) for name in case.names]


def test_rows_that_contradict_are_refused(small_model: Path, images: list[str]) -> None:
    classifier = Classifier(small_model)
    wrong: list[tuple[Any, str]] = [
        ({"image": ["a.b", "a.b"], "age": [1, 2]}, "a.b"),
        ({"image": ["A.B", "a.B"], "age": [1, 2]}, "could both be"),
        ({"picture": ["a.b"], "age": [1]}, "'image_id' is missing"),
        (pandas.DataFrame([["a.b", 1, 2]], columns=["image", "age", "age"]), "more than once"),
        (pandas.DataFrame({"image": ["a.b"], "age": [1]}).set_index("image", drop=False), "as index and as column"),
        ({"image": ["a.b"], "age": [1, 2]}, "1 and 2 values"),
        ({"image": "a.b"}, "no list"),
        ({"image": [b"a.b"]}, "bytes"),
        ({"image": ["zzz", None], "age": [1, 2]}, "no row is that of"),
    ]
    for table, words in wrong:
        with pytest.raises((MetadataError, ArgumentError), match=words):
            list(classifier.classify_many(images, metadata=table))
    with pytest.raises(MetadataError, match="No such file"):
        classifier.classify_many(images, metadata="nowhere.csv")


def test_a_bad_value_of_a_mapping_is_named_without_a_line(small_model: Path) -> None:
    rows = [{"age": 5}, {"age_approx": "old"}]
    pictures = [np.full((40, 40, 3), 90, np.uint8)] * 2
    first, second = Classifier(small_model).classify_many(pictures, metadata=rows, errors="return")
    assert first.metadata["age"] == 5 and isinstance(second, MetadataError)
    assert str(second).startswith("the metadata: column 'age_approx': the value 'old' is invalid. ")


def test_mappings_have_a_tables_names_and_words(small_model: Path) -> None:
    classifier = Classifier(small_model)
    rows = [
        {"localization": "head/neck", "age_approx": np.int64(40), "Sex": "w"},
        {"age": 3, "sex": "F", "site": "thigh"},
        {"age": "85+", "sex": "m"},
        {"anatom_site_general": "moon", "gender": pandas.NA},
        {"age": pandas.NA, "sex": None, "site": pandas.NaT},
    ]
    with pytest.warns(UserWarning, match=r"moon") as caught:
        found = [one.metadata for one in classifier.classify_many([pixels(1)] * 5, metadata=rows)]
    assert len(caught) == 1
    assert [(one["age"], one["sex"]) for one in found] == [
        (40, "female"),
        (3, "female"),
        (85, "male"),
        (None, "unknown"),
        (None, "unknown"),
    ]
    for wrong, words in (({"Agee": 3}, "Agee"), ({"image_name": "x", "localization": "back"}, "image_name")):
        with pytest.raises(ArgumentError, match=words):
            list(classifier.classify_many([pixels(1)], metadata=[wrong]))
    for bad in ({"age": "old"}, {"gender": "robot"}):
        failed = next(classifier.classify_many([pixels(1)], metadata=[bad], errors="return"))
        assert isinstance(failed, MetadataError) and next(iter(bad.values())) in str(failed)


def test_names_that_are_no_text_have_no_row_and_do_not_cost_the_report(small_model: Path, tmp_path: Path) -> None:
    from PIL import Image

    names = [os.fsdecode(os.fsencode(tmp_path) + b"/" + name) for name in (b"\xff.png", b"\xfe.png", b"\xfd.png")]
    for name in names[:2]:
        Image.fromarray(pixels(1, 64, 64)).save(name, format="png")
    classifier = Classifier(small_model)
    with pytest.raises(MetadataError, match="no row is that of"):
        told(classifier, names[:2], {"image": ["\ufffd", "?"], "age": [1, 2]})
    found = classifier.report(names, tmp_path / "r.html")
    assert [getattr(one, "image", None) for one in found[:2]] == [f"{tmp_path}/\ufffd.png"] * 2
    assert (tmp_path / "r.html").read_text().count(f"{tmp_path}/\ufffd.png") >= 3
    with pytest.raises(dermafusion.FolderNotFoundError):
        classifier.report(iter(lambda: pytest.fail("an image was read"), 0), tmp_path / "none/r.html")
    with pytest.raises(ArgumentError):
        classifier.report(names, tmp_path / "s.html", metadata=[{}] * 4)
    assert not [name for name in os.listdir(tmp_path) if name.startswith("s.html") or name.endswith(".partial")]


def test_a_heatmap_leaves_its_process(small_model: Path) -> None:
    heatmap = Classifier(small_model).heatmap(pixels(5), name="p.png", label="mel")
    for sent in (pickle.loads(pickle.dumps(heatmap)), copy.deepcopy(heatmap), copy.copy(heatmap)):
        sent = pickle.loads(pickle.dumps(sent))
        assert sent.picture() == heatmap.picture() and repr(sent) == repr(heatmap)
        assert sent.classification == heatmap.classification
        for name in ("values", "stretched", "signed_values"):
            array, expected = getattr(sent, name), getattr(heatmap, name)
            assert np.array_equal(array, expected) and not array.flags.writeable, name
        for name in ("probabilities", "logits"):
            assert not getattr(sent.classification, name).flags.writeable


def test_only_the_ending_of_an_image_is_cut_off(small_model: Path) -> None:
    names = ["d/1.2.840.5", "a.0", "patient.Smith", "a.", ".jpg", "a.b.JPG", "", "d/a.jpg.bak"]
    classifier = Classifier(small_model)
    found = [classifier.classify(pixels(1), name=name) for name in names]
    failed = dermafusion.ImageError("it is no image")
    failed.image = "d/b.png"
    frame = dermafusion.to_frame([*found, failed])
    expected = ["1.2.840.5", "a.0", "patient.Smith", "a.", ".jpg", "a.b", "", "a.jpg.bak", "b"]
    assert frame["image_id"].tolist() == expected


def test_sparks_folders_and_rows_are_the_commands(small_model: Path, images: list[str], tmp_path: Path) -> None:
    from dermafusion import spark

    folder = Path(images[0]).parent
    (folder / "below").mkdir()
    for name in ("patient.Smith", "IM0001", ".hidden.png"):
        (folder / "below" / name).write_bytes(Path(images[0]).read_bytes())
    (folder / "moving").write_bytes(b"GIF89a")
    (folder / "notes.txt").write_text("no image")
    (folder / "a.png-link").symlink_to(images[0])
    listed = subprocess.run(
        [COMMAND, "classify", folder, "--model", small_model, "--format", "json"], capture_output=True, text=True
    )
    expected = [json.loads(line)["image"] for line in listed.stdout.splitlines()]
    with pytest.warns(UserWarning, match="left out: 1 GIF file"):
        assert spark.image_paths(folder) == expected
    assert len(expected) == len(NAMES) + 3
    with pytest.raises(dermafusion.DermaFusionError, match="none"):
        spark.image_paths(tmp_path / "none")


def test_a_series_is_metadata(small_model: Path) -> None:
    classifier = Classifier(small_model)
    frame = pandas.DataFrame(
        {"age": [40, None, 85], "sex": ["male", "f", None], "localization": ["back", None, "abdomen"]}
    )
    images = [pixels(seed) for seed in range(3)]
    expected = [
        found.json
        for found in classifier.classify_many(
            images,
            metadata=[{"age": 40, "sex": "male", "site": "back"}, {"sex": "female"}, {"age": 85, "site": "abdomen"}],
        )
    ]
    rows = [row for _, row in frame.iterrows()]
    for metadata in (rows, pandas.Series(rows), pandas.Series(frame.to_dict("records"), index=[7, 8, 9])):
        assert [found.json for found in classifier.classify_many(images, metadata=metadata)] == expected
    # The row of one image, and a column whose index names the images.
    assert [found.json for found in classifier.classify_many(images[:1], metadata=rows[0])] == expected[:1]
    path = ROOT / "ParityFixtures/images/phantom_brown.jpg"
    ages = pandas.Series([61.0], index=pandas.Index([path.name], name="image"), name="age")
    with warnings.catch_warnings(action="ignore"):
        found = list(classifier.classify_many([path], metadata=ages))
    assert found[0].metadata["age"] == 61
    with pytest.raises(dermafusion.DermaFusionError):
        list(classifier.classify_many(images, metadata=pandas.Series([1, 2, 3])))
