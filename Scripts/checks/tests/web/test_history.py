# ruff: noqa: E501  the scripts for the page are written as they are read there
"""The history: saved, found again, exported, imported, broken, full, refused, shared by tabs, cut off in the middle."""

import base64
import contextlib
import io
import json
import os
import random
import re
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import FIXTURES, PAGE, PATIENCE, launch_arguments
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect

PUT_BROKEN = """async () => {
  const open = indexedDB.open('dermafusion');
  const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
  const change = database.transaction('scans', 'readwrite');
  change.objectStore('scans').put({ id: 'broken', name: 'old lesion.jpg', created: '2020-01-02T03:04:05Z', result: 7 });
  await new Promise((resolve) => { change.oncomplete = resolve; });
  database.close();
}"""


def test_off_until_it_is_turned_on(visit):
    on = visit()
    on.go("history")
    on.page.get_by_text("The history is off").wait_for()
    assert on.page.evaluate("async () => (await indexedDB.databases()).length") == 0
    on.page.get_by_role("button", name="Turn the history on").click()
    on.page.get_by_text("There are no scans yet.").wait_for()
    assert on.page.get_by_role("link", name="Start your first scan").count() == 1


def test_saved_found_noted_compared_deleted(visit):
    on = visit()
    page = on.page
    for image in ("phantom_brown.jpg", "phantom_vascular.jpg"):
        on.scan(image)
        on.save()
        page.get_by_role("button", name="Discard").click()
    page.reload()
    on.wait_until_ready()
    page.get_by_role("heading", name="Last scan").wait_for()

    on.go("history")
    assert page.locator(".scan-row").count() == 2
    for row in range(2):
        on.go("history")
        page.locator("a.scan-card").nth(row).click()
        page.get_by_label("Name of the lesion").fill("left shoulder")
        page.get_by_label("Notes", exact=True).fill("itches, since spring")
        page.get_by_label("Name of the lesion").focus()
        page.get_by_text("Stored").wait_for()
    page.locator(".time-line li").nth(1).wait_for()
    page.reload()
    on.wait_until_ready()
    assert page.get_by_label("Notes", exact=True).input_value() == "itches, since spring"
    page.wait_for_selector(".heatmap figcaption p")
    page.locator(".time-line").get_by_role("link", name="Compare with").click()
    page.get_by_role("heading", name="left shoulder: two scans compared").wait_for()
    page.get_by_text(re.compile("minutes? between them$")).wait_for()
    assert page.locator(".compare-photographs canvas").count() == 2

    on.go("history")
    page.get_by_role("button", name="Delete left shoulder").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert page.locator(".scan-row").count() == 2
    page.get_by_role("button", name="Delete left shoulder").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_text("1 scan, newest first").wait_for()
    page.get_by_role("button", name="Turn off and delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Turn off and delete").click()
    page.get_by_text("The history is off").wait_for()
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0


def test_export_and_import_carry_everything(visit, tmp_path):
    first = visit()
    first.scan()
    first.save()
    first.go("history")
    with first.page.expect_download() as download:
        first.page.get_by_role("button", name="Export the history").click()
    archive = tmp_path / "history.jsonl"
    download.value.save_as(archive)
    lines = archive.read_text().splitlines()
    assert json.loads(lines[0]) == {"format": "dermafusion-history", "version": 1, "scans": 1}
    flawed = json.loads(lines[1]) | {"id": "0" * 32, "name": "flawed.jpg", "result": {"summary": "?"}}
    archive.write_text("\n".join([*lines, json.dumps(flawed), "{not json", ""]))

    second = visit()
    second.go("history")
    second.page.get_by_role("button", name="Turn the history on").click()
    second.page.set_input_files("[data-role=import]", archive)
    second.page.get_by_text("Scans added: 1. Here already: 0.").wait_for()
    told = second.page.locator(".message").inner_text()
    assert "flawed.jpg" in told and "line 4" in told
    assert second.page.locator(".scan-row").count() == 1
    second.page.locator("a.scan-card").click()
    second.page.wait_for_selector(".heatmap figcaption p")

    second.go("history")
    other = tmp_path / "other.jsonl"
    other.write_text('{"hello": 1}\n')
    second.page.set_input_files("[data-role=import]", other)
    second.page.get_by_text("This file is not a history of DermaFusion.").wait_for()
    assert second.page.locator(".scan-row").count() == 1


def photograph_with_metadata(path, orientation: int, picture: Image.Image) -> None:
    exif = Image.Exif()
    exif[0x010F], exif[0x0112] = "SecretCamera", orientation
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 8.0, 14.0), 29: "2026:01:02"})
    exif.get_ifd(0x8769)[0x9003] = "2026:01:02 03:04:05"
    notes = PngInfo()
    notes.add_text("Comment", "SecretCamera")
    more = (
        {"pnginfo": notes}
        if path.suffix == ".png"
        else {"comment": b"SecretCamera", "xmp": b"<x>SecretCamera</x>", "quality": 90}
    )
    picture.save(path, exif=exif, **more)


def stored_photograph(page) -> bytes:
    """The only photograph of the history, as the browser stores it."""
    return bytes(
        page.evaluate("""async () => {
      const open = indexedDB.open('dermafusion');
      const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
      const all = database.transaction('photographs').objectStore('photographs').getAll();
      const [blob] = await new Promise((resolve) => { all.onsuccess = () => resolve(all.result); });
      database.close();
      return [...new Uint8Array(await blob.arrayBuffer())];
    }""")
    )


@pytest.mark.parametrize(("ending", "orientation"), [("jpg", 1), ("jpg", 6), ("png", 1), ("png", 8), ("webp", 1)])
def test_a_photograph_is_kept_without_its_metadata(visit, tmp_path, ending, orientation):
    on = visit()
    page = on.page
    path = tmp_path / f"lesion.{ending}"
    picture = Image.open(FIXTURES / "phantom_brown.jpg").convert("RGB").crop((0, 0, 320, 200))
    photograph_with_metadata(path, orientation, picture)
    raw = path.read_bytes()
    assert b"SecretCamera" in raw
    # A part, so that a picture that lies otherwise than its square is noticed.
    on.open_image(path)
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Move the square right").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".result .bars")
    bars = page.locator(".bars").inner_text()
    on.save()
    stored = stored_photograph(page)
    on.go("history")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export the history").click()
    line = json.loads(download.value.path().read_text().splitlines()[1])
    exported = base64.b64decode(line["photograph"].split(",")[1])
    assert exported == stored
    for secret in (b"SecretCamera", b"Exif", b"GPS", b"2026:01:02", b"xmpmeta"):
        assert secret not in stored, secret
    # The same pixels, upright.
    wanted = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(raw))).convert("RGB"), int)
    kept = np.asarray(Image.open(io.BytesIO(stored)).convert("RGB"), int)
    assert kept.shape == wanted.shape
    assert np.abs(kept - wanted).max() <= (0 if orientation == 1 else 3), (
        "browsers decode JPEG otherwise than Pillow by little"
    )
    page.locator("a.scan-card").click()
    page.get_by_role("button", name="Correct and analyse again").click()
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".result .bars")
    assert page.locator(".bars").inner_text() == bars, "what was kept is not what the model saw"


def test_what_an_older_version_stored_is_exported_without_its_metadata(visit, tmp_path):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    path = tmp_path / "old.jpg"
    photograph_with_metadata(path, 3, Image.open(FIXTURES / "phantom_brown.jpg").convert("RGB"))
    page.evaluate(
        """async (bytes) => {
      const open = indexedDB.open('dermafusion');
      const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
      const change = database.transaction('photographs', 'readwrite');
      const store = change.objectStore('photographs');
      const keys = store.getAllKeys();
      keys.onsuccess = () => store.put(new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' }), keys.result[0]);
      await new Promise((resolve) => { change.oncomplete = resolve; });
      database.close();
    }""",
        list(path.read_bytes()),
    )
    on.go("history")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export the history").click()
    exported = base64.b64decode(
        json.loads(download.value.path().read_text().splitlines()[1])["photograph"].split(",")[1]
    )
    assert b"SecretCamera" not in exported and Image.open(io.BytesIO(exported)).size == Image.open(path).size
    # A file from such a version is taken without it, too.
    line = json.loads(download.value.path().read_text().splitlines()[1]) | {"id": "f" * 32}
    line["photograph"] = "data:image/jpeg;base64," + base64.b64encode(path.read_bytes()).decode()
    archive = tmp_path / "history.jsonl"
    archive.write_text(
        json.dumps({"format": "dermafusion-history", "version": 1, "scans": 1}) + "\n" + json.dumps(line) + "\n"
    )
    page.get_by_role("button", name="Delete all scans").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_text("There are no scans yet.").wait_for()
    page.set_input_files("[data-role=import]", archive)
    page.get_by_text("Scans added: 1.").wait_for()
    assert b"SecretCamera" not in stored_photograph(page)


SLOW_DATABASE = """
  // A busy machine: what the browser answers about its databases comes late.
  for (const name of ['open', 'deleteDatabase']) {
    const original = IDBFactory.prototype[name];
    IDBFactory.prototype[name] = function (...given) {
      const request = original.apply(this, given);
      let handler;
      Object.defineProperty(request, 'onsuccess', { set: (value) => { handler = value; } });
      request.addEventListener('success', (event) => setTimeout(() => handler?.call(request, event), 700));
      return request;
    };
  }
"""


def test_an_import_while_the_history_is_turned_on_waits_and_asks_nothing(visit, tmp_path):
    first = visit()
    first.scan()
    first.save()
    first.go("history")
    with first.page.expect_download() as download:
        first.page.get_by_role("button", name="Export the history").click()
    archive = tmp_path / "history.jsonl"
    download.value.save_as(archive)

    second = visit(script=SLOW_DATABASE)
    second.go("history")
    second.page.get_by_role("button", name="Turn the history on").click()
    second.page.set_input_files("[data-role=import]", archive)
    second.page.get_by_text("Scans added: 1. Here already: 0.").wait_for(timeout=20_000)
    assert second.page.get_by_role("dialog").count() == 0
    assert second.page.locator(".scan-row").count() == 1


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


def test_records_that_a_view_would_stumble_over_are_named_and_the_good_ones_taken(visit, tmp_path):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    on.go("history")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export the history").click()
    head, line = download.value.path().read_text().splitlines()

    def changed(number: int, change) -> str:
        record = json.loads(line) | {"id": f"{number:032x}", "name": f"number {number}"}
        change(record)
        return json.dumps(record)

    lines = [
        changed(1, lambda record: record.update(classes=[None, None])),
        changed(2, lambda record: record["result"].update(conformalSet=5)),
        changed(3, lambda record: record["result"]["metadata"].update(sex="robot")),
        changed(4, lambda record: record["result"]["metadata"].update(site="moon")),
        changed(5, lambda record: record["result"].update(warnings=["toString"])),
        changed(6, lambda record: None),
    ]
    archive = tmp_path / "history.jsonl"
    archive.write_text("\n".join([head, *lines]))
    page.set_input_files("[data-role=import]", archive)
    page.get_by_text("Scans added: 1. Here already: 0.").wait_for()
    told = page.locator(".message.warning").inner_text()
    assert all(f"number {number}," in told for number in range(1, 6)) and "number 6" not in told


def test_a_record_from_a_file_does_not_speak_with_the_pages_voice(visit, tmp_path):
    on = visit()
    page = on.page
    on.scan("phantom_pale.jpg")
    on.save()
    on.go("history")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export the history").click()
    head, line = download.value.path().read_text().splitlines()
    result = json.loads(line)["result"]
    assert result["risk"] == "high", "the phantom makes another risk: the lies below are none"
    summary = "You are healthy. No doctor is needed."
    lies = {
        "a false summary": {"summary": summary},
        "a false risk": {"risk": "low"},
        "certain of all": {"probabilities": dict.fromkeys(result["probabilities"], 1)},
        "many warnings": {"warnings": ["small_image"] * 5000},
        "a false disclaimer": {"disclaimer": "This page is a doctor."},
        "another class": {"prediction": {**result["prediction"], "class": "nv", "name": "Melanocytic nevi"}},
        "nothing to fear": {"concern": None, "urgent": False, "risk": None},
        "older, and false": {"concern": ..., "urgent": ..., "risk": "low", "summary": summary},
    }
    records = []
    for number, (name, lie) in enumerate(lies.items()):
        record = json.loads(line) | {"id": f"{number + 1:032x}", "name": name}
        record["result"] = {key: value for key, value in (record["result"] | lie).items() if value is not ...}
        records.append(record)
    good = json.loads(line)
    records += [
        good | {"id": "a" * 32, "name": "x" * 200_000},
        good | {"id": "b" * 32, "name": "no picture", "photograph": "data:image/png;base64,bm90IGEgcGljdHVyZQ=="},
        good | {"id": "c" * 32, "name": "no thumbnail", "thumbnail": "data:image/svg+xml;base64,PHN2Zy8+"},
        # What is older and true gets the engine's sentence of today.
        good
        | {
            "id": "d" * 32,
            "name": "older",
            "result": {
                key: value for key, value in (result | {"summary": summary}).items() if key not in ("concern", "urgent")
            },
        },
    ]
    archive = tmp_path / "history.jsonl"
    archive.write_text("\n".join([head, *map(json.dumps, records)]))
    page.set_input_files("[data-role=import]", archive)
    page.get_by_text("Scans added: 1. Here already: 0.").wait_for()
    told = page.locator(".message.warning").inner_text()
    assert all(name in told for name in lies), told
    assert '"risk" is "low", and its other members make it "high"' in told
    assert len(told) < 5000
    assert page.locator(".scan-row").count() == 2
    page.get_by_label("Search").fill("older")
    page.locator("a.scan-card").click()
    page.wait_for_selector(".result")
    assert page.locator(".summary").inner_text() == result["summary"]
    assert summary not in page.locator("main").inner_text()


@pytest.mark.slow
def test_hundreds_of_scans_are_imported_while_the_page_says_so(visit, tmp_path):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    on.go("history")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export the history").click()
    head, line = download.value.path().read_text().splitlines()
    records = [json.dumps(json.loads(line) | {"id": f"{number:032x}"}) for number in range(600)]
    archive = tmp_path / "history.jsonl"
    archive.write_text("\n".join([json.dumps(json.loads(head) | {"scans": 600}), *records]))
    page.set_input_files("[data-role=import]", archive)
    page.get_by_role("progressbar", name="Importing").wait_for()
    page.get_by_text("Scans added: 600. Here already: 0.").wait_for()
    page.get_by_text("601 scans, newest first").wait_for()


def test_a_view_that_fails_says_so(visit):
    on = visit()
    on.scan()
    on.save()
    on.page.evaluate(
        "() => { IDBObjectStore.prototype.getAll = () => { throw new DOMException('no', 'UnknownError'); }; }"
    )
    on.go("history")
    on.page.get_by_role("heading", name="This view could not be shown").wait_for()
    assert on.page.get_by_role("button", name="Try again").count() == 1


def test_a_name_that_is_still_typed_outlives_a_reload(visit):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    on.go("history")
    page.locator("a.scan-card").click()
    page.get_by_label("Name of the lesion").fill("left ear")
    page.get_by_text("Stored").wait_for()
    # The last letters come just before the page is left.
    page.get_by_label("Name of the lesion").press_sequentially(" lobe")
    page.reload()
    on.wait_until_ready()
    assert page.get_by_label("Name of the lesion").input_value() == "left ear lobe"


def test_an_open_record_does_not_turn_the_history_on_again(visit):
    on = visit()
    on.scan()
    on.save()
    on.go("history")
    on.page.locator("a.scan-card").click()
    other = on.context.new_page()
    other.goto(PAGE.as_uri() + "#history")
    other.get_by_role("button", name="Turn off and delete").click()
    other.get_by_role("dialog").get_by_role("button", name="Turn off and delete").click()
    other.get_by_text("The history is off").wait_for()
    on.page.get_by_label("Notes", exact=True).fill("later")
    on.page.get_by_text("The history was turned off").wait_for()
    assert on.page.evaluate("async () => (await indexedDB.databases()).length") == 0


def test_a_scan_is_found_and_the_list_is_where_it_was(visit):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    copies(
        on,
        100,
        "if (index % 4 === 0) copy.lesion = index % 8 ? 'shoulder' : 'ankle'; if (index === 50) copy.result.metadata.site = 'ear';",
    )
    on.go("history")
    page.get_by_text("101 scans, newest first").wait_for()
    assert page.evaluate("() => document.documentElement.scrollHeight") < 8000
    page.locator(".scan-row input").nth(30).check()
    link = page.locator("a.scan-card").nth(30)
    address = link.get_attribute("href")
    link.scroll_into_view_if_needed()
    before = page.evaluate("() => scrollY")
    link.evaluate("(element) => element.click()")
    page.get_by_label("Notes", exact=True).wait_for()
    page.go_back()
    page.locator(".scan-row").nth(30).wait_for()
    # The rows above are laid out anew, so it is not the same to the pixel.
    page.wait_for_function("(before) => Math.abs(scrollY - before) < 100", arg=before)
    assert page.evaluate("() => document.activeElement.getAttribute('href')") == address
    assert page.locator(".scan-row input").nth(30).is_checked(), "what was ticked is not ticked any more"

    page.get_by_label("Group by lesion").check()
    assert page.get_by_role("heading", name="ankle").count() == 1
    page.get_by_label("Group by lesion").uncheck()
    page.get_by_label("Search").fill("Shoul")
    page.get_by_text("of 101 scans").wait_for()
    assert all("shoulder" in row for row in page.locator(".scan-row").all_inner_texts())
    page.get_by_label("Search").fill("")
    # The body map: the only lesion on an ear.
    page.get_by_text("Body map of the lesions").click()
    page.get_by_role("button", name="ear: 1 lesion").last.click()
    page.get_by_text("1 of 101 scans").wait_for()
    assert page.evaluate("() => document.activeElement.dataset.site") == "ear"
    page.get_by_role("button", name="ear: 1 lesion").last.click()
    page.get_by_text("101 scans, newest first").wait_for()


def test_a_lesion_has_a_page_of_its_own(visit):
    on = visit()
    page = on.page
    on.scan("phantom_pale.jpg")
    page.get_by_label("Name of the lesion").fill("left ear / lobe")
    on.save()
    change = "if (index) { copy.result.probabilities = { ...copy.result.probabilities, nv: 0.5 }; } if (index === 2) { copy.lesion = 'another'; }"
    copies(on, 3, change)
    on.go("history")
    page.get_by_label("Group by lesion").check()
    page.get_by_role("link", name="left ear / lobe", exact=True).click()
    page.get_by_role("heading", name="left ear / lobe", level=1).wait_for()
    page.get_by_text("3 scans, over 2 days").wait_for()
    assert page.locator(".film-strip a").count() == 3
    # The earliest first, and as much in the table as in the lines.
    assert page.locator(".chart polyline").count() == 3 and page.locator(".chart circle").count() == 9
    rows = page.locator(".table tbody tr")
    assert rows.count() == 3 and "50.0%" in rows.nth(0).inner_text() and "50.0%" not in rows.nth(2).inner_text()
    assert page.locator(".disclaimer").is_visible()
    page.get_by_label("In", exact=True).select_option("6")
    with page.expect_download() as download:
        page.get_by_role("button", name="Calendar file").click()
    assert download.value.suggested_filename == "left ear _ lobe.ics"
    calendar = download.value.path().read_bytes().replace(b"\r\n ", b"").decode()
    assert "SUMMARY:Photograph again: left ear / lobe" in calendar and "NOT a medical device" in calendar
    page.get_by_role("link", name="Compare the first with the last").click()
    page.get_by_text("2 days between them").wait_for()
    on.go("lesion/" + "nothing%20here")
    page.get_by_role("heading", name="This scan is not here").wait_for()


def test_a_letter_to_a_dermatologist_is_one_page(visit, tmp_path):
    on = visit()
    page = on.page
    page.evaluate("() => { window.print = () => {}; }")
    on.scan("phantom_pale.jpg")
    page.get_by_label("Notes", exact=True).fill("itches since spring")
    page.get_by_role("button", name="Letter to a dermatologist").click()
    dialog = page.get_by_role("dialog", name="Letter to a dermatologist")
    dialog.get_by_label("Question").fill("Is it a basal cell carcinoma?")
    dialog.get_by_role("button", name="Print or PDF").click()
    letter = page.locator(".report.letter")
    words = letter.text_content()
    assert letter.evaluate("(element) => element.firstElementChild.className") == "disclaimer"
    for part in (
        "Is it a basal cell carcinoma?",
        "itches since spring",
        "55 years",
        "cannot be excluded",
        "None of its heatmaps was checked",
        "High risk classification",
    ):
        assert part in words, part
    for paper in ("A4", "Letter"):
        path = tmp_path / f"{paper}.pdf"
        page.pdf(path=path, format=paper, prefer_css_page_size=False, print_background=False)
        text = path.read_bytes()
        assert text.count(b"/Type /Page\n") + text.count(b"/Type /Page ") == 1, paper


def test_a_lesion_counts_all_of_its_scans_however_few_are_shown(visit):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    copies(on, 59, "copy.lesion = `lesion ${index % 8}`;")
    on.go("history")
    page.get_by_label("Group by lesion").check()
    heading = page.locator(".stack.close > h2")
    assert heading.first.inner_text() in {
        f"lesion {each} {count} scans" for each, count in zip(range(8), [8, 8, 8, 7, 7, 7, 7, 7], strict=True)
    }
    assert page.locator(".scan-row").count() == 40
    page.get_by_role("button", name="Show 20 more").click()
    assert page.locator(".scan-row").count() == 60
    told = sorted(heading.all_inner_texts())
    assert told == sorted(
        [*(f"lesion {each} {8 if each < 3 else 7} scans" for each in range(8)), "Without a name 1 scan"]
    )


def test_a_tab_that_is_returned_to_is_as_it_was_left(visit):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    copies(on, 3)
    on.go("history")
    page.get_by_text("Body map of the lesions").click()
    page.locator("a.scan-card").nth(2).focus()
    returned = "() => document.dispatchEvent(new Event('visibilitychange'))"
    page.evaluate("() => { document.querySelector('a.scan-card').dataset.mark = 'same'; }")
    page.evaluate(returned)
    page.wait_for_timeout(500)
    assert page.locator("[data-mark=same]").count() == 1, "the list was built anew"
    assert page.locator(".body-pair").is_visible()
    assert page.evaluate("() => document.activeElement.matches('a.scan-card')")
    # What another tab changed is seen.
    copies(on, 1, "copy.id = 'e'.repeat(32);")
    page.evaluate(returned)
    page.get_by_text("5 scans, newest first").wait_for()


def test_scans_are_found_by_what_cannot_be_excluded_and_ticks_are_told_and_cleared(visit):
    on = visit()
    page = on.page
    on.scan("phantom_pale.jpg")
    on.save()
    copies(on, 3, "copy.lesion = `spot-${index}`; if (index) { copy.result.concern = null; copy.result.risk = 'low'; }")
    on.go("history")
    page.get_by_text("4 scans, newest first").wait_for()
    for row in (0, 1):
        page.locator(".scan-row input").nth(row).check()
    page.get_by_label("Search").fill("basal")
    page.get_by_text("2 of 4 scans").wait_for()
    assert all("Basal cell carcinoma cannot be excluded" in row for row in page.locator(".scan-row").all_inner_texts())
    page.get_by_label("Search").fill("spot-2")
    page.get_by_text("2 of the ticked are not among the scans below.").wait_for()
    page.get_by_role("button", name="Clear the ticks").click()
    page.get_by_text("Tick two scans to see them side by side.").wait_for()
    page.get_by_label("Search").fill("")
    assert page.locator(".scan-row input:checked").count() == 0


def test_why_two_scans_cannot_be_compared_is_said(visit):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    copies(on, 3)
    on.go("history")
    boxes = page.locator(".scan-row input")
    compare = page.get_by_role("button", name="Compare two")
    for index, words in enumerate(
        ("One scan is ticked", "Two scans are ticked", "3 scans are ticked. Two can be compared")
    ):
        boxes.nth(index).check()
        page.get_by_text(words).wait_for()
        assert compare.get_attribute("aria-disabled") == str(index != 1).lower()
    boxes.nth(0).uncheck()
    compare.click()
    page.get_by_text("1 day between them").or_(page.get_by_text("24 hours between them")).wait_for()
    names = page.locator(".compare h2").all_inner_texts()
    assert names == ["phantom_brown.jpg", "phantom_brown.jpg"]
    # Both photographs are enlarged together, and one can be laid over the other.
    page.get_by_role("button", name="Zoom in").click()
    scales = page.evaluate(
        "() => [...document.querySelectorAll('.compare-stage canvas')].map((canvas) => canvas.style.transform)"
    )
    assert scales[0] == scales[1] and "scale(1.25)" in scales[0]
    page.get_by_label("One over the other").check()
    page.get_by_label("Later one").fill("30")
    clips = page.evaluate("() => [...document.querySelectorAll('.compare-stage')].map((stage) => stage.style.clipPath)")
    assert clips == ["", "inset(0px 0px 0px 70%)"]


def test_an_export_with_a_passphrase_opens_with_it_alone(visit, tmp_path):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    on.go("history")
    page.get_by_role("button", name="Export with a passphrase").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Passphrase", exact=True).fill("correct horse")
    dialog.get_by_label("The same again").fill("correct house")
    dialog.get_by_role("button", name="Encrypt and export").click()
    assert dialog.count() == 1, "two that differ are taken"
    dialog.get_by_label("The same again").fill("correct horse")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    archive = tmp_path / "sealed.jsonl"
    download.value.save_as(archive)
    text = archive.read_text()
    assert "phantom_brown" not in text and "dermafusion-history-sealed" in text

    other = visit()
    other.go("history")
    other.page.get_by_role("button", name="Turn the history on").click()
    other.page.get_by_text("There are no scans yet.").wait_for()
    for words, told in (
        ("wrong horse", "The passphrase does not open this file."),
        ("correct horse", "Scans added: 1."),
    ):
        other.page.set_input_files("[data-role=import]", archive)
        other.page.get_by_label("Passphrase", exact=True).fill(words)
        other.page.get_by_role("button", name="Open and import").click()
        other.page.get_by_text(told).wait_for()
    other.page.locator("a.scan-card").click()
    other.page.wait_for_selector(".heatmap figcaption p")


def test_a_browser_without_any_database(visit):
    on = visit(script="delete window.indexedDB; delete Window.prototype.indexedDB;")
    on.scan()
    on.page.get_by_role("button", name="Save to history").click()
    on.page.get_by_role("button", name="Turn the history on").click()
    on.page.get_by_role("dialog").get_by_role("button", name="Close").click()
    on.page.get_by_role("button", name="Saved").wait_for()
    on.go("history")
    on.page.get_by_text("1 scan, newest first").wait_for()
    on.page.get_by_role("button", name="Turn off and delete").click()
    on.page.get_by_role("dialog").get_by_role("button", name="Turn off and delete").click()
    on.page.get_by_text("The history is off").wait_for()


def test_a_broken_record_is_skipped_and_named(visit):
    on = visit()
    on.scan()
    on.save()
    on.page.evaluate(PUT_BROKEN)
    on.go("history")
    told = on.page.locator(".message.warning").inner_text()
    assert "One record cannot be read" in told and "old lesion.jpg" in told
    assert on.page.locator(".scan-row").count() == 1
    on.page.get_by_role("button", name="Delete what cannot be read").click()
    on.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    on.page.wait_for_function("() => !document.querySelector('.message.warning')")


def test_a_full_disk_is_told_and_nothing_is_lost(visit):
    on = visit()
    on.scan()
    on.save()
    page = on.page
    page.get_by_role("button", name="Discard").click()
    on.scan("phantom_vascular.jpg")
    # The browser's own error at the place where it is raised: in the transaction.
    page.evaluate("""() => {
      IDBObjectStore.prototype.put = function () {
        const { transaction } = this;
        Object.defineProperty(transaction, 'error', { value: new DOMException('full', 'QuotaExceededError'), configurable: true });
        queueMicrotask(() => { try { transaction.abort(); } catch { /* the second call finds it aborted */ } });
        return {};
      };
    }""")
    page.get_by_role("button", name="Save to history").click()
    page.get_by_role("dialog").get_by_text("is full").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="Save to history")).to_be_enabled()
    on.go("history")
    page.get_by_text("1 scan, newest first").wait_for()


def test_a_browser_that_stores_nothing(visit):
    on = visit(
        script="""
      IDBFactory.prototype.open = () => { throw new DOMException('private', 'SecurityError'); };
      IDBFactory.prototype.databases = async () => { throw new DOMException('private', 'SecurityError'); };
    """
    )
    on.scan()
    on.page.get_by_role("button", name="Save to history").click()
    on.page.get_by_role("button", name="Turn the history on").click()
    on.page.get_by_text("Scans are kept only until this page is closed").wait_for()
    on.page.get_by_role("dialog").get_by_role("button", name="Close").click()
    on.page.get_by_role("button", name="Saved").wait_for()
    on.go("history")
    on.page.get_by_text("1 scan, newest first").wait_for()
    on.page.get_by_text("This browser does not let the page store anything").wait_for()


def test_browsers_that_list_no_databases_and_walk_through_no_streams(visit, tmp_path):
    """Firefox before 126, Safari."""
    older = "delete IDBFactory.prototype.databases; delete ReadableStream.prototype[Symbol.asyncIterator];"
    on = visit(script=older)
    page = on.page
    on.go("history")
    page.get_by_text("The history is off").wait_for()
    on.go("scan")
    on.scan()
    on.save()
    page.reload()
    on.wait_until_ready()
    on.go("history")
    page.get_by_text("1 scan, newest first").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export the history").click()
    archive = tmp_path / "history.jsonl"
    download.value.save_as(archive)
    page.set_input_files("[data-role=import]", archive)
    page.get_by_text("Scans added: 0. Here already: 1.").wait_for()


def test_two_tabs_at_once(visit):
    on = visit()
    on.scan()
    on.save()
    other = on.context.new_page()
    other.goto(PAGE.as_uri() + "#history")
    other.get_by_text("1 scan, newest first").wait_for()
    other.get_by_role("button", name="Turn off and delete").click()
    other.get_by_role("dialog").get_by_role("button", name="Turn off and delete").click()
    other.get_by_text("The history is off").wait_for()
    on.go("history")
    on.page.get_by_text("The history is off").wait_for()


def test_two_tabs_do_not_undo_each_others_notes(visit):
    on = visit()
    on.scan()
    on.save()
    on.go("history")
    on.page.locator("a.scan-card").first.click()
    on.page.get_by_label("Name of the lesion").wait_for()
    other = on.context.new_page()
    other.goto(on.page.url)
    # Stored while somebody still types: the field is not left.
    other.get_by_label("Notes", exact=True).fill("itches, since spring")
    other.get_by_text("Stored").wait_for()
    on.page.get_by_label("Name of the lesion").fill("left shoulder")
    on.page.get_by_label("Notes", exact=True).focus()
    on.page.get_by_text("Stored").wait_for()
    other.reload()
    assert other.get_by_label("Notes", exact=True).input_value() == "itches, since spring"
    assert other.get_by_label("Name of the lesion").input_value() == "left shoulder"

    other.get_by_role("button", name="Delete").click()
    other.get_by_role("dialog").get_by_role("button", name="Delete").click()
    other.get_by_text("There are no scans yet.").wait_for()
    on.page.get_by_label("Notes", exact=True).fill("later")
    on.page.get_by_text("This scan was deleted meanwhile").wait_for()
    on.go("history")
    on.page.get_by_text("There are no scans yet.").wait_for()


@pytest.mark.slow
def test_hundreds_of_scans_are_listed_without_freezing(visit):
    on = visit()
    on.scan()
    on.save()
    on.page.evaluate("""async () => {
      const open = indexedDB.open('dermafusion');
      const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
      const change = database.transaction('scans', 'readwrite');
      const store = change.objectStore('scans');
      const all = store.getAll();
      const [scan] = await new Promise((resolve) => { all.onsuccess = () => resolve(all.result); });
      for (let index = 0; index < 400; index += 1) store.put({ ...scan, id: index.toString(16).padStart(32, '0'), name: `scan ${index}` });
      await new Promise((resolve) => { change.oncomplete = resolve; });
      database.close();
    }""")
    on.go("history")
    on.page.get_by_text("401 scans, newest first").wait_for()
    # Some at first, more when asked for; what is looked for is found among all.
    assert on.page.locator(".scan-row").count() == 40
    on.page.get_by_role("button", name="Show 40 more").click()
    assert on.page.locator(".scan-row").count() == 80
    on.page.get_by_label("Search").fill("scan 399")
    on.page.get_by_text("1 of 401 scans").wait_for()
    assert on.page.locator(".scan-row").count() == 1


def test_a_page_closed_while_saving_loses_no_earlier_scan(visit):
    on = visit()
    on.scan()
    on.save()
    on.page.get_by_role("button", name="Discard").click()
    on.scan("phantom_vascular.jpg")
    # Closed in the same turn in which saving begins.
    on.page.evaluate("() => { [...document.querySelectorAll('.actions .primary')].at(-1).click(); }")
    on.page.close()
    other = on.context.new_page()
    other.goto(PAGE.as_uri() + "#history")
    other.locator(".scan-row").first.wait_for()
    names = other.locator(".scan-row").all_inner_texts()
    assert any("phantom_brown.jpg" in name for name in names)
    assert len(names) <= 2 and other.locator(".message.warning").count() == 0, "half a scan was stored"


SAVE_FOR_EVER = """async () => {
  // Saves copies of the first scan, each with a large photograph, one after the other, until the browser is killed.
  const open = indexedDB.open('dermafusion');
  const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
  const all = database.transaction('scans').objectStore('scans').getAll();
  const scan = (await new Promise((resolve) => { all.onsuccess = () => resolve(all.result); })).find((each) => !each.id.startsWith('00'));
  for (let index = 1; ; index += 1) {
    const change = database.transaction(['scans', 'photographs'], 'readwrite', { durability: 'strict' });
    const id = index.toString(16).padStart(32, '0');
    change.objectStore('scans').put({ ...scan, id });
    change.objectStore('photographs').put(new Blob([crypto.getRandomValues(new Uint8Array(65536)), new Uint8Array(500_000)]), id);
    await new Promise((resolve) => { change.oncomplete = resolve; });
    console.log(`confirmed ${index}`);
  }
}"""

WRITE_NOTES_FOR_EVER = """async (next) => {
  // Writes a number into the notes, waits until the page says that it is stored, and takes the next.
  const notes = document.querySelector('textarea');
  const status = document.querySelector('[role=status].small');
  for (let index = next; ; index += 1) {
    notes.value = String(index);
    notes.dispatchEvent(new Event('input', { bubbles: true }));
    notes.dispatchEvent(new Event('change', { bubbles: true }));
    while (status.textContent !== 'Stored') await new Promise((resolve) => setTimeout(resolve));
    console.log(`confirmed ${index}`);
  }
}"""

MAKE_ANOTHER_DATABASE = """() => new Promise((made) => {
  const open = indexedDB.open('another');
  open.onsuccess = () => { open.result.close(); made(); };
})"""

TAKE_STORED = """async () => {
  // What is stored; the copies are deleted, for the next round writes others.
  const open = indexedDB.open('dermafusion');
  const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
  const read = (name, method) => new Promise((resolve) => {
    const all = database.transaction(name).objectStore(name)[method]();
    all.onsuccess = () => resolve(all.result);
  });
  const scans = await read('scans', 'getAll');
  const stored = {
    scans: scans.map((scan) => scan.id), photographs: await read('photographs', 'getAllKeys'),
    note: scans.find((scan) => !scan.id.startsWith('00')).note,
  };
  const change = database.transaction(['scans', 'photographs'], 'readwrite');
  for (const name of ['scans', 'photographs'])
    for (const id of stored.scans) if (id.startsWith('00')) change.objectStore(name).delete(id);
  await new Promise((resolve) => { change.oncomplete = resolve; });
  database.close();
  return stored;
}"""


def killed(profile):
    """Kills every process of a browser, the one that the others belong to first."""

    def owners():
        found = subprocess.run(["pgrep", "-f", f"user-data-dir={profile}"], capture_output=True, text=True)
        return sorted(int(owner) for owner in found.stdout.split())

    while found := owners():
        for owner in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(owner, signal.SIGKILL)
        time.sleep(0.05)
    for name in ("SingletonLock", "SingletonCookie", "SingletonSocket"):
        (profile / name).unlink(missing_ok=True)


def test_kills_while_saving_lose_nothing_that_was_confirmed(playwright, chromium, tmp_path, request):
    """The browser is killed at random moments while it stores scans or notes, in turn; what it reported as stored is
    there afterwards, whole. --kills says how often."""
    seed = random.randrange(1 << 32)
    moments = random.Random(seed)
    print(f"seed {seed}")
    profile = tmp_path / "profile"
    reported, next_note = 0, 1
    for kill in range(request.config.getoption("--kills") + 1):
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=chromium, args=launch_arguments(), viewport={"width": 1000, "height": 800},
            locale="en-US",
        )  # fmt: skip
        context.set_default_timeout(PATIENCE)
        page = context.pages[0]
        page.goto(PAGE.as_uri() + ("#history" if kill else ""))
        # Of a database that the page knows nothing of: seldom, on a busy machine, the browser loses all that it has stored.
        if kill == 0:
            page.evaluate(MAKE_ANOTHER_DATABASE)
        elif page.evaluate("() => indexedDB.databases()") == []:
            pytest.skip(f"seed {seed}, kill {kill}: the browser has emptied its storage, the page's and another's")
        # That the disclaimer was accepted is written by the browser in its own time.
        page.locator(".scan-row, .gate").first.wait_for()
        if page.locator(".gate").count():
            page.get_by_role("button", name="I understand").click()
        if kill == 0:
            page.set_input_files("[data-role=choose]", FIXTURES / "phantom_brown.jpg")
            page.get_by_role("button", name="Next").click()
            page.get_by_role("button", name="Analyse").click()
            page.get_by_role("button", name="Save to history").click()
            page.get_by_role("button", name="Turn the history on").click()
            page.get_by_role("button", name="Saved").wait_for()
        else:
            page.locator(".scan-row").first.wait_for()
            assert page.locator(".message.warning").count() == 0
            stored = page.evaluate(TAKE_STORED)
            where = f"seed {seed}, kill {kill}"
            assert stored["scans"] == stored["photographs"], f"{where}: a scan without its photograph"
            if kill % 2:
                assert len(stored["scans"]) - 1 >= reported, f"{where}: {reported} scans were reported as stored"
            else:
                assert int(stored["note"]) >= reported, f"{where}: note {reported} was reported as stored"
            next_note = int(stored["note"] or 0) + 1

        lines = []
        page.on("console", lambda line, lines=lines: lines.append(line.text))
        if kill % 2:
            page.reload()
            page.locator("a.scan-card").first.click()
            page.locator("textarea").wait_for()
            page.evaluate(f"next => {{ ({WRITE_NOTES_FOR_EVER})(next); }}", next_note)
        else:
            page.evaluate(f"() => {{ ({SAVE_FOR_EVER})(); }}")
        while not any(line.startswith("confirmed ") for line in lines):
            page.wait_for_timeout(5)
        page.wait_for_timeout(moments.uniform(0, 500))
        killed(profile)
        reported = max(int(line.split()[1]) for line in lines if line.startswith("confirmed "))
        with contextlib.suppress(PlaywrightError):
            context.close()
