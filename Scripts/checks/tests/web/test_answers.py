# ruff: noqa: E501  the scripts for the page are written as they are read there
"""Answers that the engine seldom gives: put into its mouth between the worker and the page."""

import json

import numpy as np
import pytest
from conftest import FIXTURES
from PIL import Image
from playwright.sync_api import expect

# The page's worker, whose questions and answers a check may change.
BETWEEN = """
window.Worker = class extends Worker {
  set onmessage(handler) {
    super.onmessage = async ({ data }) =>
      handler({ data: window.changeAnswer ? await window.changeAnswer(data) : data });
  }
  postMessage(message) {
    super.postMessage(window.changeQuestion ? window.changeQuestion(message) : message);
  }
};
"""


def change(on, words: str) -> None:
    on.page.evaluate(
        f"() => {{ window.changeAnswer = (data) => {{ const {{ answer }} = data; {words}; return data; }}; }}"
    )


def analyse(on) -> None:
    on.open_image(FIXTURES / "phantom_brown.jpg")
    on.page.get_by_role("button", name="Next").click()
    on.page.get_by_role("button", name="Analyse").click()


def test_logits_that_are_no_numbers(visit):
    on = visit(script=BETWEEN)
    change(
        on,
        "if (answer?.result) data.failure = { code: 'nonFiniteOutput', message: 'the outputs are not finite', remedy: '' }",
    )
    analyse(on)
    on.page.get_by_role("heading", name="The analysis failed").wait_for()
    on.page.get_by_text("The model gave no numbers for this image. Try another photograph.").wait_for()
    on.page.evaluate("() => { window.changeAnswer = undefined; }")
    on.page.get_by_role("button", name="Try again").click()
    on.page.wait_for_selector(".result")


def test_low_confidence_is_said(visit):
    on = visit(script=BETWEEN)
    change(on, "if (answer?.result) { answer.result.confidence = 'low'; answer.result.abstain = false; }")
    analyse(on)
    on.page.locator(".result-head").get_by_text("no class reaches 20%").wait_for()


@pytest.mark.slow
def test_an_analysis_that_takes_long_says_so_and_still_ends(visit):
    on = visit(script=BETWEEN)
    on.page.evaluate(
        "() => { window.changeAnswer = (data) => new Promise((resolve) => { setTimeout(() => resolve(data), data.answer?.result ? 7000 : 0); }); }"  # noqa: E501
    )
    analyse(on)
    on.page.get_by_text("This takes longer than usual.").wait_for()
    on.page.wait_for_selector(".result")


def test_a_heatmap_that_fails_leaves_the_result_and_can_be_asked_for_again(visit):
    on = visit(script=BETWEEN)
    page = on.page
    page.evaluate("() => { window.print = () => {}; }")
    change(on, "if (answer?.facts) return { serial: data.serial, failure: { code: 'map', message: 'none' } }")
    analyse(on)
    page.get_by_text("There is no heatmap.").wait_for()
    expect(page.locator(".bar")).to_have_count(7)
    page.get_by_role("button", name="Print or PDF").click()
    expect(page.locator(".report")).to_contain_text("Heatmap unavailable")
    page.evaluate("() => { window.changeAnswer = undefined; }")
    page.get_by_role("button", name="Try again").click()
    page.get_by_text("Bright areas support").first.wait_for()
    page.locator(".heatmap-overlay").wait_for()


def test_a_heatmap_that_is_low_everywhere_is_said(visit):
    on = visit(script=BETWEEN)
    change(on, "if (answer?.facts) answer.facts.status = 'all_negative'")
    analyse(on)
    on.page.get_by_text("The heatmap is low everywhere").wait_for()
    expect(on.page.locator(".heatmap-overlay")).to_be_hidden()


def put_verdict(page, passes: bool) -> None:
    """Half a minute of computing is left out: the map is asked for without its checks, and their result put in."""
    page.evaluate(
        """(passes) => {
      let serial;
      window.changeQuestion = (message) => {
        if (!message.job.trust) return message;
        serial = message.serial;
        return { ...message, job: { ...message.job, trust: false } };
      };
      window.changeAnswer = (data) => {
        if (data.serial === serial) data.answer.facts.trust = { passes, deletionAUC: 0.1, randomDeletionAUC: 0.2, insertionAUC: 0.8, randomInsertionAUC: 0.5, shuffledHeadCorrelation: passes ? 0.25 : null };
        return data;
      };
    }""",  # noqa: E501
        passes,
    )


@pytest.mark.parametrize("passes", [True, False])
def test_what_the_checks_of_a_map_found_is_told(visit, passes):
    on = visit(script=BETWEEN)
    page = on.page
    on.scan()
    put_verdict(page, passes)
    page.get_by_role("button", name="Check this map").click()
    page.get_by_text("passed all three checks" if passes else "failed at least one of the three checks").wait_for()
    page.get_by_text("Measurements").click()
    caption = page.locator(".heatmap figcaption")
    for words in (
        "0.100 while the map's strongest places are hidden",
        "0.200 with random places",
        "is 0.250. It should be below 0.5" if passes else "without variance",
    ):
        expect(caption).to_contain_text(words, use_inner_text=True)


FAILED = "failed at least one of its three checks"


def report_of(page) -> str:
    page.get_by_role("button", name="Print or PDF").click()
    return page.locator(".report").text_content()


def test_a_failed_check_stays_with_its_map(visit):
    on = visit(script=BETWEEN)
    page = on.page
    page.evaluate("() => { window.print = () => {}; }")
    on.scan()
    assert "This map was not checked." in report_of(page)
    put_verdict(page, False)
    caption = page.locator(".heatmap figcaption")
    page.get_by_role("button", name="Check this map").click()
    caption.get_by_text(FAILED).wait_for()
    picker = page.get_by_label("Class", exact=True)
    first = picker.input_value()
    picker.select_option("vasc")
    caption.get_by_text("Bright areas support Vascular lesions").wait_for()
    expect(caption, "the verdict belongs to another class's map").not_to_contain_text(FAILED, use_inner_text=True)
    picker.select_option(first)
    caption.get_by_text(FAILED).wait_for()
    caption.get_by_text("do not rely on it").first.wait_for()
    expect(page.get_by_role("button", name="Check this map")).to_have_count(0)
    report = report_of(page)
    assert FAILED in report and "Bright areas support" not in report

    on.save()
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    assert json.loads(download.value.path().read_text())["page"]["trust"][first]["passes"] is False
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert f"{first}:failed" in download.value.path().read_text()
    on.go("history")
    page.locator("a.scan-card").click()
    caption.get_by_text(FAILED).wait_for()
    assert FAILED in report_of(page)
    page.get_by_role("button", name="Deutsch").click()
    caption.get_by_text("bestand aber mindestens eine seiner drei Prüfungen nicht").wait_for()


def test_a_check_of_a_saved_scan_is_stored_with_it(visit):
    on = visit(script=BETWEEN)
    page = on.page
    on.scan()
    on.save()
    on.go("history")
    page.locator("a.scan-card").click()
    page.wait_for_selector(".heatmap figcaption p")
    put_verdict(page, True)
    page.get_by_role("button", name="Check this map").click()
    page.get_by_text("Stored", exact=True).wait_for()
    page.reload()
    on.wait_until_ready()
    page.get_by_text("passed all three checks").wait_for()


def test_the_map_is_taken_away_while_it_is_held_and_the_photograph_stands_beside_it(visit):
    on = visit()
    page = on.page
    on.scan()
    overlay = page.locator(".heatmap-overlay")
    button = page.get_by_role("button", name="Hold to see the photograph")
    button.hover()
    page.mouse.down()
    expect(overlay).to_be_hidden()
    page.mouse.up()
    expect(overlay).to_be_visible()
    button.focus()
    page.keyboard.down("Space")
    expect(overlay).to_be_hidden()
    page.keyboard.up("Space")
    expect(overlay).to_be_visible()
    alone = page.locator(".photograph-alone canvas")
    expect(alone).to_be_visible()
    page.get_by_label("Photograph beside the map").uncheck()
    expect(alone).to_be_hidden()
    # The scale of the colours explains what is shown, and nothing else.
    page.get_by_label("Show the heatmap").uncheck()
    expect(page.locator(".colour-bar")).to_be_hidden()


def test_what_nobody_asked_for_is_not_announced(visit):
    on = visit()
    page = on.page
    on.scan()
    expect(page.locator(".heatmap figcaption")).to_contain_text("Bright areas support", use_inner_text=True)
    assert "".join(page.locator(".heatmap [aria-live]").all_text_contents()) == ""
    status = page.locator("body > [role=status]")
    page.wait_for_function(
        "() => document.querySelector('body > [role=status]').textContent.includes('Classification suggests')"
    )
    on.go("learn")
    expect(status).to_have_text("")


def test_another_age_moves_the_bars_and_leaves_the_result(visit):
    on = visit()
    page = on.page
    on.scan(age="20")
    card = page.locator("details", has_text="What if the age were another?")
    before = page.locator(".bars").inner_text()
    card.locator("summary").click()
    slider = card.get_by_role("slider")
    expect(slider).to_have_value("20")
    slider.fill("85")
    card.get_by_text("At 85 years:").wait_for()
    there = dict(row.split("\n")[:2] for row in card.locator(".what-if-bar").all_inner_texts())
    assert all("now" in value for value in there.values())
    # The message is that of a result of that age.
    page.get_by_text("Change age, sex or place").click()
    page.get_by_label("Age", exact=True).fill("85")
    page.get_by_role("button", name="Update the result").click()
    page.get_by_text("85 years").first.wait_for()
    page.wait_for_function("(before) => document.querySelector('.bars')?.innerText !== before", arg=before)
    after = {
        row.split("\n")[0].removesuffix(" in the set"): row.split("\n")[-1]
        for row in page.locator(".bar").all_inner_texts()
    }
    assert {name: value.split(" (")[0] for name, value in there.items()} == after
    on.save()
    on.go("history")
    page.locator("a.scan-card").click()
    card.locator("summary").click()
    card.get_by_role("slider").fill("20")
    card.get_by_text("At 20 years:").wait_for()
    card.get_by_role("button", name="As given").click()
    expect(card.locator(".what-if-bars")).not_to_contain_text("now", use_inner_text=True)


@pytest.mark.slow
def test_the_engine_checks_a_map(visit):
    on = visit()
    on.scan()
    on.page.get_by_role("button", name="Check this map").click()
    on.page.get_by_text("all three checks").or_(on.page.get_by_text("one of the three checks")).wait_for(
        timeout=900_000
    )
    expect(on.page.locator(".heatmap figcaption li")).to_have_count(3)


def test_a_missing_camera_is_told(visit):
    on = visit(
        script="navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', 'NotFoundError'); };"
    )
    on.page.get_by_role("button", name="Take a photograph").click()
    on.page.get_by_text("No camera was found. Connect one, or choose a file instead.").wait_for()


def test_of_a_large_photograph_the_square_is_stored_as_a_jpeg(visit, tmp_path):
    path = tmp_path / "large.png"
    Image.fromarray(np.random.default_rng(7).integers(0, 255, (1700, 1800, 3), np.uint8)).save(path)
    on = visit()
    on.open_image(path)
    on.page.get_by_role("button", name="Next").click()
    on.page.get_by_role("button", name="Analyse").click()
    on.page.wait_for_selector(".result")
    on.save()
    stored = on.page.evaluate("""async () => {
      const open = indexedDB.open('dermafusion');
      const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
      const all = database.transaction('photographs').objectStore('photographs').getAll();
      const [blob] = await new Promise((resolve) => { all.onsuccess = () => resolve(all.result); });
      const bitmap = await createImageBitmap(blob);
      return { type: blob.type, size: blob.size, width: bitmap.width, height: bitmap.height };
    }""")
    assert stored["type"] == "image/jpeg" and stored["size"] < path.stat().st_size / 3
    assert stored["width"] == stored["height"] == 1700, "the square has fewer pixels than the model saw"


def test_where_the_map_is_bright_is_told(visit):
    on = visit(script=BETWEEN)
    for corner, place in (("0", "at the upper left"), ("answer.values.length - 1", "at the lower right")):
        change(
            on,
            f"if (answer?.values) {{ answer.facts.status = 'ok'; answer.values.fill(0); answer.values[{corner}] = 1; }}",
        )
        on.scan("phantom_brown.jpg")
        on.page.locator(".heatmap figcaption").get_by_text(f"Its bright areas lie mostly {place}.").wait_for()
        on.page.get_by_role("button", name="Discard").click()
        on.page.get_by_role("dialog").get_by_role("button", name="Discard").click()
