# ruff: noqa: E501  the scripts for the page are written as they are read there
"""A history that is locked with a passphrase: what lies in the database, who reads it, what a closed page leaves undone."""

import re
import time

from conftest import FIXTURES, PAGE, history_of, launch_arguments, scan_and_save
from playwright.sync_api import expect

PASSPHRASE = "correct horse"
IMAGE = (FIXTURES / "phantom_brown.jpg").read_bytes()
# Its file's name, what the person wrote, a class's name, and what JPEGs begin with or this one has inside.
SECRETS = [b"phantom_brown", b"Erika Muster", b"itches since spring", b"Melanocytic", b"JFIF", IMAGE[-600:-560]]

# All that the database holds, as text with one character for each byte.
RAW = """async () => {
  const open = indexedDB.open('dermafusion');
  const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
  const texts = [];
  const add = async (value) => {
    if (value instanceof Blob) await add(await value.arrayBuffer());
    else if (value instanceof ArrayBuffer) texts.push(Array.from(new Uint8Array(value), (byte) => String.fromCharCode(byte)).join(''));
    else if (ArrayBuffer.isView(value)) await add(value.slice().buffer);
    else if (typeof value === 'object' && value !== null) for (const each of Object.entries(value).flat()) await add(each);
    else texts.push(String(value));
  };
  for (const name of database.objectStoreNames) {
    const store = database.transaction(name).objectStore(name);
    const read = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
    for (const all of await Promise.all([read(store.getAll()), read(store.getAllKeys())])) await add(all);
  }
  database.close();
  return texts.join(' ');
}"""


def readable(page) -> list[bytes]:
    text = page.evaluate(RAW).encode("latin1", "replace")
    assert len(text) > 10_000
    return [secret for secret in SECRETS if secret in text]


def lock(page, wait: bool = True) -> None:
    page.get_by_role("button", name="Lock with a passphrase").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    dialog.get_by_label("The same again").fill(PASSPHRASE)
    dialog.get_by_role("button", name="Encrypt and lock").click()
    if wait:
        page.get_by_text("The history is encrypted.").wait_for()


def unlock(page, passphrase: str = PASSPHRASE) -> None:
    page.get_by_label("Passphrase", exact=True).fill(passphrase)
    page.get_by_role("button", name="Unlock").click()


def with_words(on):
    """A saved scan with a name and a note, and the history."""
    on.scan()
    on.save()
    on.go("history")
    on.page.locator("a.scan-card").click()
    on.page.get_by_label("Name of the lesion").fill("Erika Muster")
    on.page.get_by_label("Notes", exact=True).fill("itches since spring")
    on.page.get_by_text("Stored").wait_for()
    on.go("history")


def test_nothing_readable_is_left_and_a_reload_asks(visit):
    on = visit()
    page = on.page
    with_words(on)
    assert len(readable(page)) == len(SECRETS), "the test would find nothing"
    lock(page)
    page.get_by_text("1 scan, newest first").wait_for()
    assert readable(page) == []
    # A new name, and what a view works out, are encrypted too.
    page.locator("a.scan-card").click()
    page.get_by_label("Name of the lesion").fill("Erika Muster, left ear")
    page.get_by_text("Stored").wait_for()
    page.get_by_role("button", name="Check this map").click()
    page.get_by_text("Stored").wait_for()
    assert readable(page) == []

    page.reload()
    page.get_by_role("heading", name="The history is locked").wait_for()
    unlock(page, "correct house")
    page.get_by_text("The passphrase does not open this history.").wait_for()
    unlock(page)
    page.get_by_label("Notes", exact=True).wait_for()
    expect(page.get_by_label("Notes", exact=True)).to_have_value("itches since spring")
    page.wait_for_selector(".heatmap figcaption p")
    on.go("history")
    page.get_by_label("Search").fill("left ear")
    page.get_by_text("1 of 1 scans").wait_for()
    page.wait_for_function("() => document.querySelector('.scan-card img')?.naturalWidth > 0")
    assert '"note":"itches since spring"' in on.export_history()


def test_locked_views_show_nothing_and_saving_asks(visit):
    on = visit()
    page = on.page
    with_words(on)
    lock(page)
    page.get_by_role("button", name="Lock now").click()
    page.get_by_role("heading", name="The history is locked").wait_for()
    on.wait_until_ready()
    for place in ("scan", "about", "history", "lesion/Erika%20Muster"):
        on.go(place)
        expect(page.locator("main")).not_to_contain_text("Erika")
        expect(page.locator(".scan-card")).to_have_count(0)
    on.go("scan")
    on.scan("phantom_vascular.jpg")
    save = page.get_by_role("button", name="Save to history")
    save.click()
    page.get_by_role("dialog").get_by_text("it is not saved").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(save).to_be_enabled()
    save.click()
    for words in ("wrong horse", PASSPHRASE):
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Passphrase", exact=True).fill(words)
        dialog.get_by_role("button", name="Unlock").click()
        if words != PASSPHRASE:
            page.get_by_role("dialog").get_by_text("does not open this history").wait_for()
    page.get_by_role("button", name="Saved").wait_for()
    assert readable(page) == []
    on.go("history")
    page.get_by_text("2 scans, newest first").wait_for()


def test_the_passphrase_is_changed_and_the_lock_removed(visit):
    on = visit()
    page = on.page
    with_words(on)
    lock(page)
    dialog = page.get_by_role("dialog")

    def change(before: str) -> None:
        page.get_by_role("button", name="Change the passphrase").click()
        dialog.get_by_label("Passphrase", exact=True).fill(before)
        dialog.get_by_role("button", name="Next").click()
        for label in ("Passphrase", "The same again"):
            dialog.get_by_label(label, exact=True).fill("battery staple")
        dialog.get_by_role("button", name="Change the passphrase").click()

    change("wrong horse")
    page.get_by_text("The passphrase does not open this history.").wait_for()
    change(PASSPHRASE)
    page.get_by_text("The passphrase is changed.").wait_for()
    page.reload()
    unlock(page)
    page.get_by_text("The passphrase does not open this history.").wait_for()
    unlock(page, "battery staple")
    page.get_by_role("button", name="Remove the lock").click()
    dialog.get_by_role("button", name="Remove the lock").click()
    page.get_by_text("The lock is removed").wait_for()
    assert len(readable(page)) == len(SECRETS)
    page.reload()
    page.get_by_text("1 scan, newest first").wait_for()


def test_a_forgotten_passphrase_leaves_deletion(visit):
    on = visit()
    with_words(on)
    lock(on.page)
    on.page.reload()
    on.page.get_by_role("button", name="Turn off and delete").click()
    on.page.get_by_role("dialog").get_by_role("button", name="Turn off and delete").click()
    on.page.get_by_text("The history is off").wait_for()
    assert on.page.evaluate("async () => (await indexedDB.databases()).length") == 0


def test_another_tab_is_locked_with_it(visit):
    on = visit()
    with_words(on)
    other = on.context.new_page()
    other.goto(PAGE.as_uri() + "#history")
    other.locator("a.scan-card").click()
    other.get_by_label("Notes", exact=True).wait_for()
    lock(on.page)
    other.get_by_role("heading", name="The history is locked").wait_for()
    unlock(other)
    other.get_by_label("Notes", exact=True).fill("itches since spring, still")
    other.get_by_text("Stored").wait_for()
    assert readable(on.page) == []
    # Both are open now; one locks the other again.
    on.page.get_by_role("button", name="Lock now").click()
    other.get_by_role("heading", name="The history is locked").wait_for()
    unlock(other)
    expect(other.get_by_label("Notes", exact=True)).to_have_value("itches since spring, still")


# A tab that hears nothing of the others.
DEAF = "window.BroadcastChannel = class { postMessage() {} };"


def test_a_tab_that_has_not_heard_of_the_lock_stores_nothing_readable(visit):
    on = visit(script=DEAF)
    with_words(on)
    on.page.locator("a.scan-card").click()
    on.page.get_by_label("Notes", exact=True).wait_for()
    other = on.context.new_page()
    other.goto(PAGE.as_uri() + "#history")
    lock(other)
    on.page.get_by_label("Notes", exact=True).fill("itches since spring, and bleeds")
    on.page.get_by_text("The history was locked").wait_for()
    assert readable(other) == []


# The browser encrypts, or decrypts, only so often, as if the page were closed then.
STUCK = """(often) => {
  let left = often;
  for (const name of ['encrypt', 'decrypt']) {
    const own = SubtleCrypto.prototype[name];
    SubtleCrypto.prototype[name] = function (...given) { return (left -= 1) < 0 ? new Promise(() => {}) : own.apply(this, given); };
  }
}"""


def test_a_page_closed_while_it_encrypts_or_decrypts_goes_on_at_the_next_unlocking(visit):
    on = history_of(visit, 60, "copy.lesion = 'Erika Muster'; copy.note = `itches since spring ${index}`;")
    page = on.page
    page.get_by_text("61 scans, newest first").wait_for()
    page.evaluate(STUCK, 60)
    lock(page, wait=False)
    bar = page.get_by_role("progressbar", name="Storing every scan anew")
    expect(bar).to_have_attribute("max", "122")
    page.wait_for_function("() => document.querySelector('progress').value > 0")
    page.reload()
    page.get_by_role("heading", name="The history is locked").wait_for()
    assert readable(page) != [], "nothing was left to do"
    unlock(page)
    page.get_by_text("61 scans, newest first").wait_for()
    assert readable(page) == []

    page.evaluate(STUCK, 60)
    page.get_by_role("button", name="Remove the lock").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove the lock").click()
    page.wait_for_function("() => document.querySelector('progress')?.value > 0")
    page.reload()
    unlock(page)
    page.get_by_text("61 scans, newest first").wait_for()
    page.get_by_role("button", name="Lock with a passphrase").wait_for()
    assert len(set(re.findall(r"itches since spring \d+", page.evaluate(RAW)))) == 60
    page.get_by_label("Search").fill("spring 47")
    page.locator("a.scan-card").click()
    page.wait_for_selector(".heatmap figcaption p")


def test_a_thousand_records_open_soon(visit):
    on = history_of(visit, 999, "copy.lesion = `lesion ${index % 80}`; copy.note = `itches ${index}`;")
    page = on.page
    start = time.monotonic()
    lock(page)
    print(f"1,000 records encrypted in {time.monotonic() - start:.1f} s")
    page.reload()
    page.get_by_role("heading", name="The history is locked").wait_for()
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    passed = page.evaluate("""async () => {
      const start = performance.now();
      document.querySelector('form').requestSubmit();
      while (!document.querySelector('.scan-row')) await new Promise(requestAnimationFrame);
      return performance.now() - start;
    }""")
    print(f"1,000 encrypted records: {passed:.0f} ms from the passphrase to the list")
    assert passed < 10_000
    page.get_by_text("1,000 scans, newest first").wait_for()
    page.get_by_label("Search").fill("itches 777")
    page.get_by_text("1 of 1,000 scans").wait_for()


def test_the_files_of_a_browser_whose_history_was_locked_while_empty(playwright, chromium, tmp_path):
    context = playwright.chromium.launch_persistent_context(
        tmp_path, executable_path=chromium, args=launch_arguments(), locale="en-US"
    )
    page = context.pages[0]
    page.goto(PAGE.as_uri() + "#history")
    page.get_by_role("button", name="I understand").click()
    page.get_by_role("button", name="Turn the history on").click()
    lock(page)
    scan_and_save(page, "phantom_brown.jpg")
    page.evaluate("() => { location.hash = '#history'; }")
    page.locator("a.scan-card").click()
    page.get_by_label("Name of the lesion").fill("Erika Muster")
    page.get_by_label("Notes", exact=True).fill("itches since spring")
    page.get_by_text("Stored").wait_for()
    context.close()
    stored = [path for path in tmp_path.rglob("*") if path.is_file() and "IndexedDB" in str(path)]
    assert sum(path.stat().st_size for path in stored) > len(IMAGE), "the test would find nothing"
    for path in stored:
        content = path.read_bytes()
        assert not [
            secret for secret in SECRETS if secret in content or secret.decode("latin1").encode("utf-16-le") in content
        ], path
