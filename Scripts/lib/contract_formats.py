"""The contract besides the first commands: formats, folders, tables, colours, comparing and calibrating."""

import hashlib
import json
import re
import struct
import zlib

from contract import DISCLAIMER, check, npy_values, parsed, passes, plain, refuses
from hostile import png

import checks
from checks import run

drawn = checks.ROOT / "ParityFixtures/images"
formats = checks.ROOT / "ParityFixtures/formats"
ALWAYS = ["png", "jpeg", "pnm", "bmp", "dicom"]
ISIC_CLASSES = ["MEL", "NV", "BCC", "AKIEC", "BKL", "DF", "VASC"]


def image_formats(photograph, folder):
    found = parsed("info", passes("info", "info", "--format", "json"))["formats"]
    check(
        "formats: those that are always there",
        found[: len(ALWAYS)] == ALWAYS and set(found[len(ALWAYS) :]) <= {"webp", "tiff", "heic", "avif"},
        found,
    )
    pixels = folder / "pixels.npy"
    kinds = {".bmp": "bmp", ".dib": "bmp", ".dcm": "dicom", ".webp": "webp", ".tif": "tiff"}
    for entry in json.loads((formats / "expected.json").read_text())["files"]:
        path = formats / entry["file"]
        if kinds.get(path.suffix, "none") in found and "sha256" in entry:
            name = f"{path.name}#{entry['frame']}" if "frame" in entry else path.name
            warning = b"Warning: " if "details" in entry else b""
            passes(name, "preprocess", formats / name, "--stage", "decoded", "--output", pixels, said=warning)
            check(
                f"{name}: its pixels",
                hashlib.sha256(npy_values(pixels.read_bytes())).hexdigest() == entry["sha256"],
            )
    result = parsed("DICOM", passes("DICOM", "classify", formats / "dicom_patient.dcm", "--format", "json"))
    check(
        "DICOM: age, sex and site of the file",
        result["metadata"]["missing"] == [] and result["metadata"]["age"] == 45,
        result["metadata"],
    )
    result = parsed(
        "DICOM", passes("DICOM", "classify", formats / "dicom_patient.dcm", "--format", "json", "--age", "7")
    )
    check("DICOM: what is given stands", result["metadata"]["age"] == 7, result["metadata"])
    mixed = folder / "mixed"
    mixed.mkdir()
    (mixed / "a.jpg").write_bytes(photograph.read_bytes())
    for name in ("b.cr2", "c.CR2", "d.psd"):
        (mixed / name).write_bytes(b"raw")
    done = run("classify", mixed, "--format", "json")
    check(
        "a folder: what cannot be read is counted",
        done.returncode == 0
        and done.stdout.count(b"\n") == 1
        and b"2 .cr2" in done.stderr
        and b"1 .psd" in done.stderr
        and done.stderr.count(b"\n") == 1,
        done.stderr,
    )


def tiff(directories, first=8):
    """A little-endian TIFF file of directories without pixels: dictionaries of tags, offsets by the caller."""
    data = struct.pack("<2sHI", b"II", 42, first).ljust(first, b"\0")
    for tags, following in directories:
        data += struct.pack("<H", len(tags))
        data += b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in sorted(tags.items()))
        data += struct.pack("<I", following)
    return data


def folders_and_previews(photograph, folder):
    disc = folder / "disc"
    (disc / "IMAGES").mkdir(parents=True)
    scan = (formats / "dicom_patient.dcm").read_bytes()
    for name in ("IM000001", "1.2.840.113619.2.55.3.604688119"):
        (disc / "IMAGES" / name).write_bytes(scan)
    (disc / "photo").write_bytes(photograph.read_bytes())
    (disc / "DICOMDIR").write_bytes(bytes(128) + b"DICM" + bytes(40))
    (disc / "README.TXT").write_text("P1 is the first patient\n")
    for name in ("Thumbs.db", ".DS_Store", "notes.json"):
        (disc / name).write_bytes(b"{}")
    done = passes("a disc", "classify", disc, "--format", "json")
    names = sorted(json.loads(line)["image"].rsplit("/", 1)[1] for line in done.splitlines())
    wanted = ["1.2.840.113619.2.55.3.604688119", "IM000001", "photo"]
    check("a folder: files are images by their content", names == wanted, names)
    # A preview, and behind a long gap below it what a sensor saw.
    raw = tiff([({254: 1, 330: 9030}, 0), ({262: 32803}, 0)], first=9000)
    (disc / "moving").write_bytes(b"GIF89a")
    (disc / "camera").write_bytes(raw)
    done = run("classify", disc, "--format", "json")
    note = b"left out of the folders: 1 GIF and 1 raw camera files, which cannot be read"
    check(
        "a folder: images that cannot be read are counted by their content",
        done.returncode == 0 and note in done.stderr,
        done.stderr,
    )
    for name in ("raw.dng", "raw.tif", "raw.jpg", "raw"):
        (folder / name).write_bytes(raw)
        said = "raw camera images are not supported"
        refuses(f"a raw photograph called {name}", 1, "classify", folder / name, said=said)
    done = run("classify", "-", input=raw)
    check("a raw photograph on standard input", done.returncode == 1 and b"raw camera" in done.stderr, done.stderr)


def colours(photograph, folder):
    pixels = folder / "colours.npy"
    passes("resized", "preprocess", photograph, "--stage", "resized", "--output", pixels)
    values = npy_values(pixels.read_bytes())
    side = int((len(values) // 3) ** 0.5)
    triples = [values[i : i + 3] for i in range(0, len(values), 3)]
    changed = {
        "grey": b"".join(bytes([(299 * r + 587 * g + 114 * b) // 1000] * 3) for r, g, b in triples),
        "the red channel": b"".join(bytes([r, r, r]) for r, _, _ in triples),
        "red and blue exchanged": b"".join(bytes([b, g, r]) for r, g, b in triples),
    }
    for name, data in changed.items():
        path = folder / "changed.png"
        rows = b"".join(b"\0" + data[3 * side * row : 3 * side * (row + 1)] for row in range(side))
        path.write_bytes(png(side, side, 8, 2, zlib.compress(rows)))
        result = parsed(name, passes(name, "classify", path, "--format", "json"))
        holds = (
            result["abstain"]
            and "unusual_color" in result["abstainReasons"]
            and result["risk"] is None
            and result["urgent"] is False
        )
        check(f"{name}: abstains", holds, result["abstainReasons"])


def tables(photograph, folder):
    table = folder / "other-names.csv"
    for header, row, metadata in [
        (
            "image,age (years),gender,localisation",
            "55,M,Back",
            {"age": 55, "sex": "male", "site": "back", "missing": []},
        ),
        (
            "image_id;Age_Years;sex;site",
            "NA;w;?",
            {"age": None, "sex": "female", "site": "unknown", "missing": ["age", "site"]},
        ),
        (
            "isic_id\tage\tSEX\tlocation",
            "nan\tNULL\tNone",
            {"age": None, "sex": "unknown", "site": "unknown", "missing": ["age", "sex", "site"]},
        ),
    ]:
        separator = next(mark for mark in "\t;," if mark in header)
        table.write_text(f"{header}\n{photograph.stem}{separator}{row}\n")
        result = parsed(header, passes(header, "classify", photograph, "--format", "json", "--metadata", table))
        check(f"a table of {header!r}", result["metadata"] == metadata, result["metadata"])
    table.write_text(f"image_id,years\n{photograph.stem},3\n")
    done = run("classify", photograph, "--format", "json", "--metadata", table)
    check(
        "a table without any of the columns is named",
        done.returncode == 0 and b"other-names.csv" in done.stderr and b"years" in done.stderr,
        done.stderr,
    )
    table.write_text(f"image_id,sex\n{photograph.stem},nonsense\nphantom_melanoma,f\n")
    done = run("classify", photograph, drawn / "phantom_melanoma.jpg", "--format", "json", "--metadata", table)
    check(
        "a bad cell costs its image",
        done.returncode == 1
        and done.stdout.count(b"\n") == 1
        and b"line 2" in done.stderr
        and b"nonsense" in done.stderr,
        done.stderr,
    )
    submission = passes("isic", "classify", photograph, "--format", "isic").decode().splitlines()
    cells = submission[1].split(",")
    check(
        "classify --format isic",
        submission[0].split(",") == ["image", *ISIC_CLASSES]
        and cells[0] == photograph.stem
        and abs(sum(map(float, cells[1:])) - 1) < 1e-4,
        submission,
    )


def models(photograph, folder):
    eight = parsed("int8", passes("int8", "classify", photograph, "--format", "json", "--model", "int8"))
    check("--model int8", "int8" in eight["model"]["name"], eight["model"])
    check("info --models", b"int8" in passes("info --models", "info", "--models"))
    images = [drawn / f"phantom_{name}.jpg" for name in ("brown", "vascular", "melanoma")]
    labels = folder / "compared.csv"
    rows = [("phantom_brown", "NV"), ("phantom_vascular", "vasc"), ("phantom_melanoma", "Melanoma")]
    labels.write_text("image_id,dx,age,sex,site\n" + "".join(f"{name},{label},,,\n" for name, label in rows))
    for against, share in (("int8", None), (checks.ROOT / "Weights", 1)):
        result = parsed(
            "compare",
            passes("compare", "compare", "--against", against, *images, "--labels", labels, "--format", "json"),
        )
        holds = (
            result["n"] == 3
            and len(result["greatestChanges"]) == 7
            and (share is None or result["agreement"]["share"] == share)
        )
        check(f"compare with {against}", holds and len(result["labelled"]["accuracy"]["differenceCI"]) == 2, result)
    check(
        "compare: text has the disclaimer",
        plain(DISCLAIMER) in plain(passes("compare", "compare", "--against", "int8", *images).decode()),
    )
    refuses(
        "calibrate on too few",
        1,
        "calibrate",
        "--labels",
        labels,
        "--images",
        drawn,
        "--output",
        folder / "fitted",
        said="at least 50",
    )
    check("calibrate: nothing written", not (folder / "fitted").exists())
    refuses("calibrate without a folder", 64, "calibrate", "--labels", labels, "--images", drawn)
    words = ["--labels", labels, "--images", drawn, "--group", "dx", "--format", "json"]
    grouped = parsed("--group", passes("--group", "evaluate", *words))
    check(
        "evaluate --group",
        {group["name"] for group in grouped["subgroups"]["dx"]} == {"NV", "Melanoma", "vasc"},
        grouped["subgroups"],
    )


def resumed_pictures(photograph, folder):
    source, target = folder / "source/below", folder / "pictures-of-source"
    source.mkdir(parents=True)
    (source / "a.jpg").write_bytes(photograph.read_bytes())
    passes("gradcam of a folder", "gradcam", source.parent, "--output", target, "--quiet")
    pictures = sorted(target.rglob("*.png"))
    check(
        "gradcam: folders are kept below --output",
        [str(path.relative_to(target)) for path in pictures] == ["below/a-gradcam.png"],
        pictures,
    )
    before = pictures[0].stat().st_mtime_ns
    run("gradcam", source.parent, "--output", target, "--resume")
    check("gradcam --resume: a picture that is there stays", pictures[0].stat().st_mtime_ns == before)
    (source / "a-gradcam.png").write_bytes(pictures[0].read_bytes())
    lines = run("classify", source.parent, "--format", "csv").stdout.decode().splitlines()
    check("its own pictures are not classified", len(lines) == 2 and re.match("a,", lines[1]), lines)


PARTS = (image_formats, folders_and_previews, colours, tables, models, resumed_pictures)
