# ruff: noqa: E501  the scripts for the page are written as they are read there
"""Measures the page in Chromium and prints its figures; Scripts/checks/web --measure runs it. Nothing here passes or fails.

Other pages, named as arguments, are opened in turn with the page, for a comparison.

Beside the time that passes stands the processors' own, of all threads of the page: on a machine with other work the first
says little.
"""

import base64
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from conftest import (
    FIXTURES,
    PATIENCE,
    SHIPPED_PAGE,
    Visit,
    copies,
    launch_arguments,
    run_program,
    shutil,
    sync_playwright,
)

OPENINGS = 7
WARM_UP = 2
RUNS = 15
# Photographs that one person opens one after the other, and after which of them the memory is looked at.
PHOTOGRAPHS = ("phantom_brown.jpg", "phantom_melanoma.jpg", "phantom_vascular.jpg", "checks.png")
LOOKS = (10, 20, 30, 40, 50)
# Seconds in which the page gets ready, on a machine with other work too.
UNWATCHED = 5

CLASSIFY = """async ([text, run]) => {
  window.file = new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], `lesion ${run}.jpg`);
  const start = performance.now();
  await window.dermafusion.classify(window.file, { age: 55, sex: 'male', site: 'back' });
  return performance.now() - start;
}"""

HEATMAP = """async (lesionClass) => {
  const start = performance.now();
  await window.dermafusion.heatmap(window.file, { class: lesionClass, age: 55, sex: 'male', site: 'back' });
  return performance.now() - start;
}"""

DROP = """(text) => {
  const files = [new File([window.bytesOf(text)], 'lesion')];
  document.ondrop({ preventDefault() {}, dataTransfer: { files } });
}"""

LONG_TASKS = """() => {
  window.longTasks = [];
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: 'longtask' });
}"""

# The browser's record of an opening at which nobody looked.
OPENING = """() => new Promise((resolve) => {
  const tasks = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: 'longtask', buffered: true });
  setTimeout(() => resolve({ ready: performance.getEntriesByName('engine-ready')[0]?.startTime, paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime, tasks }), 500);
})"""


def private_memory(pids: set[int]) -> int:
    """The memory that the processes share with no other, in bytes."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as lines:
                total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))
        except OSError:
            continue
    return total


def processor_time(pids: set[int]) -> float:
    """The processors' time of all threads of the processes, in milliseconds."""
    total = 0
    for pid in pids:
        for schedule in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            try:
                total += int(schedule.read_text().split()[0])
            except OSError:  # the thread has ended
                continue
    return total / 1e6


def renderers(session) -> set[int]:
    return {
        each["id"] for each in session.send("SystemInfo.getProcessInfo")["processInfo"] if each["type"] == "renderer"
    }


class Unwatched:
    """A running browser to which nobody is connected while a page opens in a new tab.

    A connected browser decodes the whole file a second time, on the page's own thread, to show it.
    """

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [
                shutil.which("chromium"),
                "--headless=new",
                "--remote-debugging-port=0",
                f"--user-data-dir={self.profile.name}",
                "--no-first-run",
                *launch_arguments(),
                "about:blank",
            ],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        lines = iter(self.process.stderr)
        self.address, self.host = next(
            match.groups() for line in lines if (match := re.search(r"(ws://([^/]+)/\S+)", line))
        )
        threading.Thread(target=lambda: list(lines), daemon=True).start()
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()
        self.profile.cleanup()

    def renderers(self) -> set[int]:
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                own = os.getpgid(int(folder.name)) == self.process.pid
                if own and "--type=renderer" in (folder / "cmdline").read_text():
                    found.add(int(folder.name))
            except OSError:  # the process has ended
                continue
        return found

    def open(self, playwright, page: Path) -> dict:
        """The browser's record of the opening, and the processors' time of all pages' processes."""
        # A new tab may take a process that waits for one.
        before = processor_time(self.renderers())
        request = urllib.request.Request(f"http://{self.host}/json/new?{page.as_uri()}", method="PUT")
        urllib.request.urlopen(request).close()
        time.sleep(UNWATCHED)
        own = processor_time(self.renderers()) - before
        browser = playwright.chromium.connect_over_cdp(self.address)
        tab = next(tab for context in browser.contexts for tab in context.pages if tab.url == page.as_uri())
        tab.wait_for_function("() => performance.getEntriesByName('engine-ready').length > 0", timeout=PATIENCE)
        figures = tab.evaluate(OPENING) | {"processors": own}
        tab.close()
        browser.close()
        return figures


def measure_openings(playwright, pages: list[Path]) -> None:
    """Opens the pages in turn, so that what else the machine does weighs on all of them."""
    openings: dict[Path, list[dict]] = {page: [] for page in pages}
    with Unwatched() as browser:
        browser.open(playwright, pages[0])
        for _ in range(OPENINGS):
            for page in pages:
                openings[page].append(browser.open(playwright, page))
    for page, figures in openings.items():
        middle = {key: statistics.median(each[key] for each in figures) for key in ("paint", "ready", "processors")}
        ready = [each["ready"] for each in figures]
        print(
            f"{page.name} opened with nobody watching: first words {middle['paint']:.0f} ms, ready {middle['ready']:.0f} ms "
            f"({min(ready):.0f} to {max(ready):.0f}), of the processors {middle['processors']:.0f} ms, longest task of the page's "
            f"own thread {statistics.median(max(each['tasks'], default=0) for each in figures):.0f} ms; medians of {len(figures)}"
        )


RECORDS = 10_000
OPEN_HISTORY = """async () => {
  const start = performance.now();
  location.hash = '#history';
  while (!document.querySelector('.scan-row')) await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""
SEARCH = """async (words) => {
  const search = document.querySelector('input[type=search]');
  const blocked = [];
  for (let end = 1; end <= words.length; end += 1) {
    const start = performance.now();
    search.value = words.slice(0, end);
    search.dispatchEvent(new Event('input', { bubbles: true }));
    blocked.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return blocked;
}"""


def measure_history(on) -> None:
    """Times in which a history of many records opens, and for which a keystroke of its search blocks the page."""
    copies(on, RECORDS, "copy.lesion = `lesion ${index % 800}`; copy.note = `note ${index}`;")
    opened = []
    for _ in range(RUNS):
        on.go("scan")
        opened.append(on.page.evaluate(OPEN_HISTORY))
    on.page.wait_for_timeout(1000)
    blocked = on.page.evaluate(SEARCH, "note 777")
    print(
        f"history of {RECORDS} records: opened in {statistics.median(opened):.0f} ms; a keystroke of the search blocks for at most {max(blocked):.0f} ms"
    )


def measure_memory(browser, session) -> None:
    """Memory of the page while photographs are opened, analysed and let go of one by one, as a phone sees it."""
    on = Visit(browser)
    page = on.page
    texts = [base64.b64encode((FIXTURES / name).read_bytes()).decode() for name in PHOTOGRAPHS]
    held = []
    for run in range(1, LOOKS[-1] + 1):
        # Dropped and waited for by locators: what Playwright chooses files with, or hands out, it keeps in the page's memory.
        page.evaluate(DROP, texts[run % len(texts)])
        page.get_by_role("button", name="Next").click()
        page.get_by_role("button", name="Analyse").click()
        page.locator(".heatmap figcaption p").first.wait_for()
        page.get_by_role("button", name="Discard").click()
        page.get_by_role("dialog").get_by_role("button", name="Discard").click()
        page.locator(".drop-zone").wait_for()
        if run in LOOKS:
            page.request_gc()
            page.wait_for_timeout(1000)
            held.append(private_memory(renderers(session)) / 1e6)
    told = ", ".join(f"{memory:.0f}" for memory in held)
    print(
        f"private memory of the page after {', '.join(map(str, LOOKS))} photographs: {told} MB ({held[-1] - held[0]:+.0f} MB)"
    )
    on.close()


def main() -> None:
    text = base64.b64encode((FIXTURES / "phantom_brown.jpg").read_bytes()).decode()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=launch_arguments())
        session = browser.new_browser_cdp_session()
        times: dict[str, list[tuple[float, float]]] = {
            "page opened to ready": [],
            "photograph to result": [],
            "heatmap": [],
        }
        for _ in range(OPENINGS):
            context = browser.new_context()
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.goto("about:blank")
            start = time.perf_counter()
            page.goto(SHIPPED_PAGE.as_uri(), wait_until="commit")
            page.wait_for_function("() => window.dermafusion")
            page.evaluate("() => window.dermafusion.ready")
            passed = 1000 * (time.perf_counter() - start)
            times["page opened to ready"].append((passed, processor_time(renderers(session))))
            context.close()

        on = Visit(browser)
        first = on.page.evaluate("() => window.dermafusion.ready.then(({ classes }) => classes[0].class)")
        for run in range(RUNS + WARM_UP):
            for name, action, argument in (
                ("photograph to result", CLASSIFY, [text, run]),
                ("heatmap", HEATMAP, first),
            ):
                before = processor_time(renderers(session))
                passed = on.page.evaluate(action, argument)
                if run >= WARM_UP:
                    times[name].append((passed, processor_time(renderers(session)) - before))
        for name, pairs in times.items():
            passed, own = zip(*pairs, strict=True)
            print(
                f"{name}: {statistics.median(passed):.0f} ms ({min(passed):.0f} to {max(passed):.0f}), of the processors "
                f"{statistics.median(own):.0f} ms ({min(own):.0f} to {max(own):.0f}); medians of {len(pairs)}"
            )

        on.close()
        measure_memory(browser, session)

        on = Visit(browser)
        on.page.evaluate(LONG_TASKS)
        on.scan()
        on.save()
        on.go("history")
        on.page.wait_for_timeout(500)
        tasks = on.page.evaluate("() => window.longTasks")
        print(f"longest task of the page's own thread: {max(tasks, default=0):.0f} ms ({len(tasks)} above 50 ms)")
        measure_history(on)
        on.close()
        browser.close()
        measure_openings(playwright, [SHIPPED_PAGE, *(Path(name).resolve() for name in sys.argv[1:])])
    native = run_program("bench", "--threads", "1", "--runs", "9", "--format", "json")
    print(f"the command line, one thread: {native.strip()}")


if __name__ == "__main__":
    sys.exit(main())
