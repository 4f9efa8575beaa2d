# ruff: noqa: E501  the scripts for the page are written as they are read there
"""Nothing that a person made is lost without a question: results, details, lists, names and notes."""

import csv
import io
import json

from conftest import FIXTURES, base64_of
from playwright.sync_api import expect

NAMES = ["phantom_brown.jpg", "phantom_vascular.jpg", "refused_text.png"]


def drop(page, names) -> None:
    files = [[name, base64_of(FIXTURES / name)] for name in names]
    page.evaluate(
        """(files) => {
      const data = new DataTransfer();
      for (const [name, text] of files) data.items.add(new File([bytesOf(text)], name, { type: 'image/jpeg' }));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }""",
        files,
    )


def listed(on, names=NAMES) -> None:
    on.open_image([FIXTURES / name for name in names])
    on.page.get_by_text(f"{len(names)} of {len(names)} done").wait_for()


def asks_before_closing(page) -> bool:
    return page.evaluate("""() => {
      const event = new Event('beforeunload', { cancelable: true });
      window.dispatchEvent(event);
      return event.defaultPrevented;
    }""")


def test_photographs_dropped_on_an_unsaved_result_ask_first(visit):
    on = visit()
    page = on.page
    on.scan()
    drop(page, NAMES)
    page.get_by_role("dialog", name="Discard this result?").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".result")).to_have_count(1)
    drop(page, NAMES[:1])
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    page.get_by_role("heading", name="Check the photograph").wait_for()


def test_a_photograph_dropped_on_another_view_is_opened_not_shown_by_the_browser(visit):
    on = visit()
    on.go("learn")
    on.page.get_by_role("heading", name="Learn").wait_for()
    drop(on.page, NAMES[:1])
    on.page.get_by_role("heading", name="Check the photograph").wait_for()


def test_closing_the_page_asks_only_where_something_would_be_lost(visit):
    on = visit()
    page = on.page
    assert not asks_before_closing(page)
    on.open_image(FIXTURES / NAMES[0])
    page.get_by_role("button", name="Next").click()
    assert not asks_before_closing(page)
    page.get_by_label("Age", exact=True).fill("50")
    assert asks_before_closing(page), "details that were entered go without a question"
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".result")
    assert asks_before_closing(page)
    on.save()
    assert not asks_before_closing(page)
    page.get_by_role("button", name="New scan").click()
    listed(on)
    assert asks_before_closing(page), "a list of results goes without a question"
    page.get_by_role("button", name="Save all").click()
    page.get_by_role("button", name="All saved").wait_for()
    assert not asks_before_closing(page)


def test_a_list_is_closed_after_a_question(visit):
    on = visit()
    page = on.page
    listed(on)
    page.get_by_role("button", name="Close the list").click()
    dialog = page.get_by_role("dialog", name="Close the list?")
    dialog.get_by_text("2 results have not been saved").wait_for()
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.locator(".batch-rows li")).to_have_count(3)
    page.get_by_role("button", name="Close the list").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    page.get_by_role("heading", name="Scan a lesion").wait_for()


def rows_of(page) -> list[dict]:
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    text = download.value.path().read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_what_is_entered_for_one_of_a_list_is_in_the_list_and_its_table(visit):
    on = visit()
    page = on.page
    listed(on)
    before = rows_of(page)
    assert [row["image"] for row in before] == NAMES, "a photograph that failed is missing in the table"
    assert "cannot read this file" in before[2]["error"] and not before[0]["error"]
    page.get_by_role("button", name="Open phantom_brown.jpg").click()
    page.wait_for_selector(".result")
    page.get_by_text("Change age, sex or place").click()
    page.get_by_label("Age", exact=True).fill("80")
    page.get_by_role("button", name="Update the result").click()
    page.get_by_text("80 years").first.wait_for()
    page.get_by_label("Name of the lesion").fill("left ear")
    # An answered photograph stays in the list: there is nothing to be asked.
    page.get_by_role("button", name="Back to the list").click()
    page.get_by_text("3 of 3 done").wait_for()
    page.locator(".batch-rows li").first.get_by_text("80 years").wait_for()
    after = rows_of(page)
    assert after[0]["age"] == "80" and after[0]["lesion"] == "left ear"
    assert after[0]["probability"] != before[0]["probability"]
    assert after[1] == before[1]


def test_a_list_tells_of_what_was_changed_and_not_analysed_again(visit):
    on = visit()
    page = on.page
    listed(on, NAMES[:2])
    page.get_by_role("button", name="Open phantom_brown.jpg").click()
    page.wait_for_selector(".result")
    page.go_back()
    page.get_by_role("button", name="Save all").click()
    page.get_by_role("button", name="Turn the history on").click()
    page.get_by_role("button", name="All saved").wait_for()
    assert not asks_before_closing(page), "all is saved, and closing asks"
    page.get_by_role("button", name="Open phantom_brown.jpg").click()
    page.wait_for_selector(".result")
    page.get_by_text("Change age, sex or place").click()
    page.get_by_label("Age", exact=True).fill("80")
    page.go_back()
    page.get_by_text("phantom_brown.jpg was changed and has not been analysed again").wait_for()
    assert asks_before_closing(page)
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Update the result").click()
    page.get_by_text("80 years").first.wait_for()


def test_a_list_is_saved_whole_sorted_by_risk_and_printed_as_one_report(visit):
    on = visit()
    page = on.page
    page.evaluate("() => { window.printed = 0; window.print = () => { window.printed += 1; }; }")
    names = ["phantom_keratosis.jpg", "phantom_melanoma.jpg", "phantom_brown.jpg", "phantom_vascular.jpg", "noise.png"]
    listed(on, names)
    page.get_by_label("Order").select_option("risk")
    page.wait_for_function("""() => {
      const order = ['High', 'Moderate', 'Low', 'No'];
      const ranks = [...document.querySelectorAll('.batch-rows .risk-line')].map(({ textContent }) => order.indexOf(textContent.split(' ')[0]));
      return ranks.length === 5 && new Set(ranks).size > 1 && ranks.every((rank, index) => rank >= (ranks[index - 1] ?? 0));
    }""")
    page.get_by_role("button", name="Print or PDF of all").click()
    page.wait_for_function("() => window.printed === 1")
    report = page.locator(".report")
    assert report.evaluate("(element) => element.firstElementChild.className") == "disclaimer"
    assert all(name in report.text_content() for name in names)
    page.get_by_role("button", name="Save all").click()
    page.get_by_role("button", name="Turn the history on").click()
    page.get_by_role("button", name="All saved").wait_for()
    on.go("history")
    page.get_by_text("5 scans, newest first").wait_for()


TABLE = "image_id;age;sex;anatom_site_general\nphantom_brown;61;M;posterior torso\nphantom_vascular;7;robot;back\n"


def test_a_table_tells_a_list_what_is_known(visit, tmp_path):
    on = visit()
    page = on.page
    listed(on)
    without = rows_of(page)
    table = tmp_path / "patients.csv"
    table.write_text(TABLE)
    page.set_input_files("[data-role=table]", table)
    page.get_by_text("patients.csv has rows for 2 of 3 photographs.").wait_for()
    page.locator(".batch-rows li").first.get_by_text("61 years, Male").wait_for()
    # The sentence that it is no diagnosis stands over the rows, not in each.
    expect(page.locator(".disclaimer")).to_have_count(1)
    expect(page.locator(".batch-rows")).not_to_contain_text("not a diagnosis", use_inner_text=True)
    # The answer before stands under what is wrong with the row.
    earlier = page.locator(".batch-rows li", has_text="robot")
    expect(earlier).to_contain_text("The answer before the table", use_inner_text=True)
    expect(earlier).to_contain_text("Suggests", use_inner_text=True)
    first, second, third = rows_of(page)
    if first["image"] != NAMES[0]:
        first, second = second, first
    assert (first["age"], first["sex"], first["site"]) == ("61", "male", "unknown")
    assert first["probability"] != without[0]["probability"], "the table changed nothing"
    # A bad cell costs its photograph, with the table's line.
    failed = next(row for row in (second, third) if row["image"] == "phantom_vascular.jpg")
    assert "line 3: column 'sex': the value 'robot' is invalid" in failed["error"] and not failed["class"]


def test_a_photograph_is_classified_without_the_row_that_cannot_be_read(visit, tmp_path):
    on = visit()
    page = on.page
    listed(on, NAMES[:2])
    table = tmp_path / "patients.csv"
    table.write_text("image,age\nphantom_brown,131\n")
    page.set_input_files("[data-role=table]", table)
    row = page.locator(".batch-rows li", has_text="131")
    expect(row).to_contain_text("line 2: column 'age'")
    page.get_by_role("button", name="Classify phantom_brown.jpg without these details").click()
    page.get_by_text("2 of 2 done").wait_for()
    expect(page.locator(".field-error")).to_have_count(0)
    first = rows_of(page)[0]
    assert first["age"] == "" and first["class"] and not first.get("error")
    # A later table without the row leaves nothing of the fault.
    page.set_input_files("[data-role=table]", table)
    expect(page.locator(".batch-rows li", has_text="131")).to_have_count(1)
    table.write_text("image,age\nphantom_vascular,30\n")
    page.set_input_files("[data-role=table]", table)
    page.get_by_text("30 years").wait_for()
    expect(page.locator(".field-error")).to_have_count(0)


def test_a_workbook_is_named_as_one(visit, tmp_path):
    on = visit()
    listed(on, NAMES[:2])
    workbook = tmp_path / "patients.csv"
    workbook.write_bytes(b"PK\x03\x04\x14\0\x06\0" + bytes(200))
    on.page.set_input_files("[data-role=table]", workbook)
    on.page.get_by_text("is an Excel workbook").wait_for()


def test_a_table_may_come_with_the_photographs(visit, tmp_path):
    on = visit()
    table = tmp_path / "patients.csv"
    table.write_text("image,age\nphantom_brown,44\n")
    on.open_image([FIXTURES / "phantom_brown.jpg", table])
    on.page.get_by_text("1 of 1 done").wait_for()
    on.page.locator(".batch-rows li").first.get_by_text("44 years").wait_for()


def table_for_all(folder, ages=(61, 72)):
    table = folder / "patients.csv"
    table.write_text(f"image,age\nphantom_brown,{ages[0]}\nphantom_vascular,{ages[1]}\n")
    return table


def test_a_table_for_every_photograph_reaches_a_list_that_is_done(visit, tmp_path):
    on = visit()
    page = on.page
    listed(on, NAMES[:2])
    page.set_input_files("[data-role=table]", table_for_all(tmp_path))
    page.get_by_text("72 years").wait_for()
    page.get_by_text("2 of 2 done").wait_for()
    assert [row["age"] for row in rows_of(page)] == ["61", "72"]
    # The known details are changed once more.
    page.set_input_files("[data-role=table]", table_for_all(tmp_path, (33, 72)))
    page.get_by_text("33 years").wait_for()
    page.get_by_text("2 of 2 done").wait_for()
    assert [row["age"] for row in rows_of(page)] == ["33", "72"]


# The second photograph's answer waits until `release` is called.
LATE = """
window.Worker = class extends Worker {
  set onmessage(handler) {
    super.onmessage = async (event) => {
      if (event.data.answer?.result?.image === 'phantom_vascular.jpg') await window.released;
      handler(event);
    };
  }
};
window.released = new Promise((resolve) => { window.release = resolve; });
"""


def test_a_table_reaches_the_photograph_that_is_classified_last(visit, tmp_path):
    on = visit(script=LATE)
    page = on.page
    on.open_image([FIXTURES / name for name in NAMES[:2]])
    page.get_by_text("1 of 2 done").wait_for()
    page.set_input_files("[data-role=table]", table_for_all(tmp_path))
    page.evaluate("() => window.release()")
    page.get_by_text("61 years").wait_for()
    page.get_by_text("72 years").wait_for()
    page.get_by_text("2 of 2 done").wait_for()
    assert [row["age"] for row in rows_of(page)] == ["61", "72"]


def test_what_waits_for_a_table_is_exported_without_its_old_answer(visit, tmp_path):
    on = visit()
    page = on.page
    listed(on, NAMES[:2])
    # No answer comes, so that the list is seen while it waits.
    page.evaluate("""() => {
      const post = Worker.prototype.postMessage;
      Worker.prototype.postMessage = function (message, ...rest) { if (message.action !== 'classify') post.call(this, message, ...rest); };
    }""")
    page.set_input_files("[data-role=table]", table_for_all(tmp_path))
    page.get_by_text("0 of 2 done").wait_for()
    expect(page.locator(".batch-rows .risk-line")).to_have_count(0)
    expect(page.get_by_role("button", name="CSV"), "an old answer is exported").to_have_count(0)


def test_two_tables_are_told_and_neither_is_taken(visit, tmp_path):
    on = visit()
    page = on.page
    other = tmp_path / "other.tsv"
    other.write_text("image\tage\nphantom_brown\t9\n")
    on.open_image([FIXTURES / NAMES[0], FIXTURES / NAMES[1], table_for_all(tmp_path), other])
    page.get_by_text("patients.csv, other.tsv could not be opened.").wait_for()
    page.get_by_text("A list takes one table at a time").wait_for()
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("2 of 2 done").wait_for()
    assert [row["age"] for row in rows_of(page)] == ["", ""]


def test_saving_again_updates_the_record(visit):
    on = visit()
    page = on.page
    on.scan(age="30")
    page.get_by_label("Name of the lesion").fill("left ear")
    page.get_by_label("Notes", exact=True).fill("itches")
    on.save()
    page.wait_for_function("() => document.activeElement !== document.body")
    page.get_by_text("Change age, sex or place").click()
    page.get_by_label("Age", exact=True).fill("70")
    page.get_by_role("button", name="Update the result").click()
    page.get_by_text("70 years").first.wait_for()
    page.get_by_role("button", name="Save the changes").click()
    page.get_by_role("button", name="Saved").wait_for()
    page.get_by_role("button", name="New scan").click()
    page.get_by_role("heading", name="Scan a lesion").wait_for()
    expect(page.get_by_role("dialog")).to_have_count(0)
    on.go("history")
    page.get_by_text("1 scan, newest first").wait_for()
    page.locator("a.scan-card").click()
    expect(page.get_by_label("Notes", exact=True)).to_have_value("itches")
    expect(page.locator(".result")).to_contain_text("70 years", use_inner_text=True)


def test_a_saved_scan_is_corrected_and_analysed_again(visit):
    on = visit()
    page = on.page
    on.scan(age="30", sex="female", site="face")
    on.save()
    on.go("history")
    page.locator("a.scan-card").click()
    page.get_by_label("Name of the lesion").fill("left ear")
    page.get_by_text("Stored").wait_for()
    before = page.locator(".bars").inner_text()
    page.get_by_role("button", name="Correct and analyse again").click()
    page.get_by_role("heading", name="What is known").wait_for()
    expect(page.get_by_label("Age", exact=True)).to_have_value("30")
    page.locator(".site-list input[value='ear']").check()
    page.get_by_label("Age", exact=True).fill("85")
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".result")
    expect(page.get_by_label("Name of the lesion")).to_have_value("left ear")
    page.get_by_role("button", name="Save the changes").click()
    page.get_by_role("button", name="Saved").wait_for()
    on.go("history")
    page.get_by_text("1 scan, newest first").wait_for()
    page.locator("a.scan-card").click()
    page.wait_for_selector(".result")
    expect(page.locator(".result")).to_contain_text("85 years", use_inner_text=True)
    expect(page.locator(".bars")).not_to_have_text(before, use_inner_text=True)


def test_the_browsers_back_leads_through_the_steps(visit):
    on = visit()
    page = on.page
    on.scan()
    page.go_back()
    page.get_by_role("heading", name="What is known").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Check the photograph").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Scan a lesion").wait_for()
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("heading", name="Check the photograph").wait_for()
    page.get_by_role("link", name="Scan", exact=True).click()
    on.go("scan/result")
    page.wait_for_selector(".result")
    # A question belongs to the view that asks it.
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("dialog").wait_for()
    page.go_back()
    page.wait_for_function("() => !document.querySelector('dialog')")


def test_nothing_moves_while_the_age_is_typed(visit):
    on = visit()
    page = on.page
    on.open_image(FIXTURES / "phantom_brown.jpg")
    page.get_by_role("button", name="Next").click()
    age, sex = page.get_by_label("Age", exact=True), page.locator(".choices.inline")
    places = []
    for text in ["", "7", "71", ""]:
        age.fill(text)
        # The element under the hand lies there still when the next frame is drawn.
        page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        # Both in one call: the page may still scroll to the field.
        between = sex.evaluate(
            "(sex, age) => sex.getBoundingClientRect().y - age.getBoundingClientRect().y", age.element_handle()
        )
        places.append((text, round(between, 2)))
    assert len({place for _, place in places}) == 1, places


def test_leaving_during_the_analysis_and_coming_back(visit):
    on = visit()
    page = on.page
    on.open_image(FIXTURES / "phantom_brown.jpg")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Analyse").wait_for()
    page.evaluate("() => { document.querySelector('.actions .primary').click(); location.hash = '#learn'; }")
    page.get_by_role("heading", name="Learn").wait_for()
    page.get_by_role("link", name="Scan", exact=True).click()
    page.wait_for_selector(".result")
    page.wait_for_selector(".heatmap figcaption p")
    expect(page.get_by_role("heading", level=1)).to_have_text(["Result"])


def test_opening_is_cancelled(visit):
    on = visit()
    page = on.page
    page.evaluate("""() => {
      const original = window.createImageBitmap;
      Image.prototype.decode = original;
      window.Image = class extends Image { set src(value) { setTimeout(() => { super.src = value; }, 3000); } };
    }""")
    page.evaluate(
        """(bytes) => {
      const data = new DataTransfer();
      // No header that the page knows: it asks the browser for the size, which takes its time here.
      data.items.add(new File([new Uint8Array(bytes)], 'slow.bmp', { type: 'image/bmp' }));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }""",
        list(b"BM" + bytes(80)),
    )
    page.get_by_role("heading", name="Opening the photograph").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("heading", name="Scan a lesion").wait_for()
    page.wait_for_timeout(3500)
    expect(page.locator(".message.danger"), "what was cancelled is complained of").to_have_count(0)


def test_places_that_are_none_show_something(visit):
    on = visit()
    page = on.page
    for place in ("%", "nowhere", "scan/result", "scan/list", "learn/toString", "history/%E0%A4%A", "compare/a/b"):
        page.evaluate("place => { location.hash = '#' + place }", place)
        page.wait_for_function("() => document.querySelector('main h1')?.textContent.length > 0")


def test_the_interface_takes_nothing_wrong_for_missing(visit):
    on = visit()
    found = on.page.evaluate(
        """async (text) => {
      const file = new File([bytesOf(text)], 'n.jpg');
      const { classify, ready } = window.dermafusion;
      const told = async (promise) => promise.then((result) => JSON.stringify(result.metadata), (error) => error.name);
      const description = await ready;
      let mutable = true;
      try { description.classes[0].name = 'x'; } catch { /* in strict code it throws */ }
      mutable = description.classes[0].name === 'x';
      return { none: await told(classify(file, null)), nan: await told(classify(file, { age: NaN })), text: await classify(file, { age: '5' }).catch((error) => `${error.name}: ${error.message}`),
        old: await told(classify(file, { age: 131 })), number: await told(classify(file, 5)), misspelt: await told(classify(file, { ages: 5 })), mutable };
    }""",
        base64_of(FIXTURES / "phantom_brown.jpg"),
    )
    assert json.loads(found.pop("none"))["missing"] == ["age", "sex", "site"]
    assert found == {
        "nan": "RangeError",
        "text": "RangeError: an age is a number from 0 to 130, or null where it is not known, and not the text '5'",
        "old": "RangeError",
        "number": "TypeError",
        "misspelt": "TypeError",
        "mutable": False,
    }


def test_the_map_of_an_unlikely_class_says_what_its_colours_mean(visit):
    on = visit()
    page = on.page
    on.scan()
    page.get_by_label("Class", exact=True).select_option("vasc")
    caption = page.locator(".heatmap figcaption")
    caption.get_by_text("scaled to this map alone").wait_for()
    expect(caption).to_contain_text("%", use_inner_text=True)
    page.get_by_label("Show the heatmap").uncheck()
    expect(caption).not_to_contain_text("Bright areas support", use_inner_text=True)


def test_why_a_rarer_class_can_be_in_the_set(visit):
    on = visit()
    on.scan()
    on.page.get_by_text("Each class has a threshold of its own").wait_for()


def test_the_browsers_print_leaves_the_navigation_out(visit):
    on = visit()
    on.scan()
    on.page.emulate_media(media="print")
    expect(on.page.locator(".header")).to_be_hidden()
    expect(on.page.locator(".actions")).to_be_hidden()
    expect(on.page.locator(".result .disclaimer").first).to_be_visible()


def test_faults_of_tables_are_told_in_the_readers_language(visit, tmp_path):
    on = visit()
    page = on.page
    page.get_by_role("button", name="Deutsch").click()
    on.open_image([FIXTURES / name for name in NAMES])
    page.get_by_text("3 von 3 fertig").wait_for()
    rows = page.locator(".batch-rows")
    rows.get_by_text("Der Browser kann diese Datei nicht als Bild lesen").wait_for()
    table = tmp_path / "p.csv"

    def give(content: bytes, words: str) -> None:
        table.write_bytes(content)
        page.set_input_files("[data-role=table]", table)
        page.get_by_text(words).first.wait_for()

    give(
        b"image,sex\nphantom_brown,robot\n",
        "p.csv hat keine Zeile für 2 von 3 Bildern, das erste ist phantom_vascular.jpg.",
    )
    rows.get_by_text("p.csv: Zeile 2, Spalte „sex“: Der Wert „robot“ ist ungültig.").wait_for()
    give(b"photo,sex\nphantom_brown,m\n", "die Spalte „image_id“ fehlt; die Kopfzeile hat 'photo', 'sex'.")
    give(b"PK\x03\x04\x14", "das ist eine Excel-Arbeitsmappe oder eine andere gezippte Datei")
    # The reader changes the language while the fault is shown.
    page.get_by_role("button", name="Français").click()
    page.get_by_text("c’est un classeur Excel ou un autre fichier zippé").first.wait_for()
    rows.get_by_text("la valeur «\u00a0robot\u00a0» n’est pas valable").wait_for()
