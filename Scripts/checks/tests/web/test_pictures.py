"""Pictures of every screen and of the printed report, in .build/web/pictures, for somebody to look at."""

import pytest
from conftest import PICTURES
from screens import LOCALES, screens

pytestmark = pytest.mark.slow

# A browser paints rows that are far from the window only when somebody scrolls to them.
PAINT_ALL = """() => {
  for (const row of document.querySelectorAll('.scan-row')) row.style.contentVisibility = 'visible';
  return Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
}"""


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_screens(visit, width, scheme, language):
    PICTURES.mkdir(parents=True, exist_ok=True)
    on = visit(accepted=False, color_scheme=scheme, locale=LOCALES[language], viewport={"width": width, "height": 800})
    for name in screens(on, language):
        has_dialog = on.page.locator("dialog").count() > 0
        on.page.evaluate(PAINT_ALL)
        on.page.screenshot(path=PICTURES / f"{name}-{width}-{scheme}-{language}.png", full_page=not has_dialog)


@pytest.mark.parametrize(
    ("language", "scheme"), [("English", "light"), ("English", "dark"), ("Deutsch", "light"), ("Français", "light")]
)
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_report(visit, paper, scheme, language):
    PICTURES.mkdir(parents=True, exist_ok=True)
    on = visit(color_scheme=scheme)
    on.scan("phantom_melanoma.jpg")
    on.page.evaluate("() => { window.print = () => {}; }")
    on.page.get_by_role("button", name=language).click()
    on.page.wait_for_selector(".heatmap figcaption p")
    on.page.get_by_role("button", name="PDF").click()
    report = on.page.locator(".report")
    assert report.evaluate("(element) => element.firstElementChild.className") == "disclaimer"
    path = PICTURES / f"report-{paper}-{scheme}-{language}.pdf"
    on.page.pdf(path=path, format=paper, prefer_css_page_size=False, print_background=False)
    text = path.read_bytes()
    assert text.startswith(b"%PDF")
    assert text.count(b"/Type /Page\n") + text.count(b"/Type /Page ") == 1, "a report without notes is one page"
