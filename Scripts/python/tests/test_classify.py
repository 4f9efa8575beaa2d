"""The package gives what the command line gives."""

import base64
import html
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import COMMAND, IMAGES, ROOT, pixels

import dermafusion
from dermafusion import Classifier


def command_lines(*arguments: str) -> list[str]:
    run = subprocess.run([COMMAND, "classify", *arguments, "--format", "json"], capture_output=True, text=True)
    return run.stdout.splitlines()


def test_json_of_all_fixtures_is_the_command_lines_to_the_byte() -> None:
    options = ["--age", "61.5", "--sex", "female", "--site", "lower extremity"]
    expected = command_lines(str(IMAGES), "--model", str(ROOT / "Weights"), *options)
    assert len(expected) > 60
    names = [json.loads(line)["image"] for line in expected]
    known = {"age": 61.5, "sex": "female", "site": "lower extremity"}
    found = Classifier().classify_many(names, metadata=[known] * len(names))
    for line, result in zip(expected, found, strict=True):
        assert result.json == line


def test_json_with_symmetries_and_without_metadata_is_the_command_lines(small_model: Path) -> None:
    image = str(IMAGES / "jpeg_411.jpg")
    [expected] = command_lines(image, "--model", str(small_model), "--tta")
    assert Classifier(small_model, threads=1).classify(image, tta=True).json == expected


def test_a_path_bytes_and_the_pixels_give_the_same_scores(small_model: Path) -> None:
    classifier = Classifier(small_model)
    image = pixels(1, 70, 91)
    file = b"P6\n91 70\n255\n" + image.tobytes()
    expected = classifier.classify(image)
    for given in (file, bytearray(file), memoryview(file)):
        found = classifier.classify(given, name="a")
        assert np.array_equal(found.logits, expected.logits)
        assert found.image == "a"
    assert expected.image_sha256 is None and found.image_sha256 is not None
    padded = np.zeros((70, 120, 3), np.uint8)
    padded[:, 5:96] = image
    assert np.array_equal(classifier.classify(padded[:, 5:96]).logits, expected.logits)
    assert np.array_equal(classifier.classify(np.asfortranarray(image)).logits, expected.logits)


def test_a_result_says_what_its_json_says(small_model: Path) -> None:
    result = Classifier(small_model).classify(IMAGES / "jpeg_420.jpg", age=55, sex="male", site="back")
    content = json.loads(result.json)
    assert result.classes == tuple(content["probabilities"])
    assert result.probabilities.dtype == np.float32
    assert result.probabilities.tolist() == [np.float32(value) for value in content["probabilities"].values()]
    assert result.logits.tolist() == [np.float32(value) for value in content["logits"].values()]
    assert abs(float(result.probabilities.sum()) - 1) < 1e-5
    assert result.prediction == content["prediction"]["class"]
    assert result.probability == max(result.probabilities.tolist())
    assert (result.risk, result.abstain) == (content["risk"], content["abstain"])
    assert result.metadata == content["metadata"]
    assert result.disclaimer in str(result) and result.disclaimer in repr(result)
    with pytest.raises(ValueError):
        result.probabilities[0] = 1


def test_the_shipped_model_abstains_from_black() -> None:
    result = Classifier().classify(np.zeros((100, 100, 3), np.uint8))
    assert result.abstain and result.prediction is None and result.risk is None and result.probability is None
    assert "solid_color" in result.abstain_reasons


def test_heatmap_is_the_command_lines(small_model: Path, tmp_path: Path) -> None:
    image = IMAGES / "jpeg_444.jpg"
    raw = tmp_path / "map.npy"
    arguments = [COMMAND, "gradcam", str(image), "--model", str(small_model), "--class", "bkl", "--method", "layercam"]
    subprocess.run(
        [*arguments, "--raw", str(raw), "--output", str(tmp_path / "o.png")], check=True, capture_output=True
    )
    found = Classifier(small_model).heatmap(image, label="bkl", method="layercam")
    assert np.array_equal(found.stretched, np.load(raw).reshape(found.stretched.shape))
    assert found.label == "bkl" and found.status == "ok"
    assert found.values.shape == (64, 64) and found.values.dtype == np.float32
    assert found.signed_values.ndim == 2
    assert found.values.max() == 1 and found.values.min() >= 0


def test_the_picture_is_the_commands_to_the_byte(tmp_path: Path) -> None:
    image = IMAGES / "phantom_melanoma.jpg"
    drawn = tmp_path / "command.png"
    known = ["--age", "55", "--sex", "male", "--site", "back"]
    subprocess.run(
        [COMMAND, "gradcam", str(image), "--model", str(ROOT / "Weights"), *known, "--output", str(drawn)],
        check=True,
        capture_output=True,
    )
    heatmap = Classifier().heatmap(image, age=55, sex="male", site="back")
    assert heatmap.picture() == drawn.read_bytes()
    assert heatmap._repr_png_() == heatmap.picture()
    heatmap.save(tmp_path / "saved.png")
    assert (tmp_path / "saved.png").read_bytes() == drawn.read_bytes()


def test_the_shipped_model_in_8_bits_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = Classifier("int8")
    assert small.description["precision"] == "int8" and Classifier().description["precision"] == "float32"
    expected = Classifier(ROOT / "Weights/int8").classify(IMAGES / "phantom_brown.jpg").json
    assert small.classify(IMAGES / "phantom_brown.jpg").json == expected
    assert pickle.loads(pickle.dumps(small)).classify(IMAGES / "phantom_brown.jpg").json == expected
    # A folder of that name comes first.
    (tmp_path / "int8").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dermafusion.ModelNotFoundError, match=r"config\.json"):
        Classifier("int8")


def test_pillows_images_are_taken(small_model: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    classifier = Classifier(small_model)
    for name in ("phantom_brown.jpg", "jpeg_orientation6.jpg"):
        opened = pillow.open(IMAGES / name)
        found = classifier.classify(opened)
        assert found.image == str(IMAGES / name) and found.image_sha256 is None
        expected = classifier.classify(IMAGES / name)
        assert np.abs(found.logits - expected.logits).max() < 1e-2
    image = pixels(11)
    expected = classifier.classify(image)
    for made in (pillow.fromarray(image), pillow.fromarray(image).convert("RGBA")):
        assert np.array_equal(classifier.classify(made).logits, expected.logits)
        assert classifier.heatmap(made).classification.image == ""
    grey = np.arange(64 * 64, dtype=np.uint16).reshape(64, 64) * 16
    high = np.repeat((grey >> 8).astype(np.uint8)[..., None], 3, axis=2)
    deep = pillow.frombytes("I;16", (64, 64), grey.tobytes())
    assert np.array_equal(classifier.classify(deep).logits, classifier.classify(high).logits)


def test_heatmap_outlives_everything_else(small_model: Path) -> None:
    def make() -> np.ndarray:
        classifier = Classifier(small_model)
        heatmap = classifier.heatmap(pixels(3))
        classifier.close()
        return heatmap.values[2:, ::3]

    kept = make()
    expected = kept.copy()
    [Classifier(small_model).heatmap(pixels(seed)) for seed in range(20)]
    assert np.array_equal(kept, expected)
    with pytest.raises(ValueError):
        kept[0, 0] = 1


def test_many_gives_the_results_in_order_and_errors_in_their_places(small_model: Path, tmp_path: Path) -> None:
    classifier = Classifier(small_model)
    (tmp_path / "bad.jpg").write_bytes(b"\xff\xd8\xff\xe0 no image")
    images = [pixels(seed) for seed in range(40)]
    expected = [classifier.classify(image).json for image in images]
    for threads in (1, 2, 5, None):
        assert [result.json for result in classifier.classify_many(images, threads=threads)] == expected
    mixed = [*images[:2], tmp_path / "bad.jpg", tmp_path / "missing.png", images[2]]
    found = list(classifier.classify_many(mixed, errors="return"))
    assert [isinstance(item, dermafusion.ImageError) for item in found] == [False, False, True, True, False]
    assert found[2].image == str(tmp_path / "bad.jpg")
    with pytest.raises(dermafusion.ImageError, match="bad.jpg"):
        list(classifier.classify_many(mixed))


def test_many_computes_as_many_images_at_a_time_as_the_engine_has_threads(small_model: Path) -> None:
    classifier = Classifier(small_model)
    classifier._open().description["threads"] = 3  # as in a control group with a quota
    with classifier.classify_many(iter([])) as results:
        assert results._feed.workers == 3
    with Classifier(small_model, threads=1).classify_many(iter([])) as results:
        assert results._feed.workers == len(os.sched_getaffinity(0))


def test_many_begins_few_images_ahead(small_model: Path) -> None:
    begun = 0

    def endless():
        nonlocal begun
        while True:
            begun += 1
            yield pixels(begun)

    with Classifier(small_model).classify_many(endless(), threads=2) as results:
        for _ in range(5):
            next(results)
    assert begun <= 5 + 4


def test_a_slow_iterable_delays_no_result(small_model: Path) -> None:
    classifier = Classifier(small_model)
    asked = threading.Event()
    served = threading.Event()

    def slow():
        yield pixels(1)
        asked.set()
        # The second image is there only when the first result was.
        assert served.wait(60)
        yield pixels(2)

    with classifier.classify_many(slow(), threads=4) as results:
        first = next(results)
        assert asked.wait(60)
        served.set()
        assert [first.json, next(results).json] == [classifier.classify(pixels(seed)).json for seed in (1, 2)]
        assert next(results, None) is None


def test_an_error_of_the_iterable_comes_in_its_place(small_model: Path) -> None:
    classifier = Classifier(small_model)

    def broken():
        yield pixels(1)
        raise dermafusion.ImageError("the archive is damaged")

    def rows():
        raise KeyError("row")
        yield {}

    for errors in ("raise", "return"):
        results = classifier.classify_many(broken(), errors=errors)
        assert next(results).json == classifier.classify(pixels(1)).json
        with pytest.raises(dermafusion.ImageError, match="damaged"):
            next(results)
        assert next(results, None) is None
        with pytest.raises(KeyError, match="row"):
            next(classifier.classify_many([pixels(1)], metadata=rows(), errors=errors))


@pytest.mark.parametrize(("count", "threads"), [(60, 3), (4, 1)])
def test_several_threads_share_the_results(small_model: Path, count: int, threads: int) -> None:
    # The fourth reader of four images on one thread sees the end while the others' images wait.
    classifier = Classifier(small_model)
    images = [pixels(seed) for seed in range(count)]
    expected = sorted(classifier.classify(image).json for image in images)
    results = classifier.classify_many(images, threads=threads)
    found: list[str] = []
    readers = [threading.Thread(target=lambda: found.extend(result.json for result in results)) for _ in range(5)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(120)
    assert sorted(found) == expected


def test_closing_while_others_read_ends_them(small_model: Path) -> None:
    def endless():
        while True:
            yield pixels(1)

    results = Classifier(small_model).classify_many(endless(), threads=2)
    errors: list[BaseException] = []

    def read() -> None:
        try:
            for _ in results:
                pass
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    readers = [threading.Thread(target=read, daemon=True) for _ in range(3)]
    for reader in readers:
        reader.start()
    time.sleep(0.2)
    results.close()
    for reader in readers:
        reader.join(60)
    assert not errors and not any(reader.is_alive() for reader in readers)


def test_frame_has_a_row_for_each_image(small_model: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    classifier = Classifier(small_model)
    frame = classifier.classify_many([IMAGES / "jpeg_420.jpg", tmp_path / "none.png"], errors="return").to_frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 2
    single = classifier.classify(IMAGES / "jpeg_420.jpg")
    assert np.float32(frame.loc[0, "mel"]) == single.probabilities[single.classes.index("mel")]
    assert frame.loc[0, "disclaimer"] == single.disclaimer
    assert "none.png" in frame.loc[1, "error"] and frame.loc[1, "image"] == str(tmp_path / "none.png")
    assert frame.loc[1, "image_id"] == "none"


@pytest.mark.parametrize("tta", [False, True])
def test_frame_is_the_commands_table(small_model: Path, tmp_path: Path, tta: bool) -> None:
    pandas = pytest.importorskip("pandas")
    names = sorted(str(path) for path in IMAGES.glob("jpeg_4*.jpg"))
    options = ["--age", "40.5", "--site", "hand", *(["--tta"] if tta else [])]
    run = subprocess.run(
        [COMMAND, "classify", *names, "--model", str(small_model), *options, "--format", "csv"],
        capture_output=True,
        text=True,
        check=True,
    )
    (tmp_path / "table.csv").write_text(run.stdout)
    expected = pandas.read_csv(tmp_path / "table.csv", keep_default_na=False)
    known = [{"age": 40.5, "site": "hand"}] * len(names)
    found = Classifier(small_model).classify_many(names, metadata=known, tta=tta).to_frame()
    assert list(found.columns) == [*expected.columns, "error"]
    for column in expected.columns:
        values = ["" if value is None else value for value in found[column]]
        assert values == expected[column].tolist(), column


def test_no_two_columns_have_one_name(copied_model: Path) -> None:
    config = json.loads((copied_model / "config.json").read_text())
    config["classes"] = ["risk", "probability_risk", "error", "image_id", "mel", "nv", "vasc"]
    (copied_model / "config.json").write_text(json.dumps(config))
    (copied_model / "SHA256SUMS").unlink(missing_ok=True)
    columns = list(dermafusion.result.row(Classifier(copied_model).classify(pixels(1))))
    assert len(columns) == len(set(columns))
    expected = ["probability_probability_risk", "probability_risk", "probability_error", "probability_image_id"]
    assert columns[5:9] == expected


def test_a_result_is_shown_in_a_notebook_with_its_disclaimer(small_model: Path) -> None:
    result = Classifier(small_model).classify(pixels(2), name="<b>.png")
    shown = result._repr_html_()
    assert html.escape(result.summary) in shown and html.escape(result.disclaimer) in shown
    assert all(f">{name}</th>" in shown for name in result.classes) and "<b>.png" not in shown
    assert (result.concern, result.urgent) == tuple(json.loads(result.json)[key] for key in ("concern", "urgent"))
    assert not result.multi_label


def test_a_report_has_every_image_and_the_disclaimer(tmp_path: Path) -> None:
    classifier = Classifier()
    names = [str(IMAGES / "phantom_brown.jpg"), str(tmp_path / "<none>.png"), str(IMAGES / "solid.png")]
    black = np.zeros((100, 100, 3), np.uint8)
    found = classifier.report([*names[:2], black], tmp_path / "report.html", metadata=[{"age": 40}, {}, {}])
    page = (tmp_path / "report.html").read_text()
    first, missing, abstained = found
    assert first == classifier.classify(names[0], age=40) and abstained.abstain
    assert isinstance(missing, dermafusion.ImageNotFoundError) and "&lt;none&gt;.png" in page
    picture = classifier.heatmap(names[0], age=40).picture()
    assert page.count("data:image/png") == 1 and base64.b64encode(picture).decode() in page
    assert page.count(html.escape(first.disclaimer)) == 3 and html.escape(abstained.summary) in page
    assert "<script" not in page and "http" not in page
    assert not (tmp_path / "report.html.part").exists()


def test_a_model_in_memory_is_the_same_model(small_model: Path) -> None:
    files = [(small_model / name).read_bytes() for name in ("config.json", "model.safetensors")]
    memory = Classifier.from_bytes(*files)
    assert memory.classify(pixels(4)).json == Classifier(small_model).classify(pixels(4)).json
    assert memory.classes == ("akiec", "bcc", "bkl", "df", "mel", "nv", "vasc")


def test_a_classifier_can_be_sent_to_another_process(small_model: Path) -> None:
    sent = pickle.loads(pickle.dumps(Classifier(small_model, threads=1)))
    assert sent.classify(pixels(5)).json == Classifier(small_model).classify(pixels(5)).json


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_of_a_fork_is_refused_and_harms_nobody(small_model: Path) -> None:
    parent = Classifier(small_model, threads=2)
    heatmap = parent.heatmap(pixels(6))
    expected = heatmap.values.copy()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            refused = 0
            for call in (lambda: parent.classify(pixels(6)), lambda: Classifier(small_model)):
                try:
                    call()
                except dermafusion.ClosedError:
                    refused += 1
            del parent
            status = 0 if refused == 2 and np.array_equal(heatmap.values, expected) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert np.array_equal(parent.heatmap(pixels(6)).values, expected)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_pool_of_forks_is_told_instead_of_waiting_for_ever(small_model: Path) -> None:
    parent = Classifier(small_model)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        waiting = pool.map_async(parent.classify, [str(IMAGES / "jpeg_420.jpg")] * 3)
        with pytest.raises(dermafusion.ClosedError, match="forked"):
            waiting.get(timeout=60)


def test_spawned_processes_have_classifiers_of_their_own(small_model: Path) -> None:
    expected = Classifier(small_model).classify(pixels(7)).json
    program = (
        "import sys, numpy; from dermafusion import Classifier; "
        "print(Classifier(sys.argv[1]).classify(numpy.load(sys.argv[2])).json)"
    )
    image = small_model.parent / "image.npy"
    np.save(image, pixels(7))
    run = subprocess.run([sys.executable, "-c", program, small_model, image], capture_output=True, text=True)
    assert run.stdout.strip() == expected, run.stderr


def test_frames_of_a_dicom_file_are_asked_for(small_model: Path, tmp_path: Path) -> None:
    path = ROOT / "ParityFixtures" / "formats" / "dicom_three_native.dcm"
    classifier = Classifier(small_model)
    with pytest.raises(dermafusion.ImageError, match="the DICOM holds 3 frames"):
        classifier.classify(path)
    with pytest.raises(dermafusion.ImageError, match="frame 4 was asked for"):
        classifier.classify(f"{path}#4")
    expected = [json.loads(line) for line in command_lines(str(path), "--model", str(small_model))]
    for number, line in enumerate(expected, 1):
        found = classifier.classify(f"{path}#{number}")
        assert found.image == line["image"] == f"{path}#{number}"
        assert json.loads(found.json) == line
        assert np.array_equal(classifier.classify(path.read_bytes(), frame=number).logits, found.logits)
        assert np.array_equal(classifier.heatmap(path, frame=number).classification.logits, found.logits)
    with pytest.raises(dermafusion.ArgumentError, match="frame is 0"):
        classifier.classify(path, frame=0)
    # A file that is truly named so goes before a frame.
    (tmp_path / "a.dcm").write_bytes(path.read_bytes())
    (tmp_path / "a.dcm#2").write_bytes((ROOT / "ParityFixtures" / "images" / "black.png").read_bytes())
    assert classifier.classify(tmp_path / "a.dcm#2").image_sha256 != found.image_sha256


def test_details_of_warnings_are_there(small_model: Path) -> None:
    classifier = Classifier(small_model)
    found = classifier.classify(ROOT / "ParityFixtures" / "formats" / "jpeg_pictures_p3.mpo")
    assert found.warning_details == {"several_pictures": "3", "color_profile": "Display P3"}
    assert {"several_pictures", "color_profile"} <= set(found.warnings)
    assert classifier.classify(pixels(1, 70, 91)).warning_details == {}


def test_a_language_words_every_call_and_the_english_disclaimer_stands(small_model: Path) -> None:
    image = str(IMAGES / "jpeg_411.jpg")
    english = Classifier(small_model).classify(image)
    german = Classifier(small_model, language="de")
    found = german.classify(image)
    expected = command_lines(image, "--model", str(small_model), "--language", "de")
    assert [found.json] == expected
    assert found.language == "de" and english.language == "en" and english.disclaimer_translation is None
    assert found.disclaimer == english.disclaimer
    assert found.disclaimer_translation and found.disclaimer_translation.startswith("DermaFusion ist ein Werkzeug")
    for shown in (str(found), found._repr_html_()):
        assert "Das ist keine Diagnose." in shown and found.disclaimer in shown and "KEIN Medizinprodukt" in shown
    # Classifiers of one model share its engine, and not its language.
    assert Classifier(small_model).classify(image) == english
    french = german.heatmap(image, language="fr")
    assert "pas un diagnostic" in french.classification.summary
    assert french.picture() != german.heatmap(image).picture()
    assert [result.language for result in german.classify_many([image, image])] == ["de", "de"]
    assert [result.language for result in german.classify_many([image], language="en")] == ["en"]
    assert pickle.loads(pickle.dumps(german)).classify(image) == found
    row = found.to_frame().iloc[0]
    assert (row["language"], row["disclaimer"]) == ("de", english.disclaimer)
    for wrong in ("deutsch", "", 5):
        with pytest.raises(dermafusion.DermaFusionError, match="is not one of en, de, fr"):
            Classifier(small_model, language=wrong)  # type: ignore[arg-type]
        with pytest.raises(dermafusion.DermaFusionError, match="is not one of en, de, fr"):
            german.classify(image, language=wrong)  # type: ignore[arg-type]
    for language, missing, wrong in (
        ("de", "Diesen Modellordner gibt es nicht", "muss ein Objekt sein"),
        ("en", "there is no such model folder", "must be an object"),
    ):
        with pytest.raises(dermafusion.ModelNotFoundError, match=missing):
            Classifier("none/of/these", language=language)
        with pytest.raises(dermafusion.ModelError, match=wrong):
            Classifier.from_bytes(b"[]", b"", language=language)
