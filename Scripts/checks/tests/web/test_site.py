# ruff: noqa: E501  the scripts for the page are written as they are read there
"""The page as a site of one's own: installable, opened again without a network, and no more talkative than the file."""

import json
import os
import re

import make_page
import pytest
from conftest import FIXTURES, MODEL, SHIPPED_PAGE, build_page
from PIL import Image
from playwright.sync_api import expect
from servers import Files, served


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site of the page's own engine and model."""
    folder = tmp_path_factory.mktemp("site")
    build_page(folder, MODEL, "--site", folder / "site")
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
    assert {part.split()[0] for part in allowed} <= {"img-src", "worker-src", "manifest-src", "script-src"}
    assert "connect-src" not in policy and "default-src 'none'" in policy
    assert 'rel="manifest"' not in SHIPPED_PAGE.read_text(), "the single file names a manifest"


def test_a_site_opens_again_without_a_network(site, empty_page):
    with served(site) as (server, address, asked):
        empty_page.goto(address)
        empty_page.get_by_role("button", name="I understand").click()
        empty_page.evaluate("() => navigator.serviceWorker.ready.then((found) => found.active.state)")
        empty_page.evaluate("() => window.dermafusion.ready.then(() => null)")
        server.shutdown()
    assert set(asked) <= {"/", "/manifest.webmanifest", "/icon-192.png", "/icon-512.png", "/service-worker.js"}, asked
    # The server is gone.
    empty_page.goto(address)
    empty_page.set_input_files("[data-role=choose]", FIXTURES / "phantom_brown.jpg")
    empty_page.get_by_role("button", name="Next").click()
    empty_page.get_by_role("button", name="Analyse").click()
    empty_page.locator(".result .bar").first.wait_for()


class OnePageForAll(Files):
    """Answers every address with the page and status 200, as hosts of applications do, but for the worker."""

    def do_GET(self):
        if self.path != "/service-worker.js":
            self.path = "/index.html"
        super().do_GET()


def test_a_file_that_is_another_is_not_kept(site, empty_page):
    with served(site, OnePageForAll) as (_, address, asked):
        empty_page.goto(address)
        ended = empty_page.evaluate("""async () => {
          const found = await navigator.serviceWorker.register('service-worker.js');
          const worker = found.installing ?? found.waiting ?? found.active;
          while (!['activated', 'redundant'].includes(worker.state)) {
            await new Promise((changed) => worker.addEventListener('statechange', changed, { once: true }));
          }
          return [worker.state, await caches.keys()];
        }""")
        assert ended[0] == "redundant" and "/index.html" in asked
        assert empty_page.evaluate("() => caches.keys()") == []


@pytest.mark.parametrize("seconds", [10, 0, -10])
def test_an_update_is_shown_after_one_reload(site, empty_page, tmp_path, seconds):
    """Also where the server's date of the newer version is not later: it answers 304 to a browser that asks by date."""
    text = (site / "index.html").read_text()
    digest = re.search(r'"./": "([0-9a-f]{64})"', (site / "service-worker.js").read_text()).group(1)
    text = text.replace(digest, make_page.NO_HASH)
    make_page.write_site(tmp_path, text)
    worker = tmp_path / "service-worker.js"
    os.utime(worker, (1.7e9, 1.7e9))
    with served(tmp_path) as (_, address, _):
        empty_page.goto(address)
        empty_page.evaluate("() => navigator.serviceWorker.ready.then(() => null)")
        empty_page.wait_for_function("() => navigator.serviceWorker.controller")
        make_page.write_site(tmp_path, text.replace("<body>", '<body data-version="newer">'))
        os.utime(worker, (1.7e9 + seconds, 1.7e9 + seconds))
        empty_page.reload()
        assert empty_page.locator("body").get_attribute("data-version") is None
        empty_page.evaluate(
            """async (old) => {
              while ((await caches.keys()).includes(old)) await new Promise((later) => setTimeout(later, 50));
            }""",
            f"dermafusion-{digest}",
        )
        empty_page.reload()
        expect(empty_page.locator("body")).to_have_attribute("data-version", "newer")
