# ruff: noqa: E501  the scripts for the page are written as they are read there
"""axe on every screen, light and dark; large text; small windows; reduced motion."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import FIXTURES
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from playwright.sync_api import expect
from screens import LOCALES, Words, button, screens

RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}}


def violations(page) -> list[str]:
    # The page's policy allows no foreign script; the browser's protocol puts axe in all the same.
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{each['id']}: {each['help']}: {[node['html'][:160] for node in each['nodes']]}" for each in found]


@pytest.mark.parametrize(
    ("scheme", "language"),
    [
        ("dark", "en"),
        pytest.param("light", "en", marks=pytest.mark.slow),
        pytest.param("light", "de", marks=pytest.mark.slow),
        pytest.param("dark", "fr", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing(visit, scheme, language):
    on = visit(accepted=False, color_scheme=scheme, locale=LOCALES[language])
    found = {name: broken for name in screens(on, language) if (broken := violations(on.page))}
    assert found == {}


@pytest.mark.parametrize(
    "width", [360, pytest.param(768, marks=pytest.mark.slow), pytest.param(1280, marks=pytest.mark.slow)]
)
def test_nothing_is_wider_than_the_window(visit, width):
    on = visit(accepted=False, viewport={"width": width, "height": 800})
    wide = {}
    for name in screens(on):
        # A browser without a dictionary, or whose dictionary is still on its way, divides no words.
        on.page.evaluate("() => { document.body.style.hyphens = 'none' }")
        for size in ("100%", "200%"):
            pixels = on.page.evaluate(
                "(size) => { document.documentElement.style.fontSize = size; return getComputedStyle(document.body).fontSize }",
                size,
            )
            assert pixels == {"100%": "16px", "200%": "32px"}[size], "the size of the words is on its way"
            over = on.page.evaluate("""() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]
              .filter((element) => element.scrollWidth > element.clientWidth && element.clientWidth > 0)
              .map((element) => `${element.outerHTML.slice(0, 60)}: ${element.scrollWidth} > ${element.clientWidth}`)""")
            if over:
                wide[f"{name} at {size}"] = over
        on.page.evaluate("() => { document.documentElement.style.fontSize = '' }")
    assert wide == {}


@pytest.mark.slow
def test_targets_are_large_enough(visit):
    on = visit(accepted=False, viewport={"width": 360, "height": 800}, has_touch=True)
    small = {}
    for name in screens(on):
        sizes = on.page.evaluate("""() => [...document.querySelectorAll('button, select, input:not([type=checkbox], [type=radio], [type=file]), a.button, a.tab, a.scan-card, summary, .choice, .check, .switch-row')]
          .filter((element) => element.checkVisibility() && !element.closest('[inert]'))
          .map((element) => ({ text: element.textContent.trim() || element.getAttribute('aria-label'), box: element.getBoundingClientRect() }))
          .filter(({ box }) => box.width > 0 && (box.height < 43.5 || box.width < 43.5)).map(({ text, box }) => `${text}: ${box.width}x${box.height}`)""")
        if sizes:
            small[name] = sizes
    assert small == {}


def test_reduced_motion_is_static(visit):
    on = visit()
    on.go("about")
    assert (
        on.page.evaluate("() => document.getAnimations().filter((each) => each.effect.getTiming().duration > 1).length")
        == 0
    )


def test_the_result_is_read_as_a_sentence(visit):
    on = visit()
    on.scan("phantom_brown.jpg")
    on.page.wait_for_function(
        "() => /^(Classification suggests|No classification)/.test(document.querySelector('body > [role=status]').textContent)"
    )
    spoken = on.page.locator("body > [role=status]").inner_text()
    assert on.page.locator(".risk-word, .abstention .lead").first.inner_text() in spoken, "the risk is not said"
    rows = on.page.locator(".bar").all_inner_texts()
    assert all("%" in row for row in rows)


def test_nothing_disappears_in_forced_colours(visit):
    """Bars, tracks and what is chosen are told by fills elsewhere: here by the system's own colours."""
    on = visit(forced_colors="active")
    page = on.page
    colours = """(pairs) => pairs.flatMap(([selector, against, property]) => {
      const element = document.querySelector(selector);
      const other = document.querySelector(against);
      const of = (each) => getComputedStyle(each)[property ?? 'backgroundColor'];
      return element && other && of(element) !== of(other) ? [] : [`${selector} is ${element && of(element)}, ${against} ${other && of(other)}`];
    })"""
    assert (
        page.evaluate(
            colours,
            [
                ["[aria-pressed=true].language", "[aria-pressed=false].language"],
                [".tab[aria-current]", ".tab:not([aria-current])"],
            ],
        )
        == []
    )
    on.open_image(FIXTURES / "phantom_brown.jpg")
    page.get_by_role("button", name="Next").click()
    page.locator(".site-list input[value='back']").check()
    page.get_by_role("button", name="Back", exact=True).click()
    pairs = [
        [".choice:has(:checked)", ".choice:not(:has(:checked))", "outlineStyle"],
        [".segment[aria-pressed=true]", ".segment[aria-pressed=false]"],
        [".region[aria-pressed=true] .region-shape", ".region[aria-pressed=false] .region-shape", "fill"],
        [".steps [aria-current] .step-dot", "body"],
    ]
    assert page.evaluate(colours, pairs) == []
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".heatmap figcaption p")
    assert page.evaluate(colours, [[".bar-fill", ".bar-track"], [".switch:checked", "body"]]) == []
    before = page.locator(".slider").first.screenshot()
    page.evaluate("() => { document.querySelector('.slider').style.visibility = 'hidden'; }")
    assert before != page.screenshot(clip=page.locator(".slider").first.bounding_box()), "the slider cannot be seen"


IN_SIGHT = """(element) => {
  const { x, y, width, height } = element.getBoundingClientRect();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  return top !== null && (element.contains(top) || top.contains(element));
}"""


def is_in_sight(locator) -> bool:
    """True if the middle of an element is in the window, with nothing over it, once the page has scrolled and drawn."""
    try:
        locator.page.wait_for_function(IN_SIGHT, arg=locator.element_handle(), timeout=5000)
    except PlaywrightTimeoutError:
        return False
    return True


@pytest.mark.parametrize("width", [360, 1280])
def test_save_report_and_update_are_in_sight_wherever_the_result_is_scrolled_to(visit, width):
    on = visit(viewport={"width": width, "height": 740})
    page = on.page
    on.scan()
    page.locator(".result .table").wait_for()
    button = {name: page.get_by_role("button", name=name) for name in ("Save to history", "Print or PDF")}
    for place in (0, 700, 100_000):
        page.evaluate("(top) => window.scrollTo(0, top)", place)
        assert all(is_in_sight(each) for each in button.values()), place
    page.get_by_text("Change age, sex or place").click()
    page.get_by_label("Age", exact=True).fill("81")
    page.get_by_text("Out of date", exact=True).wait_for()
    assert is_in_sight(page.get_by_label("Age", exact=True)), "what is entered is hidden"
    update = page.get_by_role("button", name="Update the result")
    assert is_in_sight(update), "who changes the age does not see how to update the result"
    update.click()
    page.get_by_text("81 years").first.wait_for()
    on.save()
    on.go("history")
    page.locator("a.scan-card").click()
    page.wait_for_selector(".heatmap figcaption p")
    assert is_in_sight(page.get_by_role("button", name="Print or PDF"))
    assert is_in_sight(page.get_by_role("button", name="Correct and analyse again"))


def test_the_bar_covers_nothing_that_has_the_focus(visit):
    on = visit()
    page = on.page
    on.scan()
    page.locator(".result .table").wait_for()
    hidden = []
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 740})
        page.locator("h1").focus()
        for _ in range(60):
            page.keyboard.press("Tab")
            element = page.locator(":focus")
            if element.count() == 0:
                break
            if not is_in_sight(element):
                hidden.append((width, element.evaluate("(element) => element.outerHTML.slice(0, 120)")))
    assert hidden == []


def test_a_window_at_four_hundred_percent_is_left_to_what_is_read(visit):
    on = visit(viewport={"width": 320, "height": 200})
    page = on.page
    on.scan()
    page.evaluate("() => window.scrollTo(0, 900)")
    pinned = page.evaluate("""() => [...document.querySelectorAll('body *')].filter((element) => ['fixed', 'sticky'].includes(getComputedStyle(element).position)
      && element.checkVisibility()).map((element) => element.className)""")
    assert pinned == []


def test_the_focus_is_never_lost(visit):
    on = visit(accepted=False)
    page = on.page
    page.get_by_role("button", name="I understand").click()
    page.wait_for_function("() => document.activeElement.tagName === 'H1'")
    page.get_by_role("button", name="Deutsch").click()
    page.wait_for_function("() => document.activeElement.lang === 'de'")
    page.get_by_role("button", name="English").click()
    on.wait_until_ready()
    for _ in range(2):
        on.scan()
        on.save()
        page.wait_for_function("() => document.activeElement.textContent === 'Saved'")
        page.get_by_role("button", name="New scan").click()
        page.wait_for_function("() => document.activeElement.tagName === 'H1'")
    on.go("history")
    page.locator(".scan-row").nth(1).wait_for()
    for left in ("A", "H1"):
        page.get_by_role("button", name="Delete phantom_brown.jpg").first.click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        page.wait_for_function(
            "(tag) => document.activeElement.tagName === tag && !document.querySelector('dialog')", arg=left
        )


def test_no_field_is_remembered_by_the_browser(visit):
    """A browser keeps what is typed into fields, unless they forbid it; of passphrases it is told what they are."""
    on = visit(accepted=False)
    seen = {}
    for name in screens(on):
        for field in on.page.locator("input, textarea").all():
            kind = field.get_attribute("type") or "text"
            if kind not in ("file", "checkbox", "radio", "range"):
                seen.setdefault((name, kind), set()).add(field.get_attribute("autocomplete"))
    allowed = {"password": {"new-password", "current-password"}}
    assert {key: found for key, found in seen.items() if not found <= allowed.get(key[1], {"off"})} == {}
    assert {kind for _, kind in seen} == {"number", "text", "search", "password"}


def test_the_way_on_is_in_sight_on_a_phone(visit):
    on = visit(viewport={"width": 360, "height": 640})
    on.open_image(FIXTURES / "phantom_brown.jpg")
    for shown in (".crop-stage", ".age-number", ".choices.inline", ".body-stage"):
        expect(on.page.locator(shown)).to_be_in_viewport(ratio=0.9 if shown == ".body-stage" else 0)
        way = on.page.locator(".actions .primary")
        expect(way, shown).to_be_in_viewport(ratio=1)
        way.click()
    on.page.wait_for_selector(".result")


def test_on_a_phone_nothing_is_parted_or_cut(visit):
    on = visit(viewport={"width": 360, "height": 640}, locale="de-DE", accepted=False)
    page, words = on.page, Words("de")
    page.locator(".gate .primary").click()
    on.open_image(FIXTURES / "phantom_brown.jpg")
    page.locator(".actions .primary").click()
    age = page.locator(".age-number")
    age.focus()
    # The ring of the focus has its place inside of what scrolls.
    reach, room = age.evaluate("""(field) => {
      const { outlineWidth, outlineOffset } = getComputedStyle(field);
      return [parseFloat(outlineWidth) + parseFloat(outlineOffset),
        field.getBoundingClientRect().left - field.closest('.questions').getBoundingClientRect().left];
    }""")
    assert 0 < reach <= room
    button(on, words("scan.analyse")).click()
    # A probability stands beside the first line of its class's name, however long that is.
    page.locator(".bar").first.wait_for()
    below = page.locator(".bar").evaluate_all("""(bars) => bars.filter((bar) => {
      const [name, value] = ['.bar-name', '.bar-value'].map((part) => bar.querySelector(part).getBoundingClientRect());
      const line = parseFloat(getComputedStyle(bar).lineHeight);
      return value.left < name.right || value.top > name.top + line / 2 || value.height > 1.5 * line;
    }).map((bar) => bar.innerText)""")
    assert below == []
    # On paper the picture beside the risk, which a narrow window shows, is left out.
    page.emulate_media(media="print")
    expect(page.locator(".head-photograph")).to_be_hidden()
    expect(page.locator(".heatmap-stage")).to_be_visible()
