# ruff: noqa: E501  the scripts for the page are written as they are read there
"""The common part of the checks of the browser page: Chromium, an opened page, and what must never happen on it."""

import base64
import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[4]
sys.path.append(str(ROOT / "Scripts" / "lib"))
FIXTURES = ROOT / "ParityFixtures" / "images"
# The page with the shipped model, and the one whose views are walked: with --quick it has a small model.
SHIPPED_PAGE = Path(os.environ.get("DERMAFUSION_PAGE", ROOT / ".build" / "web" / "dermafusion.html")).resolve()
PAGE = Path(os.environ.get("DERMAFUSION_SMALL_PAGE", SHIPPED_PAGE)).resolve()
PROGRAM = Path(os.environ.get("DERMAFUSION_PROGRAM", ROOT / ".build" / "release" / "dermafusion"))
MODEL = Path(os.environ.get("DERMAFUSION_MODEL", ROOT / "Weights"))
# The limit of a wait, in milliseconds.
PATIENCE = 120_000
PICTURES = ROOT / ".build" / "web" / "pictures"


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="leave out what takes long")
    parser.addoption(
        "--slowdown",
        type=float,
        default=1,
        help="slows the page itself down so many times, to find what a test reads too early",
    )
    parser.addoption(
        "--kills", type=int, help="how often the browser is killed while it stores something; 4, with --quick 2"
    )


def pytest_configure(config):
    expect.set_options(timeout=PATIENCE)
    Visit.slowdown = config.getoption("--slowdown")
    config.addinivalue_line("markers", "slow: left out by --quick")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--quick"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def launch_arguments() -> list[str]:
    # Chromium's sandbox does not run as root, as in a container.
    return ["--no-sandbox"] if os.geteuid() == 0 else []


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def chromium():
    name = os.environ.get("DERMAFUSION_CHROMIUM", "chromium")
    return shutil.which(name) or pytest.exit(f"there is no {name}")


@pytest.fixture(scope="session")
def browser(playwright, chromium):
    browser = playwright.chromium.launch(
        executable_path=chromium,
        args=[*launch_arguments(), "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"],
    )
    yield browser
    browser.close()


# Bytes go to the page and come back as base64: as lists of numbers they take the browser's protocol a second.
BYTES = """
window.bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
window.base64Of = (file) => new Promise((done) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result.split(',')[1] ?? '');
  reader.readAsDataURL(file);
});
"""


def base64_of(file: Path | bytes) -> str:
    return base64.b64encode(file if isinstance(file, bytes) else file.read_bytes()).decode()


class Visit:
    """One page in a browser of its own, with everything it asked for or complained of."""

    slowdown = 1.0

    def __init__(
        self, browser, accepted: bool = True, script: str = "", ready: bool = True, file: Path = PAGE, **options
    ):
        options = {"viewport": {"width": 1280, "height": 900}, "locale": "en-US", "reduced_motion": "reduce"} | options
        self.context = browser.new_context(**options)
        # A machine with other work is slow, not wrong.
        self.context.set_default_timeout(PATIENCE)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.context.add_init_script(BYTES)
        self.page: Page = self.context.new_page()
        if self.slowdown > 1:
            throttle = self.context.new_cdp_session(self.page)
            throttle.send("Emulation.setCPUThrottlingRate", {"rate": self.slowdown})
        if script:
            self.page.add_init_script(script)
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda line: line.type in ("error", "warning") and self.complaints.append(line.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.address = file.as_uri()
        self.page.goto(self.address)
        if accepted:
            self.page.get_by_role("button", name="I understand").click()
            self.wait_until_shown()
        if ready:
            self.wait_until_ready()

    def wait_until_ready(self) -> dict:
        self.page.wait_for_function("() => window.dermafusion")
        return self.page.evaluate("() => window.dermafusion.ready")

    def wait_until_shown(self) -> None:
        """Until the view of the address stands, with its tab marked and its heading in focus."""
        self.page.wait_for_selector("main[aria-busy=false]")

    def go(self, place: str) -> None:
        self.page.evaluate(
            """(place) => new Promise((arrived) => {
              if (location.hash === '#' + place) return arrived();
              addEventListener('hashchange', () => arrived(), { once: true });
              location.hash = '#' + place;
            })""",
            place,
        )
        self.wait_until_shown()

    def open_image(self, path: Path | dict | list) -> None:
        self.page.set_input_files("[data-role=choose]", path)

    def scan(
        self, image: str | Path = "phantom_brown.jpg", age: str = "55", sex: str = "male", site: str = "back"
    ) -> None:
        """From the landing to the result, by pointer."""
        self.open_image(FIXTURES / image)
        self.page.get_by_role("button", name="Next").click()
        if age:
            self.page.get_by_label("Age", exact=True).fill(age)
        self.page.locator(f".choices.inline input[value='{sex}']").check()
        self.page.locator(f".site-list input[value='{site}']").check()
        self.page.get_by_role("button", name="Analyse").click()
        self.page.wait_for_selector(".result")
        self.page.wait_for_selector(".heatmap figcaption p")

    def save(self) -> None:
        self.page.get_by_role("button", name="Save to history").click()
        turn_on = self.page.get_by_role("button", name="Turn the history on")
        saved = self.page.get_by_role("button", name="Saved")
        turn_on.or_(saved).first.wait_for()
        if turn_on.count():
            turn_on.click()
        saved.wait_for()

    def export_history(self) -> str:
        """The file that the history's button makes, from the view of the history."""
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name="Export the history").click()
        return download.value.path().read_text()

    def close(self) -> None:
        self.context.close()


def scan_and_save(page, image: str) -> None:
    """In a page without a `Visit`, whose history is on: from any view to the result that was saved."""
    page.evaluate("() => { location.hash = '#scan'; }")
    page.set_input_files("[data-role=choose]", FIXTURES / image)
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Analyse").click()
    page.get_by_role("button", name="Save to history").click()
    page.get_by_role("button", name="Saved").wait_for()


def copies(on, count: int, change: str = "") -> None:
    """Puts copies of the only scan into the history; `change` is what is done to each `copy`, by its `index`."""
    on.page.evaluate(f"""async () => {{
      const open = indexedDB.open('dermafusion');
      const database = await new Promise((resolve) => {{ open.onsuccess = () => resolve(open.result); }});
      const change = database.transaction(['scans', 'photographs'], 'readwrite');
      const store = change.objectStore('scans');
      const read = (request) => new Promise((resolve) => {{ request.onsuccess = () => resolve(request.result); }});
      const [[scan], [photograph]] = await Promise.all([read(store.getAll()), read(change.objectStore('photographs').getAll())]);
      for (let index = 0; index < {count}; index += 1) {{
        const copy = structuredClone({{ ...scan, thumbnail: undefined }});
        copy.thumbnail = scan.thumbnail;
        copy.id = (index + 1).toString(16).padStart(32, '0');
        copy.created = new Date(Date.parse(scan.created) - (index + 1) * 86400000).toISOString();
        {change}
        store.put(copy);
        change.objectStore('photographs').put(photograph, copy.id);
      }}
      await new Promise((resolve) => {{ change.oncomplete = resolve; }});
      database.close();
    }}""")


def history_of(visit, count: int, change: str = "", **settings):
    """A page that shows the history of a scan and its `copies`; `settings` are those of `visit`."""
    on = visit(**settings)
    on.scan()
    on.save()
    copies(on, count, change)
    on.go("history")
    return on


@pytest.fixture
def visit(browser):
    """Opens pages; afterwards none of them may have asked for anything or complained."""
    visits: list[Visit] = []

    def opened(**options) -> Visit:
        visits.append(Visit(browser, **options))
        return visits[-1]

    yield opened
    for each in visits:
        each.close()
        foreign = [
            url for url in each.requests if not url.startswith(("blob:", "data:")) and url.split("#")[0] != each.address
        ]
        assert foreign == [], "the page asked for something"
        assert each.complaints == []


def run_program(*arguments: str, model: Path = MODEL) -> str:
    """The standard output of the command line."""
    done = subprocess.run([str(PROGRAM), *arguments, "--model", str(model)], capture_output=True, text=True, check=True)
    return done.stdout


def build_page(folder: Path, model: Path, *where: str | Path) -> None:
    """Makes a page of the shipped page's engine and a model; `folder` is for files on the way."""
    text = re.search(r'id="engine-module">([^<]*)<', SHIPPED_PAGE.read_text()).group(1)
    engine = folder / "engine.wasm"
    engine.write_bytes(gzip.decompress(base64.b64decode(text)))
    command = [ROOT / "Scripts/lib/make_page.py", "--engine", engine, "--model", model, *where]
    subprocess.run([sys.executable, *command], check=True, capture_output=True)


@pytest.fixture
def empty_page(browser):
    """A page that nothing is opened in yet."""
    context = browser.new_context(locale="en-US")
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()
