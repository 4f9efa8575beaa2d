"""The page as a site of one's own: installable, opened again without a network, and no more talkative than the file."""

import base64
import functools
import gzip
import http.server
import json
import re
import subprocess
import sys
import threading

import pytest
from conftest import FIXTURES, MODEL, PATIENCE, ROOT, SHIPPED_PAGE
from PIL import Image


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and notes what it was asked for."""

    asked: list[str] = []

    def do_GET(self):
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site of the page's own engine and model."""
    folder = tmp_path_factory.mktemp("site")
    engine = folder / "engine.wasm"
    text = re.search(r'id="engine-module">([^<]*)<', SHIPPED_PAGE.read_text()).group(1)
    engine.write_bytes(gzip.decompress(base64.b64decode(text)))
    command = [ROOT / "Scripts/lib/make_page.py", "--engine", engine, "--model", MODEL, "--site", folder / "site"]
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    return folder / "site"


def test_a_site_has_what_browsers_install(site):
    manifest = json.loads((site / "manifest.webmanifest").read_text())
    assert manifest["display"] == "standalone" and manifest["start_url"] == "./"
    for icon in manifest["icons"]:
        side = int(icon["sizes"].split("x")[0])
        with Image.open(site / icon["src"]) as image:
            assert image.size == (side, side) and image.getpixel((side // 2, side // 2)) == (255, 255, 255)
    page = (site / "index.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    own = re.search(r'Content-Security-Policy" content="([^"]*)"', SHIPPED_PAGE.read_text()).group(1)
    allowed = {part for part in policy.split("; ") if part not in own.split("; ")}
    assert {part.split()[0] for part in allowed} <= {"worker-src", "manifest-src", "script-src"}
    assert "connect-src" not in policy and "default-src 'none'" in policy
    assert 'rel="manifest"' not in SHIPPED_PAGE.read_text(), "the single file names a manifest"


def test_a_site_opens_again_without_a_network(site, browser):
    asked: list[str] = []
    handler = functools.partial(type("Noted", (Files,), {"asked": asked}), directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context = browser.new_context(locale="en-US")
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        address = f"http://127.0.0.1:{server.server_port}/"
        page.goto(address)
        page.get_by_role("button", name="I understand").click()
        page.evaluate("() => navigator.serviceWorker.ready.then((found) => found.active.state)")
        page.evaluate("() => window.dermafusion.ready.then(() => null)")
        server.shutdown()
    assert set(asked) <= {"/", "/manifest.webmanifest", "/icon-192.png", "/icon-512.png", "/service-worker.js"}, asked
    # The server is gone.
    page.goto(address)
    page.set_input_files("[data-role=choose]", FIXTURES / "phantom_brown.jpg")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Analyse").click()
    page.locator(".result .bar").first.wait_for()
    context.close()
