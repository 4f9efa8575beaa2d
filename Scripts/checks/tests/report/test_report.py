"""Reports as a person sees them: in a browser, light and dark, narrow and wide, and on A4 paper.

Pictures are left in .build/report/pictures for somebody to look at.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[4]
IMAGES = ROOT / "ParityFixtures" / "images"
FOLDER = ROOT / ".build" / "report"
PICTURES = FOLDER / "pictures"
PROGRAM = os.environ["DERMAFUSION_PROGRAM"]
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}}
DISCLAIMER = "DermaFusion is a research and educational tool. It is NOT a medical device"
# Under each name: what is reported, the exit status and the number of printed pages. The folder of all images holds
# those that the model abstains from, those of odd sizes and some that cannot be read.
REPORTS = {
    "one": ([IMAGES / "phantom_brown.jpg", "--age", "55", "--sex", "male", "--site", "lower extremity"], 0, 1),
    "abstention": ([IMAGES / "noise.png"], 0, 1),
    "three": ([IMAGES / f"phantom_{name}.jpg" for name in ("brown", "melanoma", "keratosis")], 0, 4),
    "all": ([IMAGES], 1, None),
}


@pytest.fixture(scope="session")
def reports() -> dict[str, Path]:
    PICTURES.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, (words, status, _) in REPORTS.items():
        paths[name] = FOLDER / f"{name}.html"
        done = subprocess.run([PROGRAM, "report", *words, "--quiet", "--output", paths[name]], capture_output=True)
        assert done.returncode == status, done.stderr.decode()
    return paths


@pytest.fixture(scope="session")
def browser():
    chromium = shutil.which("chromium") or pytest.exit("there is no chromium")
    # Chromium's sandbox does not run as root, as in a container.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, reports):
    """Opens reports; afterwards none of them may have asked for anything or complained."""
    contexts, requests, complaints = [], [], []

    def open_report(name: str, width: int = 1280, scheme: str = "light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda line: complaints.append(line.text))
        page.goto(reports[name].as_uri())
        return page

    yield open_report
    for context in contexts:
        context.close()
    pages = {path.as_uri() for path in reports.values()}
    assert [url[:120] for url in requests if not url.startswith("data:") and url.split("#")[0] not in pages] == []
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", REPORTS)
def test_axe_finds_nothing(opened, name, scheme):
    page = opened(name, scheme=scheme)
    for summary in page.locator("summary").all():
        summary.click()
    found = Axe().run(page, options=RULES).response["violations"]
    assert [
        f"{each['id']}: {each['help']}: {[node['html'][:160] for node in each['nodes'][:5]]}" for each in found
    ] == []


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
@pytest.mark.parametrize("name", REPORTS)
def test_nothing_is_wider_than_the_window(opened, name, width):
    page = opened(name, width=width)
    for size in ("100%", "200%"):
        page.evaluate("(size) => { document.documentElement.style.fontSize = size }", size)
        over = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert over <= 0, f"{over} pixels at {size}"


def test_the_toggle_shows_one_picture_by_keyboard(opened):
    page = opened("one")
    photograph, heat = page.locator("figure.photograph"), page.locator("figure.heat")
    assert heat.is_visible() and not photograph.is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert photograph.is_visible() and not heat.is_visible()
    page.keyboard.press("ArrowLeft")
    assert heat.is_visible() and not photograph.is_visible()


def test_the_index_leads_to_each_image_and_back(opened):
    page = opened("three")
    links = page.locator(".index a")
    assert links.count() == 3
    for place in range(3):
        links.nth(place).click()
        section = page.locator(page.evaluate("() => location.hash"))
        assert section.locator("h2").inner_text() in links.nth(place).inner_text()
        section.get_by_role("link", name="Back to all images").click()


@pytest.mark.parametrize("name", REPORTS)
def test_each_printed_page_has_the_disclaimer(opened, name):
    page = opened(name, scheme="dark")
    path = PICTURES / f"{name}.pdf"
    page.pdf(path=path, prefer_css_page_size=True, print_background=False)
    text = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True).stdout
    sheets = text.split("\f")[:-1]
    expected = REPORTS[name][2]
    assert expected is None or len(sheets) == expected
    for number, sheet in enumerate(sheets, 1):
        words = " ".join(sheet.split())
        assert DISCLAIMER in words and f"{number} of {len(sheets)}" in words, f"page {number}: {words[-300:]}"
        assert len(words) > 400, f"page {number} holds next to nothing: {words}"
    size = subprocess.run(["pdfinfo", path], capture_output=True, text=True, check=True).stdout
    assert "(A4)" in size


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["one", "abstention", "three"])
def test_pictures(opened, name, width, scheme):
    opened(name, width=width, scheme=scheme).screenshot(path=PICTURES / f"{name}-{width}-{scheme}.png", full_page=True)
