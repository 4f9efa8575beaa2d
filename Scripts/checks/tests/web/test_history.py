# ruff: noqa: E501  the scripts for the page are written as they are read there
"""The history: saved, found again, exported, imported, broken, full, refused, shared by tabs, cut off in the middle."""

import json
import os
import shutil
import signal
import subprocess
import time

import pytest
from conftest import PAGE, launch_arguments

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
    page.get_by_text("0 days between them").wait_for()
    assert page.locator(".compare canvas").count() == 2

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
    assert page.get_by_role("button", name="Save to history").is_enabled()
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
    assert on.page.locator(".scan-row").count() == 401


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
  const [scan] = await new Promise((resolve) => { all.onsuccess = () => resolve(all.result); });
  for (let index = 0; ; index += 1) {
    const change = database.transaction(['scans', 'photographs'], 'readwrite', { durability: 'strict' });
    const id = (index + 1).toString(16).padStart(32, '0');
    change.objectStore('scans').put({ ...scan, id });
    change.objectStore('photographs').put(new Blob([crypto.getRandomValues(new Uint8Array(65536)), new Uint8Array(2_000_000)]), id);
    await new Promise((resolve) => { change.oncomplete = resolve; });
    document.title = `saved ${index + 1}`;
  }
}"""


def test_a_kill_while_saving_loses_no_earlier_scan(playwright, chromium, tmp_path):
    """The browser's process is killed in the middle of writing; what was reported as saved is there afterwards, whole."""
    options = {
        "executable_path": chromium,
        "args": launch_arguments(),
        "viewport": {"width": 1000, "height": 800},
        "locale": "en-US",
    }
    profile = tmp_path / "profile"
    context = playwright.chromium.launch_persistent_context(profile, **options)
    page = context.pages[0]
    from conftest import FIXTURES

    page.goto(PAGE.as_uri())
    page.get_by_role("button", name="I understand").click()
    page.set_input_files("[data-role=choose]", FIXTURES / "phantom_brown.jpg")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Analyse").click()
    page.get_by_role("button", name="Save to history").click()
    page.get_by_role("button", name="Turn the history on").click()
    page.get_by_role("button", name="Saved").wait_for()
    page.evaluate(f"() => {{ ({SAVE_FOR_EVER})(); }}")
    page.wait_for_function("() => /^saved [0-9]*[1-9]/.test(document.title) && Number(document.title.slice(6)) >= 5")
    reported = int(page.title().removeprefix("saved "))
    owners = subprocess.run(["pgrep", "-f", f"user-data-dir={profile}"], capture_output=True, text=True).stdout.split()
    main = min(int(owner) for owner in owners)  # the browser itself is older than its helpers
    os.kill(main, signal.SIGKILL)
    time.sleep(1)
    try:
        context.close()
    except Exception:  # noqa: BLE001  the connection died with the browser
        pass
    for name in ("SingletonLock", "SingletonCookie", "SingletonSocket"):
        (profile / name).unlink(missing_ok=True)

    copy = tmp_path / "copy"
    shutil.copytree(profile, copy, symlinks=True, ignore_dangling_symlinks=True)
    context = playwright.chromium.launch_persistent_context(copy, **options)
    page = context.pages[0]
    page.goto(PAGE.as_uri() + "#history")
    # That the disclaimer was accepted is written by the browser in its own time.
    page.locator(".scan-row, .gate").first.wait_for()
    if page.locator(".gate").count():
        page.get_by_role("button", name="I understand").click()
    page.locator(".scan-row").first.wait_for()
    assert page.locator(".scan-row").count() >= reported + 1, f"{reported} copies were reported as saved"
    assert page.locator(".message.warning").count() == 0
    whole = page.evaluate("""async () => {
      const open = indexedDB.open('dermafusion');
      const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
      const read = (store, method) => new Promise((resolve) => { const all = database.transaction(store).objectStore(store)[method](); all.onsuccess = () => resolve(all.result); });
      return { scans: await read('scans', 'getAllKeys'), photographs: await read('photographs', 'getAllKeys') };
    }""")
    assert whole["scans"] == whole["photographs"], "a scan was stored without its photograph"
    context.close()
