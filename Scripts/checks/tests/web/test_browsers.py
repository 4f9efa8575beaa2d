"""The page in Firefox and WebKit: answers, history, import and report. The paths themselves are walked in Chromium."""

import base64
import json

import numpy as np
import pytest
from conftest import FIXTURES, PATIENCE, SHIPPED_PAGE, base64_of, run_program
from firefox import Firefox
from PIL import Image
from test_parity import CLASSIFY, METADATA, TOLERANCE, expected_pixels
from webkit import WebKit

BROWSERS = {"firefox": Firefox, "webkit": WebKit}


@pytest.fixture(scope="module", params=BROWSERS)
def browser(request):
    """The page in a browser, opened from the disk."""
    kind = BROWSERS[request.param]
    if kind.program() is None:
        pytest.skip(f"not run: there is no {request.param}")
    browser = kind(PATIENCE / 1000)
    try:
        browser.open(SHIPPED_PAGE.as_uri())
        browser.press("I understand")
        browser.wait("() => window.dermafusion?.ready.then((description) => description.version)")
        yield browser
    finally:
        browser.close()
    own = ("blob:", "data:", SHIPPED_PAGE.as_uri(), "about:")
    assert [url for url in browser.requests if not url.startswith(own)] == [], "the page asked for something"
    assert browser.complaints == []


def scan(browser, name="phantom_brown.jpg") -> None:
    browser.run("() => { location.hash = '#scan'; }")
    browser.wait("() => document.querySelector('[data-role=choose]') !== null")
    browser.choose("[data-role=choose]", FIXTURES / name)
    browser.press("Next")
    browser.press("Analyse")
    browser.wait("() => document.querySelector('.heatmap figcaption p') !== null")


def save(browser) -> None:
    """Puts the result into the history, which it turns on if that is asked."""
    browser.press("Save to history")
    browser.wait(
        """() => {
      const named = (words) => [...document.querySelectorAll('button')].find((each) => each.textContent === words);
      named('Turn the history on')?.click();
      return Boolean(named('Saved'));
    }"""
    )


IMAGES = ["checks.png", "noise.png", "png_rgb8.png", "phantom_brown.jpg", "jpeg_orientation6.jpg"]


@pytest.mark.parametrize("name", IMAGES)
def test_logits_equal_the_command_lines(browser, tmp_path, name):
    path = FIXTURES / name
    answer = browser.run(
        f"(name, text, metadata) => ({CLASSIFY})([name, text, metadata])",
        name,
        base64_of(path),
        METADATA,
    )
    expected = json.loads(
        run_program("classify", str(path), "--format", "json", "--age", "55", "--sex", "male", "--site", "back")
    )
    side = answer["side"]
    found = np.frombuffer(base64.b64decode(answer["pixels"]), np.uint8).reshape(side, side, 4)[..., :3]
    distance = np.abs(found.astype(int) - expected_pixels(path, tmp_path))
    assert distance.max() == 0 or path.suffix == ".jpg", "the pixels of a PNG differ"
    if distance.max() == 0:
        for key, value in expected["logits"].items():
            assert abs(answer["result"]["logits"][key] - value) <= TOLERANCE, key
        assert answer["result"]["summary"] == expected["summary"]
    assert answer["result"]["imageSHA256"] == expected["imageSHA256"]


def test_saved_found_exported_imported_printed(browser):
    browser.run("() => { window.print = () => { window.printed = true; }; }")
    scan(browser)
    assert browser.run("() => document.querySelectorAll('.bar').length") == 7
    browser.press("Print or PDF")
    report = browser.run("() => window.printed && document.querySelector('.report').textContent")
    assert report.startswith("DermaFusion is a research and educational tool.")
    browser.press("Save to history")
    browser.press("Turn the history on")
    browser.wait("() => [...document.querySelectorAll('button')].some((each) => each.textContent === 'Saved')")
    browser.reload()
    browser.run("() => { location.hash = '#history'; }")
    browser.wait("() => document.querySelectorAll('.scan-row').length === 1")
    browser.press("Export the history")
    archive = browser.downloaded("dermafusion-history-*.jsonl")
    lines = [json.loads(line) for line in archive.read_text().splitlines()]
    assert lines[0]["scans"] == 1 and lines[1]["photograph"].startswith("data:image/jpeg")
    browser.press("Turn off and delete")
    browser.press("Turn off and delete")
    browser.wait("() => document.body.innerText.includes('The history is off')")
    browser.press("Turn the history on")
    browser.wait("() => document.body.innerText.includes('There are no scans yet.')")
    browser.choose("[data-role=import]", archive)
    browser.wait("() => document.body.innerText.includes('Scans added: 1.')")
    browser.run("() => document.querySelector('a.scan-card').click()")
    browser.wait("() => document.querySelector('.heatmap figcaption p') !== null")
    assert browser.run("() => document.querySelector('.heatmap-stage canvas').width") == 450


def test_a_large_photograph_is_kept_as_its_square(browser, tmp_path):
    """The engine's worker makes the JPEG, which the page stores."""
    browser.run("() => { location.hash = '#scan'; }")
    pixels = np.random.default_rng(8).integers(0, 256, (800, 1000, 3), np.uint8)
    path = tmp_path / "large.png"
    Image.fromarray(pixels).save(path)
    assert path.stat().st_size > 1_500_000
    browser.wait("() => document.querySelector('[data-role=choose]') !== null")
    browser.choose("[data-role=choose]", path)
    browser.press("Next")
    browser.press("Analyse")
    save(browser)
    browser.run("() => { location.hash = '#history'; }")
    browser.wait("() => document.querySelector('.scan-row') !== null")
    browser.run("() => document.querySelector('a.scan-card').click()")
    browser.wait("() => document.querySelector('.heatmap figcaption p') !== null")
    assert browser.run("() => document.querySelector('.heatmap-stage canvas').width") == 800


STORED = """() => new Promise((resolve) => {
  const open = indexedDB.open('dermafusion');
  open.onsuccess = () => {
    const all = open.result.transaction('photographs').objectStore('photographs').getAll();
    all.onsuccess = () => {
      open.result.close();
      resolve(all.result.map((each) => Object.keys(each).sort().join(' ')).join(', '));
    };
  };
})"""
FILL = """(words) => {
  for (const field of (document.querySelector('dialog[open]') ?? document).querySelectorAll('input[type=password]')) {
    field.value = words;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
}"""


def test_locked_and_unlocked(browser):
    scan(browser)
    save(browser)
    browser.run("() => { location.hash = '#history'; }")
    browser.press("Lock with a passphrase")
    browser.run(FILL, "correct horse")
    browser.press("Encrypt and lock")
    browser.wait("() => document.body.innerText.includes('The history is encrypted.')")
    assert set(browser.run(STORED).split(", ")) == {"id iv sealed"}
    browser.reload()
    for words, told in (("wrong horse", "does not open this history"), ("correct horse", "newest first")):
        browser.wait("() => document.querySelector('main input[type=password]') !== null")
        browser.run(FILL, words)
        browser.press("Unlock")
        browser.wait("(words) => document.body.innerText.includes(words)", told)
    browser.run("() => document.querySelector('a.scan-card').click()")
    browser.wait("() => document.querySelector('.heatmap figcaption p') !== null")
