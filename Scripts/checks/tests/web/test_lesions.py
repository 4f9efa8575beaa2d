# ruff: noqa: E501  the scripts for the page are written as they are read there
"""The list of the history and the pages of its lesions: found, grouped, compared, told to a dermatologist."""

import json
import re

from conftest import copies, history_of
from playwright.sync_api import expect
from test_answers import BETWEEN, change

# Whatever the model says of a drawing.
EXCLUDED = """if (answer?.result) Object.assign(answer.result, { risk: 'high', concern: 'bcc', urgent: false, summaries: {
  en: 'Classification suggests melanocytic nevi (51%); basal cell carcinoma cannot be excluded (31%).' } })"""


def test_a_scan_is_found_and_the_list_is_where_it_was(visit):
    on = history_of(
        visit,
        100,
        "if (index % 4 === 0) copy.lesion = index % 8 ? 'shoulder' : 'ankle'; if (index === 50) { copy.result.metadata.site = 'ear'; copy.result.concern = 'bcc'; copy.result.risk = 'high'; }",
    )
    page = on.page
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
    # The words of a row can be looked for.
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
        "55\u00a0years",
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
    on = history_of(visit, 59, "copy.lesion = `lesion ${index % 8}`;")
    page = on.page
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
    on = history_of(visit, 3)
    page = on.page
    page.get_by_text("Body map of the lesions").click()
    page.locator("a.scan-card").nth(2).focus()
    returned = "() => document.dispatchEvent(new Event('visibilitychange'))"
    page.evaluate("() => { document.querySelector('a.scan-card').dataset.mark = 'same'; }")
    page.evaluate(returned)
    page.wait_for_timeout(500)
    expect(page.locator("[data-mark=same]"), "the list was built anew").to_have_count(1)
    expect(page.locator(".body-pair")).to_be_visible()
    page.wait_for_function("() => document.activeElement.matches('a.scan-card')")
    # A change in another tab is seen.
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
    on = history_of(visit, 3)
    page = on.page
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


def test_a_record_has_the_name_that_another_tab_gave_it(visit):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    on.go("history")
    page.locator("a.scan-card").click()
    page.get_by_label("Notes", exact=True).wait_for()
    other = on.context.new_page()
    other.goto(page.url)
    other.get_by_label("Name of the lesion").fill("left ear")
    other.get_by_text("Stored").wait_for()
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("heading", name="left ear", level=1).wait_for()
    expect(page).to_have_title("left ear · DermaFusion")
    expect(page.get_by_label("Name of the lesion")).to_have_value("left ear")
    page.get_by_label("Notes", exact=True).fill("itches")
    page.get_by_text("Stored").wait_for()
    # One that was deleted there is not shown as if it were here.
    other.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    expect(other.get_by_label("Notes", exact=True)).to_have_value("itches")
    other.get_by_role("button", name="Delete").click()
    other.get_by_role("dialog").get_by_role("button", name="Delete").click()
    other.get_by_text("There are no scans yet.").wait_for()
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("heading", name="This scan is not here").wait_for()


# Counts what a view makes and reads: elements, and records with their thumbnails.
COUNTED = """
  window.made = { elements: 0, records: 0, all: [] };
  for (const name of ['createElement', 'createElementNS']) {
    const own = Document.prototype[name];
    Document.prototype[name] = function (...given) { window.made.elements += 1; return own.apply(this, given); };
  }
  const [get, getAll] = [IDBObjectStore.prototype.get, IDBObjectStore.prototype.getAll];
  IDBObjectStore.prototype.get = function (...given) { if (this.name !== 'lock') window.made.records += 1; return get.apply(this, given); };
  IDBObjectStore.prototype.getAll = function (...given) { window.made.all.push(this.name); return getAll.apply(this, given); };
"""


def test_of_ten_thousand_scans_only_those_that_are_shown_are_made_and_read(visit):
    """Counts, not times: the same on every machine. --measure has the times."""
    on = history_of(
        visit, 10_000, "copy.lesion = `lesion ${index % 700}`; copy.note = `note-${index}`;", script=COUNTED
    )
    page = on.page
    page.get_by_text("10,001 scans, newest first").wait_for()
    # The rows, which the copies lack, were made once. From here on records are read only for their thumbnails.
    on.go("scan")
    page.wait_for_function("() => document.querySelector('.scan-card img')?.src")

    def wait_for_rows(count: int) -> None:
        expect(page.locator(".scan-row")).to_have_count(count)
        page.wait_for_function("() => [...document.querySelectorAll('.scan-row img')].every((image) => image.src)")

    def made(change, words: str, rows: int) -> None:
        page.evaluate("() => { window.made = { elements: 0, records: 0, all: [] }; }")
        change()
        page.get_by_text(words).first.wait_for()
        wait_for_rows(rows)
        counts = page.evaluate("() => window.made")
        assert counts["elements"] < 1500, (words, counts)
        assert counts["records"] <= rows, (words, counts)
        assert set(counts["all"]) <= {"rows"}, (words, counts)

    made(lambda: on.go("history"), "10,001 scans, newest first", 40)
    made(lambda: page.get_by_label("Search").fill("note-99"), "111 of 10,001 scans", 40)
    made(lambda: page.get_by_label("Search").fill("note-9999"), "1 of 10,001 scans", 1)
    made(lambda: page.get_by_label("Search").fill(""), "10,001 scans, newest first", 40)
    made(lambda: page.get_by_label("Group by lesion").check(), "lesion 0", 40)
    page.get_by_label("Group by lesion").uncheck()
    page.get_by_text("10,001 scans, newest first").wait_for()
    wait_for_rows(40)
    made(lambda: page.get_by_role("button", name="Tick all that are found").click(), "10,001 scans are ticked.", 40)
    page.get_by_role("button", name="Clear the ticks").click()
    page.get_by_role("button", name="Show 40 more").click()
    expect(page.locator(".scan-row")).to_have_count(80)


def test_ticked_scans_are_exported_and_deleted_together(visit):
    on = history_of(
        visit,
        60,
        "copy.lesion = `spot ${index}`; copy.result.risk = ['low', 'high', 'moderate'][index % 3];",
        viewport={"width": 360, "height": 740},
    )
    page = on.page
    page.get_by_text("61 scans, newest first").wait_for()
    bar = page.get_by_role("group", name="The ticked scans")
    expect(bar).to_have_count(0)
    # Also the ones that are found and not shown yet.
    page.get_by_label("Risk", exact=True).select_option("high")
    page.get_by_role("button", name="Tick all that are found").click()
    expect(page.get_by_role("button", name="Tick all that are found")).to_have_count(0)
    page.get_by_label("Risk", exact=True).select_option("")
    page.get_by_text("61 scans, newest first").wait_for()
    found = int(bar.get_by_role("status").inner_text().split()[0])
    assert found >= 20
    expect(bar.get_by_role("button", name="Delete")).to_be_in_viewport(ratio=1)
    with page.expect_download() as download:
        bar.get_by_role("button", name="Export").click()
    lines = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert lines[0]["scans"] == found == len(lines) - 1
    assert {line["result"]["risk"] for line in lines[1:]} == {"high"}
    bar.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_text(f"{found} scans and their photographs are deleted.").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    page.get_by_text("61 scans, newest first").wait_for()
    bar.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_text(f"{61 - found} scans, newest first").wait_for()
    page.wait_for_function("() => document.activeElement.tagName === 'H1'")
    expect(bar).to_have_count(0)


def test_rows_come_in_the_order_that_a_person_wants(visit):
    on = history_of(
        visit,
        3,
        "copy.lesion = ['spot 10', 'ear', 'spot 9'][index]; copy.result.risk = ['moderate', 'low', 'high'][index]; copy.result.concern = null;",
    )
    page = on.page
    page.get_by_text("4 scans, newest first").wait_for()
    names = page.locator(".scan-row .file-name")
    own = names.first.inner_text()
    expect(names).to_have_text([own, "spot 10", "ear", "spot 9"])
    page.get_by_label("Order").select_option("Oldest first")
    expect(names).to_have_text(["spot 9", "ear", "spot 10", own])
    page.get_by_label("Order").select_option("By name")
    expect(names).to_have_text(["ear", own, "spot 9", "spot 10"])
    page.get_by_label("Order").select_option("Highest risk first")
    assert [name for name in names.all_text_contents() if name != own] == ["spot 9", "spot 10", "ear"]
    expect(page.get_by_role("status").filter(has_text="scans")).to_have_text("4 scans")
    # The order outlives a look at one of them.
    page.locator("a.scan-card").first.click()
    page.get_by_label("Notes", exact=True).wait_for()
    page.go_back()
    expect(names.first).to_have_text("spot 9")


def test_a_clock_that_was_set_back_turns_no_time_round(visit):
    # The scan that was stored last has the earlier date.
    on = history_of(
        visit,
        1,
        "copy.lesion = scan.lesion = 'ear'; copy.created = new Date(Date.parse(scan.created) + 90000000).toISOString(); store.put(scan);",
    )
    page = on.page
    page.get_by_text("2 scans, newest first").wait_for()
    days = page.locator(".scan-row .soft.small").all_inner_texts()
    page.locator("a.scan-card").first.click()
    page.get_by_role("link", name="All scans of this lesion").click()
    page.get_by_text(re.compile("^2 scans, over (25 hours|1 day)$")).wait_for()
    assert page.locator(".film-strip .soft.small").all_inner_texts() == days[::-1]
    page.get_by_role("link", name="Compare the first with the last").click()
    page.get_by_text("25 hours between them").wait_for()
    labels = page.locator("figcaption").all_inner_texts()
    assert [label.split("\n")[1] for label in labels] == days[::-1]
