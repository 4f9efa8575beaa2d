# ruff: noqa: E501  the scripts for the page are written as they are read there
"""Bad input: each ends in a sentence that says what to do, and the page goes on."""

import struct
import zlib

import pytest
from conftest import FIXTURES, base64_of
from measure import DROP
from PIL import Image
from playwright.sync_api import expect


def png_bomb(width: int, height: int) -> bytes:
    """A PNG of a few kilobytes whose header claims width x height pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(100_000)))
        + chunk(b"IEND", b"")
    )


HEIC = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(500)

# Names, contents, and a part of what is said of them: before anything is asked about the patient.
FILES = [
    ("notes.jpg", b"this is no image", "cannot read this file as an image"),
    ("empty.jpg", b"", "cannot read this file as an image"),
    ("photo.heic", HEIC, "can be converted by the phone or computer"),
    ("bomb.png", png_bomb(60_000, 60_000), "The image has too many pixels"),
    ("<img src=x onerror=alert(1)>.png", b"<svg onload=alert(1)>", "cannot read this file as an image"),
    ("cut.png", (FIXTURES / "refused_truncated.png").read_bytes(), "cannot read this file as an image"),
    ("film.tif", b"II*\0" + bytes(500), "Save the photograph as JPEG or PNG"),
    ("31x200.png", (FIXTURES / "refused_31x200.png").read_bytes(), "smaller than 32 by 32 pixels"),
]


def test_files_that_are_no_photographs(visit):
    on = visit()
    for name, content, words in FILES:
        on.open_image({"name": name, "mimeType": "image/jpeg", "buffer": content})
        # The file before may still be complained of.
        on.page.locator(".message.danger", has_text=name).get_by_text(words).first.wait_for()
    on.scan()  # the page goes on


@pytest.mark.slow
def test_forty_megapixels(visit, tmp_path):
    path = tmp_path / "large.jpg"
    Image.open(FIXTURES / "phantom_brown.jpg").resize((7728, 5152)).save(path, quality=80)
    on = visit()
    on.scan(path)
    expect(on.page.locator(".bar")).to_have_count(7)


def test_over_8000_pixels_is_reduced_and_said(visit, tmp_path):
    path = tmp_path / "wide.jpg"
    Image.open(FIXTURES / "phantom_brown.jpg").resize((9000, 3000)).save(path, quality=60)
    on = visit()
    on.open_image(path)
    on.page.get_by_text("larger than 8000 pixels on a side and was reduced to 8,000 by 2,667").wait_for()
    on.page.get_by_role("button", name="Next").click()
    on.page.get_by_role("button", name="Analyse").click()
    on.page.wait_for_selector(".result")
    expect(on.page.locator(".result")).to_contain_text(
        "The photograph was too large and was reduced", use_inner_text=True
    )


def test_a_small_photograph_is_warned_about(visit):
    on = visit()
    on.open_image(FIXTURES / "small_99x99.png")
    on.page.get_by_text("The photograph is small (99 by 99 pixels)").wait_for()
    on.page.get_by_role("button", name="Next").click()
    on.page.get_by_role("button", name="Analyse").click()
    on.page.wait_for_selector(".result")
    expect(on.page.locator(".result")).to_contain_text("smaller than 100x100", use_inner_text=True)


def test_abstention_shows_no_class_and_no_risk(visit):
    on = visit()
    on.scan("noise.png", age="", sex="unknown", site="unknown")
    page = on.page
    first = page.locator(".result-head").inner_text()
    assert first.startswith("No classification is suggested for this image")
    expect(page.locator(".result")).not_to_contain_text("risk classification", use_inner_text=True)
    expect(page.locator(".result")).to_contain_text("The network's numbers, for study only", use_inner_text=True)
    page.evaluate("() => { window.print = () => {}; }")
    page.get_by_role("button", name="Print or PDF").click()
    report = page.locator(".report").text_content()
    assert "The network's numbers, for study only" in report
    assert "a heatmap says nothing" in report
    expect(page.locator(".report-overlay")).to_have_count(0)


def test_a_browser_without_vectors(visit):
    on = visit(ready=False, script="WebAssembly.validate = () => false;")
    on.page.get_by_text("This browser lacks WebAssembly with vectors").wait_for()


@pytest.mark.parametrize("text", ["AAAA", "not base64"])
def test_a_damaged_page(visit, text):
    on = visit(
        ready=False,
        script=f"""
      new MutationObserver((_, observer) => {{
        const part = document.querySelector('.weights');
        if (!part) return;
        observer.disconnect();
        part.textContent = '{text}';
      }}).observe(document, {{ childList: true, subtree: true }});
    """,
    )
    on.page.get_by_text("The model in this page could not be loaded").wait_for()


def test_repeated_taps_analyse_once(visit):
    on = visit()
    on.open_image(FIXTURES / "phantom_brown.jpg")
    on.page.get_by_role("button", name="Next").click()
    on.page.get_by_role("button", name="Analyse").dblclick()
    on.page.wait_for_selector(".result")
    on.page.wait_for_timeout(500)
    expect(on.page.locator(".result")).to_have_count(1)


def test_an_analysis_is_cancelled(visit):
    on = visit()
    on.open_image(FIXTURES / "phantom_brown.jpg")
    on.page.get_by_role("button", name="Next").click()
    on.page.get_by_role("button", name="Analyse").wait_for()
    # In the page: an analysis is over before a click from outside arrives.
    on.page.evaluate("""() => new Promise((cancelled) => {
      new MutationObserver((_, observer) => {
        const cancel = document.querySelector('.waiting button');
        if (!cancel) return;
        observer.disconnect();
        cancel.click();
        cancelled();
      }).observe(document.body, { childList: true, subtree: true });
      document.querySelector('.actions .primary').click();
    })""")
    on.page.get_by_role("heading", name="What is known").wait_for()
    on.page.wait_for_timeout(700)
    expect(on.page.get_by_role("heading", name="What is known")).to_have_count(1)


def test_of_a_photograph_that_was_let_go_of_nothing_is_kept(visit):
    """A phone ends a tab whose memory grows. The elements of left views are counted; --measure has the memory."""
    on = visit()
    page = on.page
    text = base64_of(FIXTURES / "phantom_brown.jpg")
    session = on.context.new_cdp_session(page)

    def nodes_after(photographs: int) -> int:
        for _ in range(photographs):
            # No files are chosen and no elements handed out: Playwright keeps these, with their views.
            page.evaluate(DROP, text)
            page.get_by_role("button", name="Next").click()
            page.get_by_role("button", name="Analyse").click()
            page.locator(".heatmap figcaption p").first.wait_for()
            page.locator(".result .bars li").first.wait_for()
            page.get_by_role("button", name="Discard").click()
            page.get_by_role("dialog").get_by_role("button", name="Discard").click()
            page.locator(".drop-zone").wait_for()
        session.send("HeapProfiler.collectGarbage")
        return session.send("Memory.getDOMCounters")["nodes"]

    before = nodes_after(2)
    after = nodes_after(3)
    # The browser may tidy up a little later; a view that is kept has hundreds of elements.
    for _ in range(20):
        if after <= before + 300:
            break
        page.wait_for_timeout(500)
        after = nodes_after(0)
    assert after <= before + 300
