# ruff: noqa: E501  the scripts for the page are written as they are read there
"""The list of the history and the pages of its lesions: found, grouped, compared, told to a dermatologist."""

import pytest
from conftest import copies
from playwright.sync_api import expect
from test_answers import BETWEEN, change

# Whatever the model says of a drawing.
EXCLUDED = """if (answer?.result) Object.assign(answer.result, { risk: 'high', concern: 'bcc', urgent: false, summaries: {
  en: 'Classification suggests melanocytic nevi (51%); basal cell carcinoma cannot be excluded (31%).' } })"""


def test_a_scan_is_found_and_the_list_is_where_it_was(visit):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    copies(
        on,
        100,
        "if (index % 4 === 0) copy.lesion = index % 8 ? 'shoulder' : 'ankle'; if (index === 50) { copy.result.metadata.site = 'ear'; copy.result.concern = 'bcc'; copy.result.risk = 'high'; }",
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
    page.wait_for_function("(address) => document.activeElement.getAttribute('href') === address", arg=address)
    expect(page.locator(".scan-row input").nth(30), "what was ticked is not ticked any more").to_be_checked()

    page.get_by_label("Group by lesion").check()
    expect(page.get_by_role("heading", name="ankle")).to_have_count(1)
    page.get_by_label("Group by lesion").uncheck()
    page.get_by_label("Search").fill("Shoul")
    page.get_by_text("of 101 scans").wait_for()
    # A row's `innerText` is empty until it was painted once (`content-visibility`).
    assert all("shoulder" in row for row in page.locator(".scan-row").all_text_contents())
    page.get_by_label("Search").fill("")
    # The body map: the only lesion on an ear.
    page.get_by_text("Body map of the lesions").click()
    page.get_by_role("button", name="ear: 1 lesion").last.click()
    page.get_by_text("1 of 101 scans").wait_for()
    page.wait_for_function("() => document.activeElement.dataset.site === 'ear'")
    page.get_by_role("button", name="ear: 1 lesion").last.click()
    page.get_by_text("101 scans, newest first").wait_for()
    # What a row says can be looked for.
    page.get_by_label("Search").fill("cannot be excluded")
    page.get_by_text("1 of 101 scans").wait_for()
    expect(page.locator(".scan-row")).to_contain_text("Basal cell carcinoma cannot be excluded")


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
    # The browser keeps addresses; what the person wrote is not in them.
    assert "ear" not in page.evaluate("() => location.href + JSON.stringify(history.state)")
    page.get_by_text("3 scans, over 2 days").wait_for()
    expect(page.locator(".film-strip a")).to_have_count(3)
    # The earliest first, and as much in the table as in the lines.
    expect(page.locator(".chart polyline")).to_have_count(3)
    expect(page.locator(".chart circle")).to_have_count(9)
    rows = page.locator(".table tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("50.0%")
    expect(rows.nth(2)).not_to_contain_text("50.0%")
    expect(page.locator(".disclaimer")).to_be_visible()
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
    on = visit(script=BETWEEN)
    page = on.page
    page.evaluate("() => { window.print = () => {}; }")
    change(on, EXCLUDED)
    on.scan()
    lines = [
        f"week {week}: itches since spring, darker at the upper edge, bled once when scratched" for week in range(1, 13)
    ]
    page.get_by_label("Notes", exact=True).fill("\n".join(lines))
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
    expect(page.locator(".scan-row")).to_have_count(40)
    page.get_by_role("button", name="Show 20 more").click()
    expect(page.locator(".scan-row")).to_have_count(60)
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
    expect(page.locator("[data-mark=same]"), "the list was built anew").to_have_count(1)
    expect(page.locator(".body-pair")).to_be_visible()
    page.wait_for_function("() => document.activeElement.matches('a.scan-card')")
    # What another tab changed is seen.
    copies(on, 1, "copy.id = 'e'.repeat(32);")
    page.evaluate(returned)
    page.get_by_text("5 scans, newest first").wait_for()


def test_scans_are_found_by_what_cannot_be_excluded_and_ticks_are_told_and_cleared(visit):
    on = visit(script=BETWEEN)
    page = on.page
    change(on, EXCLUDED)
    on.scan()
    on.save()
    copies(on, 3, "copy.lesion = `spot-${index}`; if (index) { copy.result.concern = null; copy.result.risk = 'low'; }")
    on.go("history")
    page.get_by_text("4 scans, newest first").wait_for()
    for row in (0, 1):
        page.locator(".scan-row input").nth(row).check()
    page.get_by_label("Search").fill("basal")
    page.get_by_text("2 of 4 scans").wait_for()
    assert all(
        "Basal cell carcinoma cannot be excluded" in row for row in page.locator(".scan-row").all_text_contents()
    )
    page.get_by_label("Search").fill("spot-2")
    page.get_by_text("2 of the ticked are not among the scans below.").wait_for()
    page.get_by_role("button", name="Clear the ticks").click()
    page.get_by_text("Tick two scans to see them side by side.").wait_for()
    page.get_by_label("Search").fill("")
    expect(page.locator(".scan-row input:checked")).to_have_count(0)


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
        expect(compare).to_have_attribute("aria-disabled", str(index != 1).lower())
    boxes.nth(0).uncheck()
    compare.click()
    page.get_by_text("1 day between them").or_(page.get_by_text("24 hours between them")).wait_for()
    expect(page.locator(".compare h2")).to_have_text(["phantom_brown.jpg", "phantom_brown.jpg"])
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
    expect(on.page.locator(".scan-row")).to_have_count(40)
    on.page.get_by_role("button", name="Show 40 more").click()
    expect(on.page.locator(".scan-row")).to_have_count(80)
    on.page.get_by_label("Search").fill("scan 399")
    on.page.get_by_text("1 of 401 scans").wait_for()
    expect(on.page.locator(".scan-row")).to_have_count(1)
