# ruff: noqa: E501  the scripts for the page are written as they are read there
"""Browsers that refuse storage, whose disk is full, or whose storage does not answer."""

from conftest import PAGE, scan_and_save
from playwright.sync_api import expect


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


SILENT = """
  // The browser does not answer that a database is open until `answer` is called.
  const open = IDBFactory.prototype.open;
  const held = [];
  IDBFactory.prototype.open = function (...given) {
    if (window.answers) return open.apply(this, given);
    const request = {};
    held.push(() => {
      const real = open.apply(this, given);
      const told = (name) => (event) => {
        request.transaction = real.transaction;
        [request.result, request.error] = real.readyState === 'done' ? [name === 'onerror' ? undefined : real.result, real.error] : [];
        request[name]?.(event);
      };
      for (const name of ['onupgradeneeded', 'onsuccess', 'onerror']) real[name] = told(name);
    });
    return request;
  };
  window.answer = () => { window.answers = true; for (const each of held.splice(0)) each(); };
"""


def test_a_storage_that_never_answers_leaves_the_page_usable(visit):
    on = visit(script=SILENT)
    on.scan()
    on.page.get_by_role("button", name="Save to history").click()
    on.page.get_by_role("button", name="Saved").wait_for()
    on.go("history")
    on.page.get_by_text("1 scan, newest first").wait_for()
    on.page.get_by_text("Scans are kept only until this page is closed").wait_for()
    expect(on.page.get_by_text("stay in this browser on this device")).to_have_count(0)
    on.page.get_by_role("button", name="Turn off and delete").click()
    on.page.get_by_role("dialog").get_by_role("button", name="Turn off and delete").click()
    on.page.get_by_text("The history is off").wait_for()


def test_an_engine_that_never_answers_is_said(visit):
    """As a policy of the browser or another program may have it: a worker that starts and does nothing."""
    on = visit(
        script="""window.Worker = class { postMessage() {} terminate() {} };
          const later = window.setTimeout; window.setTimeout = (call, time, ...rest) => later(call, time === 120000 ? 300 : time, ...rest);""",
        ready=False,
    )
    on.page.get_by_text("the engine did not start within two minutes").first.wait_for()
    assert on.page.get_by_text("Getting the model ready").count() == 0


def test_a_storage_that_answers_late_takes_what_was_kept_meanwhile(visit):
    on = visit()
    on.scan()
    on.save()
    late = on.context.new_page()
    late.add_init_script(SILENT)
    late.goto(PAGE.as_uri() + "#history")
    late.get_by_text("Scans are kept only until this page is closed").wait_for()
    expect(late.locator(".scan-row")).to_have_count(0)
    scan_and_save(late, "phantom_vascular.jpg")
    late.evaluate("() => { location.hash = '#history'; }")
    late.get_by_text("1 scan, newest first").wait_for()
    # The view follows, whenever the answer comes.
    late.evaluate("() => window.answer()")
    late.get_by_text("2 scans, newest first").wait_for()
    expect(late.get_by_text("Scans are kept only until this page is closed")).to_have_count(0)
    on.go("history")
    on.page.get_by_text("2 scans, newest first").wait_for()


def test_a_history_in_memory_is_not_closed_without_a_question(visit):
    on = visit(script="IDBFactory.prototype.open = () => { throw new DOMException('private', 'SecurityError'); };")
    page = on.page
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    on.scan()
    page.get_by_role("button", name="Save to history").click()
    page.get_by_role("button", name="Turn the history on").click()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Saved").wait_for()
    page.get_by_role("button", name="Discard").click()
    page.close(run_before_unload=True)
    page.get_by_role("heading", name="Scan").first.wait_for()
    assert asked == ["beforeunload"]
    on.go("history")
    page.get_by_role("button", name="Delete all scans").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_text("There are no scans yet.").wait_for()
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    assert asked == ["beforeunload"]
