# ruff: noqa: E501  the scripts for the page are written as they are read there
"""The history: saved, found again, broken, full, refused, shared by tabs, cut off in the middle."""

import contextlib
import os
import random
import re
import signal
import subprocess
import time

import pytest
from conftest import FIXTURES, PAGE, PATIENCE, copies, launch_arguments
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
    expect(on.page.get_by_role("link", name="Start your first scan")).to_have_count(1)


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
    expect(page.locator(".scan-row")).to_have_count(2)
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
    expect(page.get_by_label("Notes", exact=True)).to_have_value("itches, since spring")
    page.wait_for_selector(".heatmap figcaption p")
    page.locator(".time-line").get_by_role("link", name="Compare with").click()
    page.get_by_role("heading", name="left shoulder: two scans compared").wait_for()
    page.get_by_text(re.compile("minutes? between them$")).wait_for()
    expect(page.locator(".compare-photographs canvas")).to_have_count(2)
    # Both have one order of classes.
    names = page.locator(".compare .bars").evaluate_all(
        "(lists) => lists.map((list) => [...list.querySelectorAll('.bar-name')].map((name) => name.firstChild.textContent))"
    )
    assert names[0] == names[1] and len(names[0]) == 7
    # The page says which data it stores, since when, and how to delete them.
    on.go("about")
    page.get_by_text(re.compile(r"^2 scans, the oldest of \S.* \d{4}\.")).wait_for()
    expect(page.get_by_role("button", name="Delete all scans")).to_be_visible()

    on.go("history")
    page.get_by_role("button", name="Delete left shoulder").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.locator(".scan-row")).to_have_count(2)
    page.get_by_role("button", name="Delete left shoulder").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_text("1 scan, newest first").wait_for()
    page.get_by_role("button", name="Turn off and delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Turn off and delete").click()
    page.get_by_text("The history is off").wait_for()
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0


def test_a_view_that_fails_says_so(visit):
    on = visit()
    on.scan()
    on.save()
    on.page.evaluate(
        "() => { IDBObjectStore.prototype.getAll = () => { throw new DOMException('no', 'UnknownError'); }; }"
    )
    on.go("history")
    on.page.get_by_role("heading", name="This view could not be shown").wait_for()
    expect(on.page.get_by_role("button", name="Try again")).to_have_count(1)


def test_a_reload_waits_for_a_name_that_is_still_stored(visit):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    on.go("history")
    page.locator("a.scan-card").click()
    page.get_by_label("Name of the lesion").fill("left ear")
    page.get_by_text("Stored").wait_for()
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    # The last letters come just before the page is left. They are nowhere but in the history.
    page.evaluate("""() => {
      const field = document.querySelector('input[maxlength]');
      field.value += ' lobe';
      field.dispatchEvent(new Event('input', { bubbles: true }));
      location.reload();
    }""")
    page.get_by_role("heading", name="left ear lobe").wait_for()
    assert asked == ["beforeunload"]
    assert page.evaluate("() => [history.state, sessionStorage.length, localStorage.length]") == [None, 0, 1]
    page.reload()
    on.wait_until_ready()
    expect(page.get_by_label("Name of the lesion")).to_have_value("left ear lobe")


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


def test_lists_show_what_the_scans_say(visit):
    """Rows follow their scans: those of an older version are made, a new name is in both, and what is deleted is in neither."""
    on = visit()
    on.scan()
    on.save()
    copies(on, 3, "copy.lesion = `spot ${index}`; copy.note = index === 1 ? 'Itches' : '';")
    on.go("history")
    page = on.page
    page.get_by_text("4 scans, newest first").wait_for()
    page.get_by_label("Search").fill("ITCHES")
    page.get_by_text("1 of 4 scans").wait_for()
    page.locator("a.scan-card").click()
    page.get_by_label("Name of the lesion").fill("left ear")
    page.get_by_label("Notes", exact=True).focus()
    page.get_by_text("Stored").wait_for()
    on.go("history")
    expect(page.locator(".scan-card .file-name")).to_have_text("left ear")
    page.wait_for_function("() => document.querySelector('.scan-card img')?.naturalWidth > 0")
    page.get_by_role("button", name="Delete left ear").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_text("No scan matches.").wait_for()
    counts = page.evaluate("""async () => {
      const open = indexedDB.open('dermafusion');
      const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
      const stores = database.transaction(['scans', 'rows']);
      const count = (name) => new Promise((resolve) => { const all = stores.objectStore(name).count(); all.onsuccess = () => resolve(all.result); });
      const found = [await count('scans'), await count('rows')];
      database.close();
      return found;
    }""")
    assert counts == [3, 3]


def test_a_broken_record_is_skipped_and_named(visit):
    on = visit()
    on.scan()
    on.save()
    on.page.evaluate(PUT_BROKEN)
    on.go("history")
    told = on.page.locator(".message.warning").inner_text()
    assert "One record cannot be read" in told and "old lesion.jpg" in told
    expect(on.page.locator(".scan-row")).to_have_count(1)
    on.page.get_by_role("button", name="Delete what cannot be read").click()
    on.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    on.page.wait_for_function("() => !document.querySelector('.message.warning')")


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
    expect(other.get_by_label("Notes", exact=True)).to_have_value("itches, since spring")
    expect(other.get_by_label("Name of the lesion")).to_have_value("left shoulder")

    other.get_by_role("button", name="Delete").click()
    other.get_by_role("dialog").get_by_role("button", name="Delete").click()
    other.get_by_text("There are no scans yet.").wait_for()
    on.page.get_by_label("Notes", exact=True).fill("later")
    on.page.get_by_text("This scan was deleted meanwhile").wait_for()
    on.go("history")
    on.page.get_by_text("There are no scans yet.").wait_for()


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
    names = other.locator(".scan-row").all_text_contents()
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
    kills = request.config.getoption("--kills") or (2 if request.config.getoption("--quick") else 4)
    for kill in range(kills + 1):
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=chromium, args=launch_arguments(), viewport={"width": 1000, "height": 800},
            locale="en-US",
        )  # fmt: skip
        context.set_default_timeout(PATIENCE)
        page = context.pages[0]
        page.goto(PAGE.as_uri() + ("#history" if kill else ""))
        # A database that the page does not know: seldom, on a busy machine, the browser loses all that it has stored.
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
            expect(page.locator(".message.warning")).to_have_count(0)
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
