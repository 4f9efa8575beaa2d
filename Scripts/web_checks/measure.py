# ruff: noqa: E501  the scripts for the page are written as they are read there
"""Measures the page in Chromium and prints its figures; Scripts/check-web --measure runs it. Nothing here passes or fails."""

import base64
import statistics
import sys
import time

from conftest import FIXTURES, PAGE, Visit, launch_arguments, run_program, shutil, sync_playwright

RUNS = 15
SCANS = 100

TIMES = """async ([text, runs]) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const times = { classify: [], heatmap: [] };
  for (let run = 0; run < runs + 2; run += 1) {
    const file = new File([bytes], `lesion ${run}.jpg`);
    let start = performance.now();
    await window.dermafusion.classify(file, { age: 55, sex: 'male', site: 'back' });
    if (run >= 2) times.classify.push(performance.now() - start);
    start = performance.now();
    await window.dermafusion.heatmap(file, { class: 'nv', age: 55, sex: 'male', site: 'back' });
    if (run >= 2) times.heatmap.push(performance.now() - start);
  }
  return times;
}"""

LONG_TASKS = """() => {
  window.longTasks = [];
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: 'longtask', buffered: true });
}"""


def resident(pids: set[int]) -> int:
    """The proportional share of memory of the processes, in bytes."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as lines:
                total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
        except OSError:
            continue
    return total


def renderers(session) -> set[int]:
    return {
        each["id"] for each in session.send("SystemInfo.getProcessInfo")["processInfo"] if each["type"] == "renderer"
    }


def main() -> None:
    text = base64.b64encode((FIXTURES / "phantom_nevus.jpg").read_bytes()).decode()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=launch_arguments())
        opening = []
        for _ in range(5):
            context = browser.new_context()
            page = context.new_page()
            page.goto("about:blank")
            start = time.perf_counter()
            page.goto(PAGE.as_uri(), wait_until="commit")
            page.wait_for_function("() => window.dermafusion")
            page.evaluate("() => window.dermafusion.ready")
            opening.append(1000 * (time.perf_counter() - start))
            context.close()
        print(
            f"page opened to ready: {statistics.median(opening):.0f} ms (median of 5; {min(opening):.0f} to {max(opening):.0f})"
        )

        on = Visit(browser)
        on.page.evaluate(LONG_TASKS)
        times = on.page.evaluate(TIMES, [text, RUNS])
        for name, values in times.items():
            print(
                f"{name}: {statistics.median(values):.0f} ms (median of {RUNS}; {min(values):.0f} to {max(values):.0f})"
            )

        session = browser.new_browser_cdp_session()
        scan = "async ([text, run]) => { await window.dermafusion.classify(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], `scan ${run}.jpg`)); }"
        memory = {}
        for run in range(1, SCANS + 1):
            on.page.evaluate(scan, [text, run])
            if run in (10, SCANS):
                on.page.request_gc() if hasattr(on.page, "request_gc") else None
                on.page.wait_for_timeout(500)
                memory[run] = resident(renderers(session))
        print(
            f"memory of the page after 10 scans {memory[10] / 1e6:.0f} MB, after {SCANS} {memory[SCANS] / 1e6:.0f} MB ({memory[SCANS] / memory[10] - 1:+.1%})"
        )
        on.close()

        on = Visit(browser)
        on.page.evaluate(LONG_TASKS)
        on.scan()
        on.save()
        on.go("history")
        on.page.wait_for_timeout(500)
        tasks = on.page.evaluate("() => window.longTasks")
        print(f"longest task of the page's own thread: {max(tasks, default=0):.0f} ms ({len(tasks)} above 50 ms)")
        on.close()
        browser.close()
    native = run_program("bench", "--threads", "1", "--runs", "9", "--format", "json")
    print(f"the command line, one thread: {native.strip()}")


if __name__ == "__main__":
    sys.exit(main())
