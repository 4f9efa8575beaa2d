# ruff: noqa: E501  the scripts for the page are written as they are read there
"""Files that hold the history and give it back: whole, checked, with a passphrase."""

import json

import pytest
from conftest import SHIPPED_PAGE
from playwright.sync_api import expect
from test_answers import BETWEEN


def history_of_one_scan(on, folder):
    """The file of a history with one scan."""
    on.scan()
    on.save()
    on.go("history")
    archive = folder / "history.jsonl"
    archive.write_text(on.export_history())
    return archive


def test_export_and_import_carry_everything(visit, tmp_path):
    archive = history_of_one_scan(visit(), tmp_path)
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
    expect(second.page.locator(".scan-row")).to_have_count(1)
    second.page.locator("a.scan-card").click()
    second.page.wait_for_selector(".heatmap figcaption p")

    second.go("history")
    other = tmp_path / "other.jsonl"
    other.write_text('{"hello": 1}\n')
    second.page.set_input_files("[data-role=import]", other)
    second.page.get_by_text("This file is not a history of DermaFusion.").wait_for()
    expect(second.page.locator(".scan-row")).to_have_count(1)


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
    archive = history_of_one_scan(visit(), tmp_path)
    second = visit(script=SLOW_DATABASE)
    second.go("history")
    second.page.get_by_role("button", name="Turn the history on").click()
    second.page.set_input_files("[data-role=import]", archive)
    second.page.get_by_text("Scans added: 1. Here already: 0.").wait_for(timeout=20_000)
    expect(second.page.get_by_role("dialog")).to_have_count(0)
    expect(second.page.locator(".scan-row")).to_have_count(1)


def test_records_that_a_view_would_stumble_over_are_named_and_the_good_ones_taken(visit, tmp_path):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    on.go("history")
    head, line = on.export_history().splitlines()

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
    on = visit(file=SHIPPED_PAGE)
    page = on.page
    on.scan("phantom_pale.jpg")
    on.save()
    on.go("history")
    head, line = on.export_history().splitlines()
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
        good | {"id": "e" * 32, "name": "four bytes", "photograph": "data:image/jpeg;base64,/9j/2Q=="},
        good | {"id": "b" * 32, "name": "no picture", "photograph": "data:image/png;base64,bm90IGEgcGljdHVyZQ=="},
        good | {"id": "c" * 32, "name": "no thumbnail", "thumbnail": "data:image/svg+xml;base64,PHN2Zy8+"},
        # A true record of an older version gets the engine's sentence of today.
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
    expect(page.locator(".scan-row")).to_have_count(2)
    page.get_by_label("Search").fill("older")
    page.locator("a.scan-card").click()
    page.wait_for_selector(".result")
    expect(page.locator(".summary")).to_have_text(result["summary"], use_inner_text=True)
    expect(page.locator("main")).not_to_contain_text(summary, use_inner_text=True)


def test_a_full_disk_during_an_import_tells_how_much_was_stored(visit, tmp_path):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    on.go("history")
    head, line = on.export_history().splitlines()
    diary = "x" * 1000
    records = [json.dumps(json.loads(line) | {"id": f"{number:032x}", "diary": diary}) for number in range(60)]
    archive = tmp_path / "history.jsonl"
    archive.write_text("\n".join([head, *records]))
    # The 50th record of an import finds the disk full; an error of the browser has a number for a code.
    page.evaluate("""() => {
      const put = IDBObjectStore.prototype.put;
      let scans = 0;
      IDBObjectStore.prototype.put = function (...given) {
        if (this.name === 'scans') scans += 1;
        if (scans < 50) return put.apply(this, given);
        throw new DOMException('Encountered full disk', 'QuotaExceededError');
      };
    }""")
    page.set_input_files("[data-role=import]", archive)
    told = page.locator(".message.danger")
    told.get_by_text("is full").wait_for()
    expect(told).to_contain_text("40 scans were stored before.", use_inner_text=True)
    page.get_by_text("41 scans, newest first").wait_for()
    assert diary not in on.export_history(), "what the page does not know was kept"


def test_an_empty_history_is_not_called_empty_while_it_is_filled(visit, tmp_path):
    archive = history_of_one_scan(visit(), tmp_path)
    on = visit(script=BETWEEN)
    page = on.page
    on.go("history")
    page.get_by_role("button", name="Turn the history on").click()
    page.get_by_text("There are no scans yet.").wait_for()
    page.evaluate("() => { window.changeAnswer = (data) => new Promise((go) => { window.go = () => go(data); }); }")
    page.set_input_files("[data-role=import]", archive)
    page.get_by_role("progressbar", name="Importing").wait_for()
    page.wait_for_function("() => window.go")
    expect(page.get_by_text("There are no scans yet.")).to_have_count(0)
    page.evaluate("() => window.go()")
    page.get_by_text("Scans added: 1.").wait_for()


@pytest.mark.slow
def test_hundreds_of_scans_are_imported_while_the_page_says_so(visit, tmp_path):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    on.go("history")
    head, line = on.export_history().splitlines()
    records = [json.dumps(json.loads(line) | {"id": f"{number:032x}"}) for number in range(600)]
    archive = tmp_path / "history.jsonl"
    archive.write_text("\n".join([json.dumps(json.loads(head) | {"scans": 600}), *records]))
    page.set_input_files("[data-role=import]", archive)
    page.get_by_role("progressbar", name="Importing").wait_for()
    page.get_by_text("Scans added: 600. Here already: 0.").wait_for()
    page.get_by_text("601 scans, newest first").wait_for()


def test_an_export_with_a_passphrase_opens_with_it_alone(visit, tmp_path):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    on.go("history")
    page.get_by_role("button", name="Export with a passphrase").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Passphrase", exact=True).fill("seven c")
    said = dialog.get_by_label("Passphrase", exact=True).evaluate("(field) => field.validationMessage")
    assert said == "The passphrase has fewer than 8 characters."
    dialog.get_by_label("Passphrase", exact=True).fill("correct horse")
    dialog.get_by_label("The same again").fill("correct house")
    dialog.get_by_role("button", name="Encrypt and export").click()
    expect(dialog, "two that differ are taken").to_have_count(1)
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
    archive = tmp_path / "history.jsonl"
    archive.write_text(on.export_history())
    page.set_input_files("[data-role=import]", archive)
    page.get_by_text("Scans added: 0. Here already: 1.").wait_for()


def test_a_refused_record_is_told_in_the_readers_language(visit, tmp_path):
    on = visit()
    on.scan()
    on.save()
    on.go("history")
    head, line = on.export_history().splitlines()
    record = json.loads(line) | {"id": "a" * 32, "name": "a false sum"}
    record["result"]["probabilities"] = dict.fromkeys(record["result"]["probabilities"], 0.5)
    archive = tmp_path / "history.jsonl"
    archive.write_text("\n".join([head, json.dumps(record)]))
    on.page.get_by_role("button", name="Deutsch").click()
    # The view is drawn anew, with another field for the file.
    on.page.get_by_role("heading", name="Verlauf").first.wait_for()
    on.wait_until_shown()
    on.page.set_input_files("[data-role=import]", archive)
    on.page.get_by_text("a false sum").first.wait_for()
    told = on.page.locator(".message.warning").inner_text()
    assert "seine Wahrscheinlichkeiten ergeben zusammen 3,5 und müssen 1 ergeben" in told, told
