"""Wrong use is one clear exception."""

import errno
import os
import pickle
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import IMAGES, pixels

import dermafusion
from dermafusion import ArgumentError, Classifier, DermaFusionError, ImageError, MetadataError


@pytest.fixture(scope="module")
def classifier(small_model: Path) -> Classifier:
    return Classifier(small_model)


@pytest.mark.parametrize(
    ("image", "exception", "words"),
    [
        (np.zeros((40, 40, 3), np.float32), ArgumentError, "float32"),
        (np.zeros((40, 40, 3), np.int8), ArgumentError, "int8"),
        (np.zeros((40, 40, 3), object), ArgumentError, "object"),
        (np.zeros((40, 40, 3), ">u2"), ArgumentError, ">u2"),
        (np.zeros((40, 40), np.uint8), ArgumentError, "(40, 40)"),
        (np.zeros((40, 40, 4), np.uint8), ArgumentError, "(40, 40, 4)"),
        (np.zeros((1, 40, 40, 3), np.uint8), ArgumentError, "(1, 40, 40, 3)"),
        (np.zeros((0, 40, 3), np.uint8), ArgumentError, "no pixels"),
        (np.zeros((), np.uint8), ArgumentError, "()"),
        (np.zeros((40, 40, 3), np.uint8)[::-1], ArgumentError, "strides"),
        (np.zeros((40, 40, 3), np.uint8)[:, ::-1], ArgumentError, "strides"),
        (np.zeros((40, 40, 3), np.uint8)[..., ::-1], ArgumentError, "strides"),
        (np.ma.zeros((40, 40, 3), dtype=np.uint8), ArgumentError, "mask"),
        (np.broadcast_to(np.zeros((1, 1, 3), np.uint8), (2**20, 2**20, 3)), ImageError, "too large"),
        (np.zeros((31, 90, 3), np.uint8), ImageError, "90x31"),
        (memoryview(bytes(64))[::2], ArgumentError, "bytes"),
        (b"", ImageError, "empty"),
        (b"\x89PNG\r\n\x1a\n", ImageError, "PNG"),
        (b"GIF89a", ImageError, "GIF"),
        (None, ArgumentError, "NoneType"),
        (17, ArgumentError, "int"),
        ([[1]], ArgumentError, "list"),
        ("", ImageError, "no such file or folder"),
        ("nowhere.png", ImageError, "nowhere.png"),
        ("no\0where.png", ImageError, "null byte"),
        ("/dev/zero", ImageError, "regular"),
        (str(IMAGES), ImageError, "images"),
        (str(IMAGES / "jpeg_411.jpg" / "x"), ImageError, "jpeg_411.jpg"),
    ],
)
def test_an_image_that_is_none(classifier: Classifier, image: object, exception: type, words: str) -> None:
    for call in (classifier.classify, classifier.heatmap):
        with pytest.raises(exception) as caught:
            call(image)  # type: ignore[operator]
        assert words in str(caught.value)
        assert caught.value.remedy


@pytest.mark.parametrize(
    "known",
    [
        {"age": -0.5},
        {"age": 130.01},
        {"age": float("inf")},
        {"age": 10**400},
        {"age": "40"},
        {"age": True},
        {"age": np.zeros(2)},
        {"sex": "x"},
        {"sex": ""},
        {"sex": 1},
        {"site": "moon"},
        {"site": "torso"},
        {"site": b"back"},
        {"site": "ba\0ck"},
        {"site": "\ud800"},
    ],
)
def test_metadata_that_is_none(classifier: Classifier, known: dict[str, object]) -> None:
    with pytest.raises(MetadataError):
        classifier.classify(pixels(1), **known)  # type: ignore[arg-type]


def test_a_file_that_is_missing_is_pythons_own_error_too(classifier: Classifier, tmp_path: Path) -> None:
    path = tmp_path / "none.png"
    for call in (classifier.classify, classifier.heatmap):
        with pytest.raises(FileNotFoundError) as caught:
            call(path)
        assert caught.value.filename == str(path) and str(path) in str(caught.value)
        assert isinstance(caught.value, dermafusion.ImageError) and caught.value.remedy
    with pytest.raises(FileNotFoundError):
        Classifier(tmp_path / "nowhere")
    for error in (caught.value, dermafusion.ModelNotFoundError("gone", "look")):
        copy = pickle.loads(pickle.dumps(error))
        assert (str(copy), copy.remedy) == (str(error), error.remedy)


def test_a_large_file_that_is_no_image_is_not_read(classifier: Classifier, tmp_path: Path) -> None:
    path = tmp_path / "large.bin"
    with open(path, "wb") as file:
        file.truncate(500 << 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ImageError, match=r"large\.bin: "):
        classifier.classify(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 << 10
    with open(path, "r+b") as file:
        file.write(b"\xff\xd8\xff\xe0")
        file.truncate(513 << 20)
    with pytest.raises(ImageError, match=r"large\.bin: the file is larger than the limit of 512 MB"):
        classifier.classify(path)


def test_what_pandas_writes_for_missing_is_missing(classifier: Classifier) -> None:
    result = classifier.classify(pixels(1), age=float("nan"), sex=float("nan"), site=None)  # type: ignore[arg-type]
    assert result.metadata["missing"] == ["age", "sex", "site"]
    assert classifier.classify(pixels(1), age=np.float32(40)).metadata["age"] == 40


def test_a_map_of_what_is_not_there(classifier: Classifier) -> None:
    for wrong in ({"label": "melanoma"}, {"layer": "nowhere"}):
        with pytest.raises(dermafusion.ExplanationError) as caught:
            classifier.heatmap(pixels(1), **wrong)  # type: ignore[arg-type]
        assert next(iter(wrong.values())) in str(caught.value)
    for wrong in ({"method": "cam"}, {"label": 3}, {"label": "all"}):
        with pytest.raises(ArgumentError):
            classifier.heatmap(pixels(1), **wrong)  # type: ignore[arg-type]


def test_a_model_that_is_none(tmp_path: Path, copied_model: Path) -> None:
    with pytest.raises(dermafusion.ModelNotFoundError, match="nowhere"):
        Classifier(tmp_path / "nowhere")
    with pytest.raises(dermafusion.ModelNotFoundError, match=r"config\.json"):
        Classifier(tmp_path)
    for wrong in (3, b"Weights"):
        with pytest.raises(ArgumentError):
            Classifier(wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError):
        Classifier("a\0b")
    weights = copied_model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4])
    with pytest.raises(dermafusion.ModelError, match=r"model\.safetensors"):
        Classifier(copied_model)
    with pytest.raises(dermafusion.ModelError):
        Classifier.from_bytes(b"{}", b"")
    with pytest.raises(ArgumentError):
        Classifier.from_bytes("{}", b"")  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [0, -1, 1025, 2.0, "2", True])
def test_threads_that_are_none(small_model: Path, threads: object) -> None:
    with pytest.raises(ArgumentError):
        Classifier(small_model, threads=threads)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError):
        Classifier(small_model).classify_many([], threads=threads)  # type: ignore[arg-type]


def test_many_refuses_what_is_not_many(classifier: Classifier) -> None:
    for wrong in ("a.png", b"P6", IMAGES):
        with pytest.raises(ArgumentError):
            classifier.classify_many(wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="less metadata"):
        list(classifier.classify_many([pixels(1), pixels(2)], metadata=[{}]))
    for more in ([{"age": 1}, {"age": 2}], iter([{"age": 1}, {"age": 2}])):
        with pytest.raises(ArgumentError, match="more metadata"):
            list(classifier.classify_many([pixels(1)], metadata=more))
    with pytest.raises(ArgumentError, match="Agee"):
        list(classifier.classify_many([pixels(1)], metadata=[{"Agee": 3}], errors="return"))


def test_a_closed_classifier_is_refused(small_model: Path) -> None:
    first, second = Classifier(small_model), Classifier(small_model)
    first.close()
    first.close()
    for call in (first.classify, first.heatmap, lambda image: first.classify_many([image])):
        with pytest.raises(dermafusion.ClosedError):
            call(pixels(1))
    assert "closed" in repr(first)
    assert second.classify(pixels(1)).prediction


def test_a_handle_that_was_freed_is_refused(small_model: Path) -> None:
    """Arguments that only a bug in the package could hand over: the library notices."""
    classifier = Classifier(small_model, threads=3)
    engine = classifier._engine
    assert engine is not None
    engine.library.call("classifier_close", engine.handle)
    with pytest.raises(dermafusion.ClosedError, match="is no open classifier"):
        classifier.classify(pixels(1))
    engine.finalizer.detach()


def run_with_library(path: Path) -> str:
    program = "import dermafusion\ntry: dermafusion.Classifier()\nexcept Exception as e: print(type(e).__name__, e)"
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "DERMAFUSION_LIBRARY": str(path)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize(
    ("abi", "version", "words"),
    [(2, dermafusion.__version__, "interface is version 2, not 1"), (1, "0.0.1", "the library is version 0.0.1")],
)
def test_two_versions_are_refused(tmp_path: Path, abi: int, version: str, words: str) -> None:
    source = tmp_path / "other.c"
    source.write_text(
        f"unsigned dermafusion_abi_version(void) {{ return {abi}; }}\n"
        f'const char *dermafusion_version(void) {{ return "{version}"; }}\n'
    )
    library = tmp_path / "libother.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    found = run_with_library(library)
    assert found.startswith("VersionError ") and words in found


def test_a_library_that_is_none_is_refused(tmp_path: Path) -> None:
    assert run_with_library(tmp_path / "none.so").startswith("LibraryError ")
    (tmp_path / "text.so").write_text("no library")
    assert run_with_library(tmp_path / "text.so").startswith("LibraryError ")


def test_every_exception_is_of_one_kind() -> None:
    for name in dermafusion.__all__:
        if name.endswith("Error"):
            assert issubclass(getattr(dermafusion, name), DermaFusionError)


@pytest.mark.parametrize("verb", ["report", "save"])
def test_an_output_that_cannot_be_written_is_named(classifier: Classifier, tmp_path: Path, verb: str) -> None:
    heatmap = classifier.heatmap(pixels(1))

    def write(path: object) -> None:
        if verb == "save":
            heatmap.save(path)  # type: ignore[arg-type]
        else:
            classifier.report([pixels(1)], path)  # type: ignore[arg-type]

    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    missing = [tmp_path / "none" / "map.png", tmp_path / "file" / "map.png", tmp_path / "folder", "n" * 300, ""]
    for path in missing:
        with pytest.raises(dermafusion.WriteError) as caught:
            write(path)
        assert isinstance(caught.value, OSError) and caught.value.remedy
        assert str(caught.value).startswith(f"{path}: cannot be written: "), str(caught.value)
        assert caught.value.filename == str(path) and caught.value.errno
        # Python's own error, too, for those who look for it.
        assert isinstance(caught.value, FileNotFoundError) == (caught.value.errno == errno.ENOENT)
        copy = pickle.loads(pickle.dumps(caught.value))
        assert (str(copy), copy.remedy, copy.filename, copy.errno) == (
            str(caught.value),
            caught.value.remedy,
            caught.value.filename,
            caught.value.errno,
        )
    with pytest.raises(dermafusion.WriteError, match="null byte"):
        write("map\0.png")
    for value in (None, 7, [str(tmp_path / "map.png")]):
        with pytest.raises(ArgumentError, match="the output is of type"):
            write(value)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"] and (tmp_path / "file").read_text() == "old"


def test_an_output_is_replaced_when_it_is_whole(classifier: Classifier, tmp_path: Path) -> None:
    class Broken(Exception):
        pass

    def images() -> Iterator[np.ndarray]:
        yield pixels(1)
        raise Broken

    (tmp_path / "real.html").write_text("old")
    (tmp_path / "real.html").chmod(0o640)
    (tmp_path / "link.html").symlink_to("real.html")
    with pytest.raises(Broken):
        classifier.report(images(), tmp_path / "link.html")
    assert (tmp_path / "real.html").read_text() == "old"
    classifier.report([pixels(1)], os.fsencode(tmp_path / "link.html"))  # type: ignore[arg-type]
    assert (tmp_path / "link.html").is_symlink() and "DermaFusion" in (tmp_path / "real.html").read_text()
    assert (tmp_path / "real.html").stat().st_mode & 0o777 == 0o640
    heatmap = classifier.heatmap(pixels(1))
    heatmap.save("/dev/null")
    heatmap.save(tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes() == heatmap.picture()
    assert sorted(os.listdir(tmp_path)) == ["link.html", "map.png", "real.html"]


def test_pillows_pixels_of_32_bits_are_refused_as_their_file_is(classifier: Classifier, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    grey = (np.arange(40 * 40, dtype=np.int64).reshape(40, 40) * 37) % 65536
    for mode, values in (("I", grey.astype(np.int32) << 8), ("F", grey.astype(np.float32) / 65536)):
        opened = image.fromarray(values)
        assert opened.mode == mode
        opened.save(tmp_path / f"{mode}.tif")
        for one in (opened, image.open(tmp_path / f"{mode}.tif")):
            with pytest.raises(ImageError, match=f"the image's mode is {mode}, pixels of 32 bits"):
                classifier.classify(one)
        with pytest.raises(ImageError):
            classifier.classify(tmp_path / f"{mode}.tif")
    # 16 bits are read by their high byte, in memory as in a file.
    image.fromarray(grey.astype(np.uint16)).save(tmp_path / "16.png")
    from_file = classifier.classify(tmp_path / "16.png")
    assert np.array_equal(classifier.classify(image.open(tmp_path / "16.png")).logits, from_file.logits)
