# ruff: noqa: E501  the scripts for the page are written as they are read there
"""Every path through the page, by pointer and by keyboard."""

import json
from decimal import ROUND_HALF_UP, Decimal

import pytest
from conftest import FIXTURES, MODEL, PAGE, base64_of
from make_page import languages
from playwright.sync_api import expect
from screens import hold_messages
from test_answers import BETWEEN


def test_disclaimer_comes_first_and_once(visit):
    first = visit(accepted=False, ready=False)
    expect(first.page.get_by_role("navigation"), "there is a way around the disclaimer").to_have_count(0)
    first.page.get_by_role("button", name="I understand").click()
    first.page.reload()
    first.page.get_by_role("heading", name="Scan a lesion").wait_for()
    assert first.page.evaluate("() => ({ ...localStorage })") == {"dermafusion.disclaimer": "accepted"}


@pytest.mark.parametrize("height", [640, 800])
def test_on_a_phone_one_question_fills_the_screen(visit, height):
    on = visit(viewport={"width": 360, "height": height}, has_touch=True)
    page = on.page
    on.open_image(FIXTURES / "phantom_brown.jpg")
    page.get_by_role("button", name="Next").click()
    questions = [
        page.get_by_label("Age", exact=True),
        page.locator(".choices.inline"),
        page.locator(".body-stage"),
        page.locator(".site-list"),
    ]

    def shows(number: int) -> None:
        for index, question in enumerate(questions):
            if index == number:
                expect(question).to_be_in_viewport(ratio=0.9)
            else:
                expect(question).not_to_be_in_viewport()

    shows(0)
    questions[0].fill("55")
    page.get_by_role("button", name="Next").click()
    shows(1)
    page.get_by_role("button", name="Next").click()
    shows(2)
    expect(page.get_by_role("button", name="Next")).to_have_count(0)
    page.locator(".region[data-site='chest']").click()
    expect(page.locator(".body-caption")).to_have_text("Chest", ignore_case=True)
    page.get_by_role("button", name="Choose from a list").click()
    shows(3)
    expect(page.locator(".site-list input[value='chest']")).to_be_checked()
    page.get_by_role("button", name="Choose on the body").click()
    shows(2)
    page.get_by_role("button", name="Previous").click()
    shows(1)
    page.get_by_role("button", name="Previous").click()
    shows(0)
    page.get_by_role("button", name="Previous").click()
    page.locator(".crop-stage").wait_for()
    page.get_by_role("button", name="Next").click()
    # A person can skip the rest.
    page.get_by_role("button", name="Analyse").click()
    expect(page.locator(".result")).to_contain_text("55 years", use_inner_text=True)
    # The fields are found where they are, whichever question is shown; the keyboard brings each into sight.
    page.get_by_role("button", name="Discard").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    on.scan()
    expect(page.locator(".result")).to_contain_text("Back", use_inner_text=True)


def test_scan_by_pointer(visit):
    on = visit()
    page = on.page
    on.scan()
    expect(page.locator(".bar")).to_have_count(7)
    assert (
        page.locator(".result .disclaimer")
        .first.inner_text()
        .startswith("DermaFusion is a research and educational tool.")
    )
    expect(page.locator(".risk, .abstention")).to_have_count(1)
    expect(page.locator(".result")).to_contain_text("55 years", use_inner_text=True)

    # The opacity follows the slider, the map the class picker, and the switch takes the map away.
    page.get_by_label("Opacity").fill("30")
    assert page.locator(".heatmap-overlay").evaluate("(canvas) => canvas.style.opacity") == "0.3"
    page.get_by_label("Class", exact=True).select_option("mel")
    page.wait_for_function("() => /Melanoma/.test(document.querySelector('.heatmap figcaption').textContent)")
    page.get_by_label("Show the heatmap").uncheck()
    expect(page.locator(".heatmap-overlay")).to_be_hidden()

    # A later entry makes the result out of date: it cannot leave the page until the update makes it current.
    page.get_by_text("Change age, sex or place").click()
    page.get_by_label("Age", exact=True).fill("80")
    page.get_by_text("This result is out of date").wait_for()
    for name in ("JSON", "CSV", "Print or PDF"):
        expect(page.get_by_role("button", name=name), name).to_be_disabled()
    save = page.get_by_role("button", name="Save to history")
    expect(save).to_have_attribute("aria-disabled", "true")
    save.click(force=True)
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Update the result").click()
    page.get_by_text("80 years").first.wait_for()
    expect(page.get_by_text("This result is out of date")).to_have_count(0)

    page.get_by_role("button", name="Discard").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.locator(".result")).to_have_count(1)
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    page.get_by_role("heading", name="Scan a lesion").wait_for()


def press_until(page, name: str, key: str = "Tab", limit: int = 80) -> None:
    """Moves the focus until it stands on something with that accessible name."""
    for _ in range(limit):
        page.keyboard.press(key)
        label = page.evaluate("""() => {
          const element = document.activeElement;
          return element.getAttribute('aria-label') ?? (element.labels?.[0]?.textContent || element.textContent);
        }""")
        if (label or "").strip() == name:
            return
    raise AssertionError(f"the keyboard does not reach {name!r}")


def test_scan_by_keyboard_alone(visit):
    on = visit(accepted=False)
    page = on.page
    press_until(page, "I understand")
    page.keyboard.press("Enter")
    with page.expect_file_chooser() as chooser:
        press_until(page, "Choose photographs")
        page.keyboard.press("Enter")
    chooser.value.set_files(FIXTURES / "phantom_brown.jpg")
    page.get_by_role("heading", name="Check the photograph").wait_for()
    press_until(page, "Zoom in")
    page.keyboard.press("Enter")
    press_until(page, "Move the square right")
    page.keyboard.press("Space")
    press_until(page, "Next")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What is known").wait_for()
    press_until(page, "Age")
    page.keyboard.type("44")
    press_until(page, "Unknown or not said")
    page.keyboard.press("ArrowUp")
    # The body is one stop; the arrow keys lead from region to region.
    press_until(page, "Select scalp")
    press_until(page, "Select lower extremity", "ArrowDown")
    page.keyboard.press("Enter")
    press_until(page, "Analyse")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Result").wait_for()
    text = page.locator(".result").inner_text()
    assert "44\u00a0years" in text and "Female" in text and "ower extremity" in text
    assert "The square was moved or zoomed" in text
    press_until(page, "Save to history")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    press_until(page, "Turn the history on")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Saved").wait_for()
    for tab in ("About", "Learn", "History"):
        press_until(page, tab, "Shift+Tab")
        page.keyboard.press("Enter")
        page.get_by_role("heading", level=1).filter(has_text=tab).wait_for()


def test_body_map_and_list_are_one_choice(visit):
    on = visit()
    page = on.page
    on.open_image(FIXTURES / "phantom_brown.jpg")
    page.get_by_role("button", name="Next").click()
    sites = set()
    for side in ("Front", "Back"):
        page.get_by_role("button", name=side, exact=True).click()
        for region in page.locator(".region[data-site]").all():
            site = region.get_attribute("data-site")
            expect(region).to_have_attribute("aria-label", f"Select {site}")
            region.locator(".region-shape").first.click(force=True)
            expect(page.locator(f".site-list input[value='{site}']"), f"{site} is not in the list").to_be_checked()
            expect(region).to_have_attribute("aria-pressed", "true")
            sites.add(site)
    assert len(sites) == 12
    # The list's choice is shown on the side where it lies.
    page.locator(".site-list input[value='chest']").check()
    expect(page.locator(".region[data-site=chest]")).to_have_attribute("aria-pressed", "true")
    page.locator(".site-list input[value='back']").check()
    expect(page.locator(".region[data-site=back]")).to_have_attribute("aria-pressed", "true")
    # The model has no place for the buttocks: they choose none, and say so.
    buttocks = page.get_by_role("button", name="Buttocks: the model has no such place")
    buttocks.locator(".region-shape").click()
    expect(page.locator(".site-list input[value='unknown']")).to_be_checked()
    # The second touch takes the choice back.
    page.locator(".region[data-site=foot] .region-shape").first.click(force=True)
    page.locator(".region[data-site=foot] .region-shape").first.click(force=True)
    page.locator(".site-list input[value='face']").check()
    expect(page.locator(".region[data-site=foot]")).to_have_attribute("aria-pressed", "false")


def test_the_body_map_is_one_stop_of_the_tab_key(visit):
    on = visit()
    page = on.page
    on.open_image(FIXTURES / "phantom_brown.jpg")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Back", exact=True).focus()
    page.keyboard.press("Tab")
    first = page.evaluate("() => document.activeElement.dataset.site")
    assert first
    page.keyboard.press("ArrowDown")
    second = page.evaluate("() => document.activeElement.dataset.site")
    assert second != first
    page.keyboard.press("Enter")
    expect(page.locator(f".site-list input[value='{second}']")).to_be_checked()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("() => document.activeElement.dataset.site") == first
    stops = 0
    while page.evaluate("() => document.activeElement.textContent") != "Analyse":
        page.keyboard.press("Tab")
        stops += 1
        assert stops < 6, "too many stops before Analyse"


def test_ages_at_the_edges(visit):
    on = visit()
    page = on.page
    on.open_image(FIXTURES / "phantom_brown.jpg")
    page.get_by_role("button", name="Next").click()
    age = page.get_by_label("Age", exact=True)
    analyse = page.get_by_role("button", name="Analyse")
    for text, words, allowed in (
        ("131", "Enter an age from 0 to 130", False),
        ("-1", "Enter an age from 0 to 130", False),
        ("120", "counts every age above 100 as 100", True),
        ("", "Age not given", True),
        ("0", "is the patient an infant", False),
        ("1", "1 year", True),
        ("1.5", "1.5 years", True),
    ):
        age.fill(text)
        page.locator(".field-hint").get_by_text(words).wait_for()
        expect(analyse, f"age {text!r}").to_be_enabled(enabled=allowed)
    age.fill("0")
    page.get_by_role("button", name="Yes, an infant").click()
    expect(analyse).to_be_enabled()
    analyse.click()
    page.wait_for_selector(".result")
    expect(page.locator(".result")).to_contain_text("0 years", use_inner_text=True)


def test_several_at_once_become_a_list(visit):
    on = visit()
    page = on.page
    on.open_image([FIXTURES / name for name in ("phantom_brown.jpg", "refused_text.png", "phantom_vascular.jpg")])
    page.get_by_text("3 of 3 done").wait_for()
    rows = page.locator(".batch-rows li")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("cannot read this file as an image", use_inner_text=True)
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    lines = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert [line["image"] for line in lines] == ["phantom_brown.jpg", "phantom_vascular.jpg"]
    assert all(line["metadata"]["missing"] == ["age", "sex", "site"] for line in lines)
    page.get_by_role("button", name="Open phantom_vascular.jpg").click()
    page.wait_for_selector(".result")
    page.get_by_role("button", name="Back to the list").click()
    page.get_by_text("3 of 3 done").wait_for()


def test_a_result_opened_while_the_list_runs_takes_nothing_from_it(visit):
    on = visit()
    page = on.page
    names = ["phantom_brown.jpg", "phantom_vascular.jpg", "phantom_melanoma.jpg", "noise.png"]
    on.open_image([FIXTURES / name for name in names])
    page.get_by_role("button", name="Open phantom_brown.jpg").click()
    page.wait_for_selector(".result")
    page.get_by_role("button", name="Back to the list").click()
    page.get_by_text("4 of 4 done").wait_for()
    expect(page.locator(".field-error")).to_have_count(0)


def test_exports_hold_the_contracts_fields(visit):
    on = visit()
    page = on.page
    on.scan()
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    result = json.loads(download.value.path().read_text())
    assert result["schemaVersion"] == 2 and result["image"] == "phantom_brown.jpg"
    assert set(result["probabilities"]) == {"akiec", "bcc", "bkl", "df", "mel", "nv", "vasc"}
    assert result["disclaimer"].startswith("DermaFusion is a research and educational tool.")
    assert result["page"]["square"]["moved"] is False
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    # Excel takes a table without the mark at its beginning for one in the machine's old encoding.
    assert download.value.path().read_bytes().startswith(b"\xef\xbb\xbf")
    header, row = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert header.startswith(
        "image_id,image,class,name,probability,akiec,bcc,bkl,df,mel,nv,vasc,risk,concern,urgent,confidence,age,sex,site,missing,warnings,model"
    )
    assert row.startswith("phantom_brown,phantom_brown.jpg,")


def test_the_browsers_own_command_prints_what_is_shown(visit):
    on = visit()
    page = on.page
    on.scan()
    page.evaluate("() => { window.print = () => {}; }")
    page.get_by_role("button", name="Print or PDF").click()
    page.emulate_media(media="print")
    expect(page.locator(".report")).to_be_visible()
    expect(page.locator("main")).to_be_hidden()
    page.emulate_media(media="screen")
    on.go("learn")
    page.get_by_role("heading", name="Learn").wait_for()
    page.emulate_media(media="print")
    expect(page.locator(".report")).to_have_count(0)
    expect(page.locator("main")).to_be_visible()


def test_a_browser_that_does_not_print_says_what_else_can_be_done(visit):
    on = visit()
    on.scan()
    on.page.evaluate("() => { window.print = undefined; }")
    on.page.get_by_role("button", name="Print or PDF").click()
    on.page.get_by_role("dialog").get_by_text("export the result as JSON or CSV").wait_for()
    expect(on.page.locator(".report")).to_have_count(0)


def test_dropped_and_pasted_images_are_opened(visit):
    on = visit()
    page = on.page
    data = base64_of(FIXTURES / "phantom_brown.jpg")
    for kind in ("drop", "paste"):
        page.evaluate(
            """([kind, text]) => {
          const data = new DataTransfer();
          data.items.add(new File([bytesOf(text)], 'given.jpg', { type: 'image/jpeg' }));
          const event = kind === 'drop' ? new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
            : new ClipboardEvent('paste', { clipboardData: data, bubbles: true });
          document.body.dispatchEvent(event);
        }""",
            [kind, data],
        )
        page.get_by_role("heading", name="Check the photograph").wait_for()
        page.get_by_role("button", name="Another photograph").click()
        page.get_by_role("heading", name="Scan a lesion").wait_for()


def test_camera_takes_a_photograph_and_is_released(visit):
    on = visit(permissions=[])
    page = on.page
    page.evaluate("""() => {
      window.streams = [];
      const get = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      navigator.mediaDevices.getUserMedia = async (wish) => { const stream = await get(wish); window.streams.push(stream); return stream; };
    }""")
    page.get_by_role("button", name="Take a photograph").click()
    page.wait_for_function("() => document.querySelector('video')?.videoWidth > 0")
    expect(page.locator(".camera-ring")).to_have_count(1)
    page.get_by_role("dialog").get_by_role("button", name="Take photograph").click()
    page.get_by_role("heading", name="Check the photograph").wait_for()
    # Leaving in the middle lets go of the camera too.
    page.get_by_role("button", name="Another photograph").click()
    page.get_by_role("button", name="Take a photograph").click()
    page.wait_for_function("() => document.querySelector('video')?.videoWidth > 0")
    on.go("learn")
    page.get_by_role("heading", name="Learn").wait_for()
    page.wait_for_function("() => window.streams.length === 2 && window.streams.every((stream) => !stream.active)")


def test_a_refused_camera_is_told(visit):
    on = visit(
        script="navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', 'NotAllowedError'); };"
    )
    on.page.get_by_role("button", name="Take a photograph").click()
    on.page.get_by_text("The browser was not allowed to use the camera").wait_for()


def test_state_is_kept_while_another_view_is_looked_at(visit):
    on = visit()
    on.scan()
    summary = on.page.locator(".result-head").inner_text()
    on.go("learn")
    on.page.get_by_role("heading", name="Learn").wait_for()
    on.page.get_by_role("link", name="Scan", exact=True).click()
    on.page.wait_for_selector(".result")
    expect(on.page.locator(".result-head")).to_have_text(summary, use_inner_text=True)


def test_learn_has_a_page_for_each_class(visit):
    on = visit()
    on.go("learn")
    expect(on.page.locator(".abcde li")).to_have_count(5)
    links = [link.get_attribute("href") for link in on.page.locator(".class-card").all()]
    assert len(links) == 7
    for link in links:
        on.go(link[1:])
        on.page.locator(".class-dot.large").wait_for()
        expect(on.page.locator(".disclaimer")).to_have_count(1)


def test_learn_states_the_figures_of_the_models_folder(visit):
    """The page may lie there since an older model: its figures are those of the folder it was built from, and the card's."""
    evaluation = json.loads((MODEL / "training" / "evaluation.json").read_text())
    values = json.loads((MODEL / "training" / "figures.json").read_text())["calibrated"]
    on = visit()
    on.go("learn")
    text = on.page.locator("#limits").inner_text()
    assert f"{evaluation['n']} photographs of {evaluation['lesions']} lesions" in text.replace(",", "")
    assert "The values of the model card" in text
    card = (MODEL / "README.md").read_text()

    def rounded(value, digits):
        """As a person rounds what the file says: 0.7885 is 0.789."""
        return Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)

    def percent(value):
        return f"{100 * rounded(value, 3):.1f}%"

    for key, name in (
        ("balancedAccuracy", "balanced_accuracy"),
        ("macroAUROC", "macro_auroc"),
        ("melanomaSensitivityAt90Specificity", "melanoma_sensitivity_at_90_specificity"),
    ):
        value, (low, high) = values[name], evaluation[f"{key}CI"]
        # An area under a curve is a number; what is a share of something is in percent, as everywhere on the page.
        said = f"{value:.2f} ({low:.2f}\u00a0to {high:.2f})" if name == "macro_auroc" else f"{percent(value)} ("
        assert said in text, key
        assert any(str(rounded(value, digits)) in card for digits in (2, 3)), f"the model card has no {key} of {value}"
    low_risk = values["risk"]["melanomas_at_low_risk"]
    assert percent(low_risk).replace("%", " %") in card and f"{percent(low_risk)} (" in text
    for name, count in values["count"].items():
        on.go(f"learn/{name}")
        sentence = on.page.get_by_text("validation photographs of this class").inner_text().replace(",", "")
        assert f"Of {count} validation" in sentence and percent(values["recall"][name]) in sentence, name


def test_a_map_is_checked_when_asked_for_and_the_check_can_be_left(visit):
    on = visit()
    page = on.page
    on.scan()
    # A small model is checked before anybody sees that it is.
    hold_messages(page)
    page.get_by_role("button", name="Check this map").click()
    page.get_by_role("progressbar", name="Checking the map").wait_for()
    page.get_by_text("of about").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Check this map").click()
    page.get_by_text("Checking the map").wait_for()
    # Another class's map is asked for: the check is given up.
    page.get_by_label("Class", exact=True).select_option("mel")
    page.evaluate("() => window.deliver()")
    page.wait_for_function("() => /Melanoma/.test(document.querySelector('.heatmap figcaption').textContent)")
    expect(page.get_by_text("Checking the map")).to_have_count(0)


def test_german_says_the_same(visit):
    """Every sentence that the result's fields ask for, and no other."""
    texts = languages()["de"]
    on = visit(accepted=False, locale="de-AT", script=BETWEEN)
    page = on.page
    page.get_by_role("button", name=texts["disclaimer"]["accept"]).click()
    on.open_image(FIXTURES / "phantom_brown.jpg")
    page.get_by_role("button", name=texts["common"]["next"]).click()
    page.get_by_role("button", name=texts["scan"]["analyse"]).click()
    page.wait_for_selector(".result")
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    result = json.loads(download.value.path().read_text())
    assert not result["abstain"] and "summaries" not in result

    def named(identifier: str) -> tuple[str, str]:
        return texts["classes"][identifier], f"{min(round(100 * result['probabilities'][identifier]), 99)}\u00a0%"

    name, percent = named(result["prediction"]["class"])
    values = {"name": name, "percent": percent}
    if result["concern"]:
        values["other"], values["otherPercent"] = named(result["concern"])
    sentences = [texts["result"]["suggestsBoth" if result["concern"] else "suggests"].format(**values)]
    sentences += [texts["result"]["notDiagnosis"]] + [texts["result"]["urgent"]] * result["urgent"]
    assert page.locator(".result .summary").inner_text().replace("\u00a0", " ") == " ".join(sentences).replace(
        "\u00a0", " "
    )
    risk = page.locator(".result .risk").inner_text()
    assert all(texts["risk"][result["risk"]][part] in risk for part in ("word", "sentence"))
    assert page.evaluate("() => document.documentElement.lang") == "de"
    assert page.locator(".result .disclaimer [lang=en]").first.inner_text().startswith("DermaFusion is a research")


# Fonts that every machine has, because the test makes them so: each browser has a font of each kind, and the spacing makes the
# last two wider than any font in use, whichever of them is installed.
FONTS = {
    "serif": "font-family: serif !important",
    "monospace": "font-family: monospace !important; letter-spacing: 0.05em !important",
    "wide": "font-family: sans-serif !important; letter-spacing: 0.16em !important; word-spacing: 0.2em !important",
}


@pytest.mark.parametrize("locale", ["de-DE", pytest.param("fr-FR", marks=pytest.mark.slow)])
def test_any_font_at_twice_the_size_fits_a_phone(visit, locale):
    on = visit(accepted=False, locale=locale, viewport={"width": 360, "height": 800})
    page = on.page
    wide = {}
    words = {
        "de-DE": ("Ich habe verstanden", "Weiter", "Analysieren"),
        "fr-FR": ("J’ai compris", "Suivant", "Analyser"),
    }[locale]

    def look(name):
        for font in FONTS:
            look_in(font, f"{name} in {font}")

    def look_in(font, name):
        page.evaluate(
            """(rule) => {
          const sheet = new CSSStyleSheet();
          sheet.replaceSync(`* { ${rule} } html { font-size: 200% !important }`);
          document.adoptedStyleSheets = [sheet];
        }""",
            FONTS[font],
        )
        page.wait_for_timeout(50)
        over = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        if over > 0:
            wide[name] = (
                over,
                page.evaluate(
                    """() => [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
                  .slice(0, 5).map((element) => `${element.tagName}.${element.getAttribute('class')} ${element.textContent.slice(0, 40)}`)"""
                ),
            )
        # A tab's label is never broken.
        lines = page.evaluate(
            "() => [...document.querySelectorAll('.tab span')].filter((span) => span.getClientRects().length > 1).map((span) => span.textContent)"
        )
        assert lines == [], name

    look("disclaimer")
    page.get_by_role("button", name=words[0]).click()
    look("scan")
    on.open_image(FIXTURES / "phantom_melanoma.jpg")
    page.get_by_role("button", name=words[1], exact=True).wait_for()
    look("review")
    page.get_by_role("button", name=words[1], exact=True).click()
    page.get_by_role("button", name=words[2]).wait_for()
    look("details")
    page.get_by_role("button", name=words[2]).click()
    page.wait_for_selector(".heatmap figcaption p")
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    look("result")
    for place in ("history", "learn", "learn/bkl", "about"):
        on.go(place)
        look(place)
    assert wide == {}


def test_the_policy_forbids_connections(visit):
    on = visit()
    answers = on.page.evaluate("""async () => {
      const refused = async (action) => { try { await action(); return 'done'; } catch { return 'refused'; } };
      return { fetch: await refused(() => fetch('http://127.0.0.1:9/')), image: await new Promise((resolve) => {
        const image = new Image(); image.onload = () => resolve('done'); image.onerror = () => resolve('refused'); image.src = 'http://127.0.0.1:9/x.png'; }),
        script: await refused(() => { new Function('return 1')(); }) };
    }""")
    assert answers == {"fetch": "refused", "image": "refused", "script": "refused"}
    # The browser reports what it refused; nothing of it went out.
    on.complaints.clear()
    on.requests[:] = [url for url in on.requests if "127.0.0.1:9" not in url]


def test_the_hash_on_the_page_is_the_files(visit):
    import hashlib
    import re

    on = visit()
    on.go("about")
    command = on.page.get_by_role("region", name="SHA-256 of this page")
    command.wait_for()
    shown = re.search(r"sed s/([0-9a-f]{64})/", command.inner_text()).group(1)
    text = PAGE.read_bytes()
    assert hashlib.sha256(text.replace(shown.encode(), b"0" * 64)).hexdigest() == shown
