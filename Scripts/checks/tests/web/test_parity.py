# ruff: noqa: E501  the scripts for the page are written as they are read there
"""The page against the command line: the pixels that the browser decodes, and the logits that follow from them."""

import base64
import hashlib
import http.server
import json
import subprocess
import threading

import numpy as np
import pytest
from conftest import (
    FIXTURES,
    MODEL,
    PATIENCE,
    PICTURES,
    ROOT,
    SHIPPED_PAGE,
    Visit,
    base64_of,
    build_page,
    launch_arguments,
    run_program,
)
from small_model import write_small_model

# Within this the page's logits equal the command line's where the pixels are the same.
TOLERANCE = 1e-4
IMAGES = [
    "checks.png",
    "gradient.png",
    "jpeg_411.jpg",
    "jpeg_420.jpg",
    "jpeg_422.jpg",
    "jpeg_444.jpg",
    "jpeg_cmyk.jpg",
    "jpeg_grey.jpg",
    "jpeg_low_quality.jpg",
    "jpeg_orientation3.jpg",
    "jpeg_orientation5.jpg",
    "jpeg_orientation6.jpg",
    "jpeg_orientation8.jpg",
    "jpeg_progressive.jpg",
    "jpeg_restart.jpg",
    "large_1501x1127.jpg",
    "network_size_380x380.jpg",
    "no_blue.png",
    "noise.png",
    "odd_457x383.jpg",
    "one_more_381x381.jpg",
    "phantom_dark_skin.jpg",
    "phantom_keratosis.jpg",
    "phantom_melanoma.jpg",
    "phantom_brown.jpg",
    "phantom_pale.jpg",
    "phantom_vascular.jpg",
    "png_grey8.png",
    "png_palette4.png",
    "png_rgb8.png",
]
# Decoders differ there by design: inks are turned into colours in their own way by every one.
OTHER_DECODER = {"jpeg_cmyk.jpg"}
METADATA = {"age": 55, "sex": "male", "site": "back"}

CLASSIFY = """async ([name, text, metadata]) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const file = new File([bytes], name);
  const pixels = await window.dermafusion.pixels(file);
  let digits = '';
  for (let at = 0; at < pixels.data.length; at += 32768) digits += String.fromCharCode(...pixels.data.subarray(at, at + 32768));
  return { result: await window.dermafusion.classify(file, { ...metadata, name }), side: pixels.width, pixels: btoa(digits) };
}"""


class QuietFiles(http.server.SimpleHTTPRequestHandler):
    """Serves the page's folder."""

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=SHIPPED_PAGE.parent)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def page(browser):
    opened = Visit(browser, file=SHIPPED_PAGE)
    yield opened.page
    opened.close()


@pytest.fixture(scope="module")
def differences():
    """Collects how the pixels differ, and writes the table when all images were looked at."""
    table: dict[str, dict] = {}
    yield table
    PICTURES.mkdir(parents=True, exist_ok=True)
    (PICTURES.parent / "pixels.json").write_text(json.dumps(table, indent=1))


def expected_pixels(path, folder):
    output = folder / "cropped.npy"
    run_program("preprocess", str(path), "--stage", "cropped", "--output", str(output))
    return np.load(output)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if index % 5 else ()) for index, name in enumerate(IMAGES)]
)
def test_logits_equal_the_command_lines(page, differences, tmp_path, name):
    path = FIXTURES / name
    expected = json.loads(
        run_program("classify", str(path), "--format", "json", "--age", "55", "--sex", "male", "--site", "back")
    )
    answer = page.evaluate(CLASSIFY, [name, base64_of(path), METADATA])
    result, side = answer["result"], answer["side"]

    found = np.frombuffer(base64.b64decode(answer["pixels"]), np.uint8).reshape(side, side, 4)[..., :3]
    pixels = expected_pixels(path, tmp_path)
    assert found.shape == pixels.shape
    distance = np.abs(found.astype(int) - pixels)
    logits = {key: abs(result["logits"][key] - value) for key, value in expected["logits"].items()}
    differences[name] = {
        "values": int(distance.size),
        "different": int((distance > 0).sum()),
        "greatest": int(distance.max()),
        "greatestLogit": max(logits.values()),
    }

    assert result["imageSHA256"] == expected["imageSHA256"]
    assert result["model"] == expected["model"]
    assert result["metadata"] == expected["metadata"]
    if distance.max() == 0:
        worst = max(logits, key=logits.get)
        assert logits[worst] <= TOLERANCE, (
            f"the logit of {worst} is {result['logits'][worst]}, not {expected['logits'][worst]}"
        )
        assert result["abstainReasons"] == expected["abstainReasons"]
        assert result["risk"] == expected["risk"]
        assert result["summary"] == expected["summary"]
    else:
        assert name in OTHER_DECODER or name.endswith(".jpg"), f"the pixels of a PNG differ: {differences[name]}"


def test_a_model_in_8_bits_gives_the_command_lines_very_numbers(browser, tmp_path):
    """Its products are of other instructions, relaxed SIMD's, where the browser has them."""
    model, file = MODEL / "int8", tmp_path / "page.html"
    command = [ROOT / "Scripts/web", "--no-open", "--model", model, "--output", file]
    subprocess.run(command, check=True, capture_output=True)
    opened = Visit(browser, file=file)
    try:
        kernels, is_new = opened.page.evaluate(
            "async () => [(await window.dermafusion.ready).instructionSet, 'fromBase64' in Uint8Array]"
        )
        assert kernels == ("relaxedsimd" if is_new else "baseline")
        for name in ("noise.png", "gradient.png", "no_blue.png", "png_palette4.png", "phantom_melanoma.jpg"):
            path = FIXTURES / name
            run_program("preprocess", str(path), "--stage", "cropped", "--output", str(tmp_path / "pixels.npy"))
            expected = json.loads(
                run_program(
                    *("classify", str(path), "--format", "json", "--age", "55", "--sex", "male", "--site", "back"),
                    model=model,
                )
            )
            answer = opened.page.evaluate(CLASSIFY, [name, base64_of(path), METADATA])
            side = answer["side"]
            found = np.frombuffer(base64.b64decode(answer["pixels"]), np.uint8).reshape(side, side, 4)[..., :3]
            if path.suffix == ".jpg" and not np.array_equal(found, np.load(tmp_path / "pixels.npy")):
                continue  # the browser has a decoder of its own
            assert answer["result"]["logits"] == expected["logits"], name
            assert answer["result"]["probabilities"] == expected["probabilities"], name
    finally:
        opened.close()


def test_a_transform_of_timm_gives_the_command_lines_answer(browser, tmp_path):
    """timm's evaluation resizes the whole photograph before it cuts, and the map covers what is left."""
    model = write_small_model(tmp_path / "model")
    config = json.loads((model / "config.json").read_text())
    config["preprocessing"] |= {"crop_mode": "center", "crop_pct": 0.75, "interpolation": "bicubic"}
    config["preprocessing"]["color_constancy"] = {"method": "none"}
    (model / "config.json").write_text(json.dumps(config))
    build_page(tmp_path, model, "--output", tmp_path / "page.html")
    path = FIXTURES / "checks.png"
    expected = json.loads(run_program("classify", str(path), "--format", "json", model=model))
    raw = tmp_path / "map.npy"
    run_program("gradcam", str(path), "--raw", str(raw), "--output", str(tmp_path / "map.png"), model=model)
    opened = Visit(browser, file=tmp_path / "page.html")
    try:
        result = opened.page.evaluate(CLASSIFY, [path.name, base64_of(path), {}])["result"]
        heatmap = """async ([text, placement]) => {
          const { values } = await window.dermafusion.heatmap(new Blob([bytesOf(text)]), { placement });
          return [Math.sqrt(values.length), [...values]];
        }"""
        maps = {name: opened.page.evaluate(heatmap, [base64_of(path), name]) for name in ("stretched", "centres")}
    finally:
        opened.close()
    for name, value in expected["logits"].items():
        assert abs(result["logits"][name] - value) <= TOLERANCE, f"{name}: {result['logits']} and {expected['logits']}"
    stretched, placed = (np.reshape(values, (width, width)) for width, values in maps.values())
    assert np.abs(stretched - np.load(raw)).max() <= TOLERANCE
    border = placed.copy()
    border[8:56, 8:56] = 0
    assert placed.max() > 0 and border.max() == 0, "the map reaches beyond what the network saw"


def test_most_images_are_decoded_alike(differences):
    if len(differences) < len(IMAGES):
        pytest.skip("not all images were looked at")
    alike = [name for name, row in differences.items() if row["different"] == 0]
    assert len(alike) >= 25, f"only {len(alike)} of {len(IMAGES)} images have the command line's pixels: {differences}"


def test_classes_and_version_are_the_command_lines(page):
    description = page.evaluate("() => window.dermafusion.ready")
    info = json.loads(run_program("info", "--format", "json"))
    assert description["version"] == info["version"]
    assert description["model"]["sha256"] == info["model"]["sha256"]


def test_hashes_without_the_browsers_own(playwright, chromium):
    """Over plain HTTP, from another machine than one's own, the browser offers no hash: the engine computes it."""
    path = FIXTURES / "phantom_brown.jpg"
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), QuietFiles) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=[*launch_arguments(), "--host-resolver-rules=MAP clinic.example 127.0.0.1"],
        )
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"http://clinic.example:{server.server_port}/{SHIPPED_PAGE.name}")
        assert not page.evaluate("() => isSecureContext")
        text = base64_of(path)
        answer = page.evaluate(CLASSIFY, [path.name, text, METADATA])["result"]
        browser.close()
        server.shutdown()
    model = b"".join((MODEL / name).read_bytes() for name in ("config.json", "model.safetensors"))
    assert answer["model"]["sha256"] == hashlib.sha256(model).hexdigest()
    assert answer["imageSHA256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_heatmap_has_its_place(page):
    text = base64_of(FIXTURES / "phantom_brown.jpg")
    answer = page.evaluate(
        """async (text) => {
      const file = new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], 'n.jpg');
      const result = await window.dermafusion.classify(file);
      const { values, ...facts } = await window.dermafusion.heatmap(file, { class: 'nv' });
      let sum = 0, x = 0, y = 0;
      values.forEach((value, index) => { sum += value; x += value * (index % facts.width + .5); y += value * (Math.floor(index / facts.width) + .5); });
      return { facts, least: values.reduce((a, b) => Math.min(a, b)), greatest: values.reduce((a, b) => Math.max(a, b)), x: x / sum / facts.width, y: y / sum / facts.height };
    }""",
        text,
    )
    expected = json.loads(
        run_program(
            "gradcam", str(FIXTURES / "phantom_brown.jpg"), "--class", "nv", "--format", "json", "--output", "/dev/null"
        )
    )["maps"][0]
    assert answer["facts"]["status"] == expected["status"]
    assert 0 <= answer["least"] and 0.99 < answer["greatest"] <= 1
    # The map is drawn smooth; its mass lies within a hundredth of that of its own few pixels.
    assert abs(answer["x"] - expected["massCentre"]["x"]) < 0.01
    assert abs(answer["y"] - expected["massCentre"]["y"]) < 0.01


def test_a_stretched_heatmap_is_the_raw_one(page, tmp_path):
    """Also a map that the classification has not made, of another layer."""
    image, raw = FIXTURES / "noise.png", tmp_path / "raw.npy"
    layer = page.evaluate("async () => (await window.dermafusion.ready).layers[0]")
    for options in ({"class": "nv"}, {"class": "mel", "layer": layer}):
        given = [argument for key, value in options.items() for argument in (f"--{key}", value)]
        run_program("gradcam", str(image), *given, "--raw", str(raw), "--output", str(tmp_path / "map.png"))
        found = page.evaluate(
            """async ([text, options]) => {
          const file = new File([bytesOf(text)], 'n.png');
          const told = async (given) => {
            const { values, placement } = await window.dermafusion.heatmap(file, { ...options, ...given });
            return { placement, values: await base64Of(new Blob([values])) };
          };
          await window.dermafusion.classify(file);
          const found = { stretched: await told({ placement: 'stretched' }), plain: await told({}) };
          return { ...found, wrong: await told({ placement: 'middle' }).catch((error) => error.message) };
        }""",
            [base64_of(image), options],
        )
        stretched, plain = (
            np.frombuffer(base64.b64decode(found[each]["values"]), np.float32) for each in ("stretched", "plain")
        )
        assert found["stretched"]["placement"] == "stretched" and found["plain"]["placement"] == "centres"
        assert np.abs(stretched - np.load(raw).ravel()).max() <= TOLERANCE
        assert np.abs(stretched - plain).max() > 0.01, "both are placed alike"
        assert found["wrong"] == "a placement is one of centres, stretched, and not middle"


def test_a_new_request_cancels_the_one_before(page):
    text = base64_of(FIXTURES / "phantom_brown.jpg")
    names = page.evaluate(
        """async (text) => {
      const file = (name) => new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name);
      const calls = ['a.jpg', 'b.jpg', 'c.jpg'].map((name) => window.dermafusion.classify(file(name)).then((result) => result.image, (error) => error.name));
      return Promise.all(calls);
    }""",
        text,
    )
    assert names == ["AbortError", "AbortError", "c.jpg"]
